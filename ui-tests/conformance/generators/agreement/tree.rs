//! A small language of kernels for all rules at once: tokens, barriers of both groups, memory, and non-uniform tests
//! anywhere. Accesses, tests and loops are those of `generated_dsm`. A token with a name is moved once by construction;
//! tokens in variables are put and taken freely. It knows nothing of the crate's model.

use super::super::generated_dsm::relative::Relative;
use super::super::generated_dsm::tree::{Access, Arrival, Form, Jump, Label, Number, Rounds, Test};
use super::super::shrink::Nested;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Block,
    Cluster,
}

impl Group {
    /// The groups, each of which has a variable for a token.
    pub(super) const ALL: [Group; 2] = [Group::Block, Group::Cluster];
}

/// What becomes of a token at the end of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Wait,
    Forget,
    /// It is lost.
    Lose,
}

pub(super) type Block = Vec<Stmt>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stmt {
    Access(Access),
    Sync(Group),
    /// A fence of the cluster's scope.
    Fence,
    /// An arrival, what stands between, and the wait.
    Split(Label, Group, Arrival, Block),
    /// An arrival, and a test whose arms have their own end of it.
    Arms(Label, Group, Test, [(Block, Ending); 2]),
    /// Arrives, and puts the token into the group's variable.
    Put(Group),
    /// Waits with the token in the variable, if one is there.
    Take(Group),
    /// A loop that carries the cluster's token: each iteration waits between the first two blocks and arrives again at
    /// the end, and the last arrival is waited for before the third.
    Carried(Label, usize, [Block; 3]),
    If(Test, Block, Option<Block>),
    Loop(Label, Rounds, Form, Block),
    Jump(Jump),
    /// `cur ^= 1;`
    Flip,
    /// `cur = n % 2;`
    Choose(Number),
    /// A `let` of this label.
    Let(Label, Relative),
    /// `slot = ..`, below the number of blocks; at the start it is the block's rank.
    Set(Relative),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Block> {
        match self {
            Stmt::Split(_, _, _, body) | Stmt::Loop(_, _, _, body) => vec![body],
            Stmt::Arms(_, _, _, arms) => arms.iter_mut().map(|(arm, _)| arm).collect(),
            Stmt::Carried(_, _, blocks) => blocks.iter_mut().collect(),
            Stmt::If(_, then, otherwise) => std::iter::once(then).chain(otherwise).collect(),
            Stmt::Access(_)
            | Stmt::Sync(_)
            | Stmt::Fence
            | Stmt::Put(_)
            | Stmt::Take(_)
            | Stmt::Jump(_)
            | Stmt::Flip
            | Stmt::Choose(_)
            | Stmt::Let(..)
            | Stmt::Set(_) => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kernel {
    /// The number of blocks in the cluster, and in the grid.
    pub(super) blocks: usize,
    /// The number of threads in a block.
    pub(super) threads: usize,
    pub(super) body: Block,
}

impl Kernel {
    /// Returns whether each loop exists that is jumped out of, or whose iterations are named, and each `let`: a smaller
    /// kernel may have lost it.
    pub(super) fn is_whole(&self) -> bool {
        is_whole(&self.body, &mut Vec::new(), &mut Vec::new())
    }

    /// Returns whether the kernel reads a parameter.
    pub(super) fn has_parameter(&self, index: usize) -> bool {
        fn has(stmt: &Stmt, number: Number) -> bool {
            let here = |stmt: &Stmt| numbers(stmt).contains(&number);
            here(stmt) || stmt.clone().blocks().into_iter().flatten().any(|inner| has(inner, number))
        }
        self.body.iter().any(|stmt| has(stmt, Number::Parameter(index)))
    }
}

fn is_whole(block: &Block, loops: &mut Vec<Label>, lets: &mut Vec<Label>) -> bool {
    let outside = lets.len();
    let is_whole = block.iter().all(|stmt| {
        let is_here = match stmt {
            Stmt::Jump(Jump::Break(label) | Jump::Continue(label)) => loops.contains(label),
            _ => numbers(stmt).into_iter().filter_map(Number::round).all(|label| loops.contains(&label)),
        };
        let is_held = relatives(stmt).iter().filter_map(Relative::held).all(|label| lets.contains(&label));
        let depth = loops.len();
        match stmt {
            Stmt::Carried(label, ..) | Stmt::Loop(label, ..) => loops.push(*label),
            Stmt::Let(label, _) => lets.push(*label),
            _ => {}
        }
        // A loop that waits for its last token has no iterations any more.
        let inside = stmt.clone().blocks().into_iter().all(|block| is_whole(block, loops, lets));
        loops.truncate(depth);
        is_here && is_held && inside
    });
    lets.truncate(outside);
    is_whole
}

/// Returns what a statement computes from ranks, without the statements inside of it.
fn relatives(stmt: &Stmt) -> Vec<Relative> {
    match stmt {
        Stmt::Access(access) => access.relatives().collect(),
        Stmt::Let(_, relative) | Stmt::Set(relative) => vec![*relative],
        _ => Vec::new(),
    }
}

/// Returns the cluster-uniform numbers that a statement reads, without the statements inside of it.
fn numbers(stmt: &Stmt) -> Vec<Number> {
    match stmt {
        Stmt::Access(access) => access.numbers().collect(),
        Stmt::Let(_, relative) | Stmt::Set(relative) => relative.number().into_iter().collect(),
        Stmt::If(test, ..) | Stmt::Arms(_, _, test, _) => test.number().into_iter().collect(),
        Stmt::Loop(_, Rounds::Parameter(index), ..) => vec![Number::Parameter(*index)],
        Stmt::Choose(number) => vec![*number],
        Stmt::Jump(_)
        | Stmt::Sync(_)
        | Stmt::Fence
        | Stmt::Split(..)
        | Stmt::Put(_)
        | Stmt::Take(_)
        | Stmt::Carried(..)
        | Stmt::Loop(_, Rounds::Literal(_), ..)
        | Stmt::Flip => Vec::new(),
    }
}
