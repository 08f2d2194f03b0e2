//! Enumerates every index with every index, one the owner's and the other a peer's, with every way to name the owner:
//! with nothing between the two accesses, with a wait between them, and around a loop. The number of blocks, the order
//! of the two, and whether elements or rows are told apart, take turns.

use super::relative::{Base, Modulus, Relative, Step, Sum};
use super::tree::{
    Access, Array, Arrival, Block, Form, Index, Kernel, Kind, LENGTH, Label, Number, Owner, Parity, Place, Rounds, Stmt,
};

const LOOP: Label = 1;
/// The label of the `let`.
const HELD: Label = 2;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Straight,
    Split,
    Loop,
}

const SHAPES: [Shape; 3] = [Shape::Straight, Shape::Split, Shape::Loop];
/// The kinds of the owner's access, and of the peer's.
const KINDS: [[Kind; 2]; 2] = [[Kind::Write, Kind::Read], [Kind::Read, Kind::Write]];

fn sum(base: Base, step: Option<(Step, Number)>, more: u32, modulus: Modulus) -> Relative {
    Relative::Sum(Sum { base, times: 1, number: step, more, modulus: Some(modulus) })
}

fn relatives(blocks: u32, k: Number) -> Vec<Relative> {
    let (n, literal) = (Modulus::Blocks, Modulus::Literal(blocks));
    let of_rank = |step, more, modulus| sum(Base::Rank, Some((step, k)), more, modulus);
    vec![
        Relative::RANK,
        sum(Base::Rank, None, 1, n),
        sum(Base::Rank, None, blocks - 1, literal),
        of_rank(Step::Plus, 0, n),
        of_rank(Step::Plus, 1, literal),
        of_rank(Step::Minus, 0, n),
        of_rank(Step::Minus, 1, literal),
        of_rank(Step::MinusRem, 0, n),
        of_rank(Step::Below, 0, literal),
        of_rank(Step::Mirrored, 0, n),
        // Two blocks may have the same of these.
        of_rank(Step::Plus, 0, Modulus::Literal(2)),
        of_rank(Step::Plus, 0, Modulus::Literal(3)),
        Relative::Sum(Sum { base: Base::Rank, times: 2, number: Some((Step::Plus, k)), more: 0, modulus: Some(n) }),
        Relative::Half(Base::Rank),
        Relative::Sum(Sum { more: 1, ..Sum::of(Base::Rank) }),
        Relative::Xor(Base::Rank, 1),
        Relative::XorNumber(Base::Rank, k),
        Relative::Reverse(Base::Rank, [n, literal][blocks as usize % 2]),
        sum(Base::Zero, Some((Step::Plus, k)), 0, n),
        Relative::Sum(Sum::of(Base::Slot)),
        sum(Base::Held(HELD, blocks), None, 0, n),
    ]
}

fn indexes(blocks: u32, k: Number) -> Vec<Index> {
    let mut all = vec![Index::Literal(1), Index::Own, Index::Chunk(Parity::Rem(k, 0))];
    all.extend(relatives(blocks, k).into_iter().map(Index::Relative));
    let chunk = sum(Base::Rank, Some((Step::Plus, k)), 0, Modulus::Literal(2));
    all.extend([chunk, Relative::Half(Base::Rank)].map(|relative| Index::Chunk(Parity::Relative(relative))));
    all
}

fn owners(blocks: u32, k: Number) -> Vec<Owner> {
    let relative = |at: usize| Owner::Relative(relatives(blocks, k)[at]);
    let mut all = vec![Owner::Next, Owner::Previous, Owner::Rank(0)];
    // Includes the block's own rank, and ranks that two blocks have.
    all.extend([0, 4, 6, 7, 8, 10, 15, 18, 20].map(relative));
    all
}

/// Returns all kernels, or one for each pair of indices and each owner.
pub(super) fn kernels(all: bool) -> impl Iterator<Item = Kernel> {
    let k = Number::Parameter(0);
    let (indexes, owners) = (indexes(2, k).len(), owners(2, k).len());
    let of_accesses =
        (0..indexes * indexes * owners).map(move |at| (at / owners / indexes, at / owners % indexes, at % owners));
    let turns = 3 * KINDS.len() * SHAPES.len();
    let wanted = move |at: usize, turn: usize| all || (at + at / indexes + at / indexes / owners) % turns == turn;
    let all = of_accesses
        .enumerate()
        .flat_map(move |(at, of)| (0..turns).filter(move |turn| wanted(at, *turn)).map(move |turn| (of, turn, at)));
    all.filter_map(|((own, peer, owner), turn, at)| {
        let (blocks, kinds, shape) = (2 + turn as u32 % 3, KINDS[turn / 3 % 2], SHAPES[turn / 6]);
        let k = if shape == Shape::Loop { Number::Round(LOOP) } else { Number::Parameter(0) };
        let of = |index: usize| self::indexes(blocks, k)[index];
        kernel(at + turn, blocks, shape, kinds, [of(own), of(peer)], self::owners(blocks, k)[owner])
    })
}

/// Returns an element, or a row if two are enough; none if there are not enough elements.
fn place(turn: usize, blocks: u32, index: Index) -> Option<Place> {
    let limit = match index {
        Index::Relative(relative) => relative.limit(blocks)?,
        Index::Literal(_) | Index::Own | Index::Other | Index::Parity(_) | Index::Chunk(_) => LENGTH as u32,
    };
    match index {
        Index::Relative(relative) if limit <= 2 && turn.is_multiple_of(2) => {
            Some(Place { array: Array::Rows, row: Parity::Relative(relative), index: Index::Own })
        }
        _ => (limit <= LENGTH as u32).then_some(Place { array: Array::A, row: Parity::Literal(0), index }),
    }
}

fn kernel(
    turn: usize,
    blocks: u32,
    shape: Shape,
    kinds: [Kind; 2],
    indexes: [Index; 2],
    owner: Owner,
) -> Option<Kernel> {
    if matches!(owner, Owner::Relative(relative) if relative.limit(blocks).is_none_or(|limit| limit > blocks)) {
        return None;
    }
    let mut places = [place(turn, blocks, indexes[0])?, place(turn, blocks, indexes[1])?];
    if places[0].array != places[1].array {
        places = [place(1, blocks, indexes[0])?, place(1, blocks, indexes[1])?];
    }
    let mut site = 0;
    let mut access = |kind, owner, place| {
        site += 1;
        Stmt::Access(Access { site, kind, owner, named: turn.is_multiple_of(5), place })
    };
    let row = |row| Place { array: Array::Rows, row: Parity::Literal(row), index: Index::Own };
    let start = [row(0), row(1), Place { array: Array::A, ..row(0) }];
    let mut body: Block = start.map(|place| access(Kind::Write, Owner::Own, place)).into();
    body.push(Stmt::Sync);
    let (own, peer) = (access(kinds[0], Owner::Own, places[0]), access(kinds[1], owner, places[1]));
    let [first, second] = if turn & 2 == 0 { [own, peer] } else { [peer, own] };
    // Its value was computed before the variable changed.
    let held = sum(Base::Rank, Some((Step::Plus, Number::Current)), 1, Modulus::Blocks);
    let next = sum(Base::Slot, None, 1, Modulus::Blocks);
    let mut inner = vec![Stmt::Let(HELD, held), Stmt::Flip((turn / 3).is_multiple_of(2))];
    match shape {
        Shape::Straight => inner.extend([Stmt::Set(next), first, second]),
        Shape::Split => inner.extend([Stmt::Set(next), Stmt::Split(3, Arrival::Full, vec![first]), second]),
        Shape::Loop if turn & 4 == 0 => inner.extend([first, Stmt::Sync, second, Stmt::Set(next)]),
        Shape::Loop => inner.extend([first, Stmt::Set(next), second, Stmt::Sync]),
    }
    match shape {
        Shape::Straight | Shape::Split => body.extend(inner),
        Shape::Loop => body.push(Stmt::Loop(LOOP, Rounds::Literal(3), Form::For, inner)),
    }
    body.push(Stmt::Sync);
    Some(Kernel { blocks: blocks as usize, body })
}
