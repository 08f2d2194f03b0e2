//! A small language of kernels for all rules at once: tokens, barriers of both groups, memory, and tests of which not all
//! threads think alike, anywhere. Accesses, tests and loops are `generated_dsm`'s. A token that has a name is moved once by
//! construction; those in variables come and go as they like. Knows nothing of the crate's model.

use super::super::generated_dsm::tree::{Access, Arrival, Form, Index, Jump, Label, Number, Parity, Rounds, Test};
use super::super::shrink::Nested;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Block,
    Cluster,
}

impl Group {
    /// Each has a variable for a token.
    pub(super) const ALL: [Group; 2] = [Group::Block, Group::Cluster];
}

pub(super) type Block = Vec<Stmt>;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stmt {
    Access(Access),
    Sync(Group),
    /// Of the cluster's scope.
    Fence,
    /// An arrival, what stands between, and the wait.
    Split(Label, Group, Arrival, Block),
    /// An arrival, and a test whose arms wait at their ends, or do not.
    Arms(Label, Group, Test, [(Block, bool); 2]),
    /// Arrives, and puts the token into the group's variable.
    Put(Group),
    /// Waits with the token in the variable, if one is there.
    Take(Group),
    /// A loop that carries the cluster's token: waits between the two blocks of each round and arrives again at the end,
    /// and waits for the last one behind the third.
    Carried(Label, usize, [Block; 3]),
    If(Test, Block, Option<Block>),
    Loop(Label, Rounds, Form, Block),
    Jump(Jump),
    /// `cur ^= 1;`
    Flip,
    /// `cur = n % 2;`
    Choose(Number),
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
            | Stmt::Choose(_) => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kernel {
    /// In the cluster, and the grid.
    pub(super) blocks: usize,
    /// In a block.
    pub(super) threads: usize,
    pub(super) body: Block,
}

impl Kernel {
    /// Whether each loop is there that is jumped out of, or whose rounds are named: a smaller kernel may have lost it.
    pub(super) fn is_whole(&self) -> bool {
        is_whole(&self.body, &mut Vec::new())
    }
}

fn is_whole(block: &Block, loops: &mut Vec<Label>) -> bool {
    block.iter().all(|stmt| {
        let here = named(stmt).into_iter().all(|label| loops.contains(&label));
        let depth = loops.len();
        loops.extend(match stmt {
            Stmt::Carried(label, ..) | Stmt::Loop(label, ..) => Some(*label),
            _ => None,
        });
        // What waits for its last token has no rounds any more.
        let inside = stmt.clone().blocks().into_iter().all(|block| is_whole(block, loops));
        loops.truncate(depth);
        here && inside
    })
}

/// The loops that a statement names, without those inside of it.
fn named(stmt: &Stmt) -> Vec<Label> {
    let of_number = |number: Number| match number {
        Number::Round(label) => Some(label),
        Number::Parameter(_) => None,
    };
    let of_parity = |parity: Parity| match parity {
        Parity::Rem(number, _) | Parity::And(number) | Parity::Xor(number) | Parity::Minus(number) => of_number(number),
        Parity::Literal(_) | Parity::Current | Parity::CurrentMinus | Parity::CurrentXor => None,
    };
    match stmt {
        Stmt::Access(access) => {
            let index = match access.place.index {
                Index::Parity(parity) => of_parity(parity),
                Index::Literal(_) | Index::Own | Index::Other => None,
            };
            index.into_iter().chain(of_parity(access.place.row)).collect()
        }
        Stmt::If(test, ..) | Stmt::Arms(_, _, test, _) => match test {
            Test::Equals(number, _) | Test::Even(number) => of_number(*number).into_iter().collect(),
            Test::BlockRank(_) | Test::ThreadRank(_) => Vec::new(),
        },
        Stmt::Choose(number) => of_number(*number).into_iter().collect(),
        Stmt::Jump(Jump::Break(label) | Jump::Continue(label)) => vec![*label],
        Stmt::Jump(Jump::Return)
        | Stmt::Sync(_)
        | Stmt::Fence
        | Stmt::Split(..)
        | Stmt::Put(_)
        | Stmt::Take(_)
        | Stmt::Carried(..)
        | Stmt::Loop(..)
        | Stmt::Flip => Vec::new(),
    }
}
