//! Enumerates every attacker with every detector, at every pair of positions in and around a loop and a branch, like
//! Tint's tests of loops: a divergence at one position, and a collective at another, by itself and behind a variable
//! with which the threads count iterations. Each condition differs for some input, as far as its kind can.

use super::tree::{Block, Expr, Group, Jump, Label, Op, Site, Stmt, Var};

/// A kernel with probes, and the groups whose collectives each probe stands for.
pub(super) struct Skeleton {
    pub(super) kernel: Block,
    pub(super) probes: usize,
    pub(super) groups: Vec<Group>,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    While,
    For,
    /// A loop left only by `break`.
    Loop,
    Labelled,
    Block,
    /// The inner one of two loops.
    Nested,
}

/// The positions of a skeleton.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Before,
    First,
    Then,
    Else,
    Last,
    After,
}

#[derive(Clone, Copy, PartialEq)]
enum Attack {
    Break,
    Continue,
    BreakOuter,
    ContinueOuter,
    Return,
    /// A branch with probes in both arms.
    Branch,
    Match,
    And,
    Or,
    /// A loop of so many iterations with probes.
    For,
    While,
    /// An assignment to the counter under the condition.
    Assign,
    AssignValue,
    AssignMatch,
    /// Statements without consequences.
    Nothing,
}

const SHAPES: [Shape; 6] = [Shape::While, Shape::For, Shape::Loop, Shape::Labelled, Shape::Block, Shape::Nested];
const PLACES: [At; 6] = [At::Before, At::First, At::Then, At::Else, At::Last, At::After];
const ATTACKS: [Attack; 15] = [
    Attack::Break,
    Attack::Continue,
    Attack::BreakOuter,
    Attack::ContinueOuter,
    Attack::Return,
    Attack::Branch,
    Attack::Match,
    Attack::And,
    Attack::Or,
    Attack::For,
    Attack::While,
    Attack::Assign,
    Attack::AssignValue,
    Attack::AssignMatch,
    Attack::Nothing,
];

/// The number of kinds of conditions.
const CONDITIONS: usize = 15;
/// The number of kinds of counters.
const COUNTERS: usize = 4;

const LABEL: Label = 1;
const OUTER: Label = 2;
const COUNTER: Var = Var { id: 1, name: 1 };
const SPARE: Var = Var { id: 2, name: 2 };
const ROUND: Var = Var { id: 3, name: 3 };
const INNER: Var = Var { id: 4, name: 4 };
const OUTER_ROUND: Var = Var { id: 5, name: 5 };

/// Returns all valid skeletons, without a jump that has no target. Conditions and counters take turns, or are all tried
/// if `whole`.
pub(super) fn skeletons(whole: bool) -> impl Iterator<Item = Skeleton> {
    let mut turn = 0;
    SHAPES.into_iter().flat_map(move |shape| {
        let attacks = PLACES.into_iter().flat_map(|at| ATTACKS.into_iter().map(move |attack| (at, attack)));
        let mut all = Vec::new();
        for (at, attack) in attacks.filter(|(at, attack)| has_target(shape, *at, *attack)) {
            if whole {
                let kinds = (0..CONDITIONS).flat_map(|kind| (0..COUNTERS).map(move |counter| (kind, counter)));
                all.extend(kinds.map(|(kind, counter)| skeleton(shape, at, attack, kind, counter)));
            } else {
                all.push(skeleton(shape, at, attack, turn % CONDITIONS, turn / 3 % COUNTERS));
                turn += 1;
            }
        }
        all
    })
}

fn has_target(shape: Shape, at: At, attack: Attack) -> bool {
    let inside = !matches!(at, At::Before | At::After);
    match attack {
        Attack::Break => inside && shape != Shape::Block,
        Attack::Continue => inside && !matches!(shape, Shape::Labelled | Shape::Block),
        Attack::BreakOuter | Attack::ContinueOuter => shape == Shape::Nested && at != At::Before,
        _ => true,
    }
}

/// Returns a condition, the groups at which it may at most be uniform, and those at which it must not be.
fn condition(kind: usize) -> (Expr, Vec<Group>) {
    use Group::{Block, Cluster, Tile, Warp};
    let site = |group| Site { id: 100, group };
    let parity = |value: Expr| value.odd();
    let of_rank = |size| Expr::binary(Op::Div, Expr::Rank, Expr::Int(size));
    let own = || Box::new(Expr::Rank);
    match kind {
        0 => (parity(Expr::Input(own())), vec![Tile]),
        1 => (Expr::Rank.equals(3), vec![Tile]),
        2 => (parity(Expr::State(own())), vec![Tile]),
        // Written in this phase of the barrier.
        3 => (parity(Expr::Shared(1)), vec![Tile]),
        4 => (parity(of_rank(8)), vec![Tile, Warp]),
        5 => (Expr::Any(site(Tile), Box::new(Expr::State(own()).equals(1))), vec![Tile, Warp]),
        6 => (parity(of_rank(32)), vec![Warp, Block]),
        7 => (Expr::Rank.below(32), vec![Warp, Block]),
        8 => (Expr::Not(Box::new(Expr::Any(site(Warp), Box::new(Expr::Rank.equals(40))))), vec![Warp, Block]),
        9 => (Expr::BlockRank.equals(1), vec![Block, Cluster]),
        10 => (parity(Expr::Shared(0)), vec![Block, Cluster]),
        11 => (parity(Expr::Claim(site(Block), 1)), vec![Block, Cluster]),
        12 => (Expr::ClusterRank.equals(0), vec![Cluster]),
        13 => (parity(Expr::Remote(Box::new(Expr::Int(1)), 0)), vec![Cluster]),
        _ => (parity(Expr::Input(Box::new(Expr::Scalar(0)))), vec![Cluster]),
    }
}

struct Builder {
    counter: usize,
    attack: (At, Attack),
    condition: Expr,
    probes: usize,
}

fn skeleton(shape: Shape, at: At, attack: Attack, kind: usize, counter: usize) -> Skeleton {
    let (condition, groups) = condition(kind);
    let mut builder = Builder { counter, attack: (at, attack), condition, probes: 0 };
    let mut kernel = published(kind);
    kernel.extend(builder.declared());
    kernel.extend(builder.place(At::Before));
    let round = match shape {
        Shape::For | Shape::While | Shape::Loop | Shape::Nested => {
            Expr::binary(Op::Add, Expr::Var(ROUND), Expr::Scalar(1))
        }
        Shape::Labelled | Shape::Block => Expr::Scalar(1),
    };
    let mut body = builder.place(At::First);
    let (then, otherwise) = (builder.place(At::Then), builder.place(At::Else));
    body.push(Stmt::If(round.odd(), then, Some(otherwise)));
    body.extend(builder.place(At::Last));
    body.extend(builder.count(Expr::Int(1)));
    let rounds = || Expr::binary(Op::Add, Expr::Scalar(0), Expr::Int(1));
    let goes_on = || Expr::binary(Op::Less, Expr::Var(ROUND), rounds());
    let next = || Stmt::Increase(ROUND, Expr::Int(1));
    match shape {
        Shape::While => {
            kernel.push(Stmt::Let(ROUND, Expr::Int(0)));
            body.insert(0, next());
            kernel.push(Stmt::While(LABEL, goes_on(), body));
        }
        Shape::For => kernel.push(Stmt::For(LABEL, ROUND, rounds(), body)),
        Shape::Loop => {
            kernel.push(Stmt::Let(ROUND, Expr::Int(0)));
            let leave = Stmt::If(Expr::Not(Box::new(goes_on())), vec![Stmt::Jump(Jump::Break(LABEL))], None);
            body.splice(0..0, [leave, next()]);
            kernel.push(Stmt::Loop(LABEL, body));
        }
        Shape::Labelled => kernel.push(Stmt::Labelled(LABEL, body)),
        Shape::Block => kernel.push(Stmt::If(Expr::Bool(true), body, None)),
        Shape::Nested => {
            let mut outer = vec![Stmt::For(LABEL, ROUND, rounds(), body)];
            outer.extend(builder.place(At::After));
            kernel.push(Stmt::For(OUTER, OUTER_ROUND, Expr::Int(3), outer));
        }
    }
    // Behind both loops of two, without the attack.
    if shape == Shape::Nested {
        builder.attack.1 = Attack::Nothing;
    }
    kernel.extend(builder.place(At::After));
    Skeleton { kernel, probes: builder.probes, groups }
}

/// Returns a value in shared memory: an element that each block knows, and one that it may not.
fn published(kind: usize) -> Block {
    let own = Expr::binary(Op::Add, Expr::BlockRank, Expr::binary(Op::Add, Expr::ClusterRank, Expr::ClusterRank));
    let leader = |index, value| Stmt::If(Expr::Rank.equals(0), vec![Stmt::Store(index, value)], None);
    let mut block = vec![leader(0, Expr::Input(Box::new(own))), Stmt::Sync(Site { id: 101, group: Group::Cluster })];
    // The check treats an array as one region of memory.
    if kind == 3 {
        block.push(leader(1, Expr::Int(5)));
    }
    block
}

impl Builder {
    fn probe(&mut self) -> Stmt {
        self.probes += 1;
        Stmt::Probe(self.probes - 1)
    }

    fn counted(&self) -> Expr {
        if self.counter == 0 { Expr::Var(COUNTER) } else { Expr::Field(COUNTER, 0) }
    }

    fn declared(&self) -> Block {
        let start = || Expr::Input(Box::new(Expr::Scalar(1)));
        let pair = |var| Stmt::LetPair(var, start(), Expr::Rank);
        match self.counter {
            0 => vec![Stmt::Let(COUNTER, start())],
            _ => vec![pair(COUNTER), Stmt::LetPair(SPARE, Expr::Int(0), Expr::Int(0))],
        }
    }

    /// Advances the counter.
    fn count(&self, by: Expr) -> Block {
        let more = Expr::binary(Op::Add, self.counted(), by.clone());
        match self.counter {
            0 => vec![Stmt::Increase(COUNTER, by)],
            1 => vec![Stmt::AssignField(COUNTER, 0, more)],
            2 => vec![Stmt::AssignPair(COUNTER, more, Expr::Field(COUNTER, 1))],
            _ => vec![Stmt::AssignPair(SPARE, more, Expr::Int(1)), Stmt::Copy(COUNTER, SPARE)],
        }
    }

    /// Returns what stands at a position: the attack between two probes, if it is there; a probe; one behind the
    /// counter.
    fn place(&mut self, at: At) -> Block {
        let mut block = Block::new();
        if self.attack.0 == at {
            block.push(self.probe());
            block.extend(self.attack());
        }
        block.push(self.probe());
        block.push(Stmt::If(self.counted().odd(), vec![self.probe()], None));
        block
    }

    fn attack(&mut self) -> Block {
        let condition = self.condition.clone();
        let number =
            |then: Expr, otherwise: Expr| Expr::If(Box::new(condition.clone()), Box::new(then), Box::new(otherwise));
        let jump = |jump| vec![Stmt::If(condition.clone(), vec![Stmt::Jump(jump)], None)];
        match self.attack.1 {
            Attack::Break => jump(Jump::Break(LABEL)),
            Attack::Continue => jump(Jump::Continue(LABEL)),
            Attack::BreakOuter => jump(Jump::Break(OUTER)),
            Attack::ContinueOuter => jump(Jump::Continue(OUTER)),
            Attack::Return => jump(Jump::Return),
            Attack::Branch => vec![Stmt::If(condition, vec![self.probe()], Some(vec![self.probe()]))],
            Attack::Match => {
                let arms = vec![vec![self.probe()], vec![self.probe()], vec![self.probe()]];
                vec![Stmt::Match(number(Expr::Int(0), Expr::Scalar(0)), arms)]
            }
            Attack::And => {
                let test = Expr::binary(Op::And, Expr::Scalar(1).below(2), condition);
                vec![Stmt::If(test, vec![self.probe()], None)]
            }
            Attack::Or => {
                let test = Expr::binary(Op::Or, condition, Expr::Scalar(1).below(2));
                vec![Stmt::If(test, vec![self.probe()], None)]
            }
            Attack::For => vec![Stmt::For(9, INNER, number(Expr::Int(2), Expr::Int(1)), vec![self.probe()])],
            Attack::While => {
                let test = Expr::binary(Op::Less, Expr::Var(INNER), number(Expr::Int(2), Expr::Int(1)));
                let body = vec![self.probe(), Stmt::Increase(INNER, Expr::Int(1)), self.probe()];
                vec![Stmt::Let(INNER, Expr::Int(0)), Stmt::While(9, test, body)]
            }
            Attack::Assign => vec![Stmt::If(condition, self.count(Expr::Int(1)), None)],
            Attack::AssignValue => self.count(number(Expr::Int(1), Expr::Int(0))),
            Attack::AssignMatch => {
                vec![Stmt::Match(number(Expr::Int(0), Expr::Int(1)), vec![self.count(Expr::Int(1)), Block::new()])]
            }
            Attack::Nothing => vec![Stmt::If(condition, vec![Stmt::StoreState(Expr::Rank, Expr::Int(1))], None)],
        }
    }
}
