//! Enumerates every attacker with every detector, at every pair of positions in and around a barrier, in a branch or a
//! loop, like Tint's tests of loops; and jumps past either. Elements, owners and the form of a loop take turns.

use super::tree::{
    Access, Array, Arrival, Block, Form, Index, Jump, Kernel, Kind, Label, Number, Owner, Parity, Place, Rounds, Stmt,
    Test,
};

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Straight,
    /// A cluster-uniform branch; one by block; one by thread.
    If,
    IfBlock,
    IfThread,
    Loop,
    /// A loop that carries its token.
    Carried,
}

#[derive(Clone, Copy, PartialEq)]
enum Barrier {
    None,
    Block,
    Sync,
    Split,
    /// A relaxed arrival: alone, after a fence by each thread, and after one by the block's first thread.
    Relaxed,
    Fenced,
    FencedByOne,
}

/// The positions of a skeleton.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Before,
    First,
    /// Between arrive and wait.
    Pending,
    Last,
    Else,
    After,
}

const BARRIERS: [Barrier; 4] = [Barrier::None, Barrier::Block, Barrier::Sync, Barrier::Split];
const RELAXED: [Barrier; 3] = [Barrier::Relaxed, Barrier::Fenced, Barrier::FencedByOne];
const PLACES: [At; 6] = [At::Before, At::First, At::Pending, At::Last, At::Else, At::After];
/// The kinds of accesses, and whether the access is remote.
const ACTS: [(Kind, bool); 6] = [
    (Kind::Read, true),
    (Kind::Write, true),
    (Kind::Atomic, true),
    (Kind::Write, false),
    (Kind::Atomic, false),
    (Kind::Read, false),
];
const LABEL: Label = 1;
/// The number of pairs of memory locations.
const STYLES: usize = 13;

fn skeletons() -> impl Iterator<Item = (Shape, Barrier)> {
    let all = |shape| BARRIERS.into_iter().map(move |barrier| (shape, barrier));
    let alone = [(Shape::IfBlock, Barrier::None), (Shape::IfThread, Barrier::None), (Shape::Carried, Barrier::Split)];
    let relaxed = [Shape::Straight, Shape::Loop].into_iter().flat_map(|shape| RELAXED.map(|barrier| (shape, barrier)));
    all(Shape::Straight).chain(all(Shape::If)).chain(all(Shape::Loop)).chain(alone).chain(relaxed)
}

fn has(shape: Shape, barrier: Barrier, at: At) -> bool {
    match at {
        At::Before | At::After => shape != Shape::Straight,
        At::First | At::Last => true,
        At::Pending => barrier == Barrier::Split || RELAXED.contains(&barrier),
        At::Else => matches!(shape, Shape::If | Shape::IfBlock | Shape::IfThread),
    }
}

pub(super) fn kernels() -> Vec<Kernel> {
    let mut all = Vec::new();
    for (shape, barrier) in skeletons() {
        let places = || PLACES.into_iter().filter(|at| has(shape, barrier, *at));
        for (first, second) in places().flat_map(|first| places().map(move |second| (first, second))) {
            for (attacker, detector) in ACTS.into_iter().flat_map(|first| ACTS.map(|second| (first, second))) {
                // One of the two is a peer's.
                if attacker.1 != detector.1 {
                    all.push(kernel(all.len(), shape, barrier, &[(first, attacker), (second, detector)], None));
                }
            }
            if shape != Shape::Loop {
                continue;
            }
            let jumps = [Jump::Break(LABEL), Jump::Continue(LABEL), Jump::Return];
            for jump in jumps.into_iter().flat_map(|jump| [At::First, At::Last].map(|at| (at, jump))) {
                for (attacker, detector) in [(3, 0), (0, 3), (1, 5), (5, 1)] {
                    let acts = [(first, ACTS[attacker]), (second, ACTS[detector])];
                    all.push(kernel(all.len(), shape, barrier, &acts, Some(jump)));
                }
            }
        }
    }
    all
}

fn place(style: usize, second: bool, round: Number) -> Place {
    let plain = |array, index| Place { array, row: Parity::Literal(0), index };
    let row = |row| Place { array: Array::Rows, row, index: Index::Own };
    match (style, second) {
        (0, _) | (3 | 4 | 10, false) => plain(Array::A, Index::Own),
        (1, _) | (2, false) => plain(Array::A, Index::Literal(0)),
        (2, true) => plain(Array::A, Index::Literal(1)),
        (3, true) => plain(Array::A, Index::Other),
        (4, true) => plain(Array::B, Index::Own),
        (5, _) | (6, false) | (9, true) => row(Parity::Rem(round, 0)),
        (6, true) => row(Parity::Rem(round, 1)),
        (7, false) => row(Parity::Current),
        (7, true) => row(Parity::CurrentMinus),
        (8, false) => plain(Array::A, Index::Parity(Parity::And(round))),
        (8, true) => plain(Array::A, Index::Parity(Parity::Xor(round))),
        (9, false) => row(Parity::Minus(round)),
        (10, true) => plain(Array::A, Index::Literal(1)),
        (11, _) => row(Parity::Literal(u32::from(second))),
        (_, false) => row(Parity::CurrentXor),
        (_, true) => row(Parity::Current),
    }
}

fn kernel(
    turn: usize,
    shape: Shape,
    barrier: Barrier,
    acts: &[(At, (Kind, bool)); 2],
    jump: Option<(At, Jump)>,
) -> Kernel {
    let style = turn % STYLES;
    let owner = [Owner::Next, Owner::Previous, Owner::Rank(1), Owner::Next][turn / 2 % 4];
    let mut site = 0;
    let mut access = |kind, owner, place| {
        site += 1;
        Stmt::Access(Access { site, kind, owner, named: (turn / 3).is_multiple_of(2), place })
    };
    let mut body = Block::new();
    if turn % 19 != 3 {
        let row = |row| Place { array: Array::Rows, row: Parity::Literal(row), index: Index::Own };
        let plain = |array| Place { array, row: Parity::Literal(0), index: Index::Own };
        let places = [plain(Array::A), plain(Array::B), row(0), row(1)];
        body.extend(places.map(|place| access(Kind::Write, Owner::Own, place)));
    }
    if turn % 17 != 4 {
        body.push(Stmt::Sync);
    }
    let mut at = |here: At| -> Block {
        let outside = matches!(here, At::Before | At::After) || !matches!(shape, Shape::Loop | Shape::Carried);
        let round = if outside { Number::Parameter(0) } else { Number::Round(LABEL) };
        let mut block = Block::new();
        for (second, (place, (kind, remote))) in acts.iter().enumerate() {
            if *place == here {
                let owner = if *remote { owner } else { Owner::Own };
                block.push(access(*kind, owner, self::place(style, second == 1, round)));
            }
        }
        if let Some((place, jump)) = jump
            && place == here
        {
            let test = [Test::Equals(Number::Parameter(1), 1), Test::Equals(Number::Round(LABEL), 1)][turn % 2];
            block.push(Stmt::If(test, vec![Stmt::Jump(jump)], None));
        }
        block
    };
    body.extend(at(At::Before));
    let first = at(At::First);
    let mut inner = first.clone();
    let pending = if has(shape, barrier, At::Pending) { at(At::Pending) } else { Block::new() };
    match barrier {
        Barrier::None => {}
        Barrier::Block => inner.push(Stmt::SyncBlock),
        Barrier::Sync => inner.push(Stmt::Sync),
        Barrier::Split => inner.push(Stmt::Split(2, Arrival::Full, pending.clone())),
        Barrier::Relaxed => {}
        Barrier::Fenced => inner.push(Stmt::Fence),
        Barrier::FencedByOne => {
            inner.push(Stmt::SyncBlock);
            inner.push(Stmt::If(Test::ThreadRank(0), vec![Stmt::Fence], None));
        }
    }
    if RELAXED.contains(&barrier) {
        inner.push(Stmt::Split(2, Arrival::Relaxed, pending.clone()));
    }
    let mut last = at(At::Last);
    if matches!(shape, Shape::Loop | Shape::Carried) && (style == 7 || style == 12) {
        last.push(Stmt::Flip(turn.is_multiple_of(2)));
    }
    inner.extend(last.clone());
    let mut otherwise = || has(shape, barrier, At::Else).then(|| at(At::Else));
    match shape {
        Shape::Straight => body.extend(inner),
        Shape::If => {
            let test = [Test::Equals(Number::Parameter(1), 1), Test::Even(Number::Parameter(1))][turn / 5 % 2];
            body.push(Stmt::If(test, inner, otherwise()));
        }
        Shape::IfBlock => body.push(Stmt::If(Test::BlockRank(turn as u32 / 5 % 2), inner, otherwise())),
        Shape::IfThread => body.push(Stmt::If(Test::ThreadRank(turn as u32 / 5 % 2), inner, otherwise())),
        Shape::Loop => {
            let goes_on = matches!(jump, Some((_, Jump::Continue(_))));
            let last = if goes_on { Form::For } else { Form::WhileLast };
            let form = [Form::For, Form::Loop, Form::While, last][turn / 7 % 4];
            let rounds = [Rounds::Literal(3), Rounds::Literal(2), Rounds::Parameter(0)][turn / 11 % 3];
            body.push(Stmt::Loop(LABEL, rounds, form, inner));
        }
        Shape::Carried => body.push(Stmt::Carried(LABEL, 2 + turn / 11 % 2, [first, last, pending])),
    }
    body.extend(at(At::After));
    if turn % 7 != 5 {
        body.push(Stmt::Sync);
    }
    Kernel { blocks: 2 + turn / 13 % 2, body }
}
