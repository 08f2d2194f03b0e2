//! A small language of kernels: which thread accesses which element of whose shared memory, and the barriers between.
//! Non-uniform conditions affect only accesses, so all threads of a cluster reach each barrier. It knows nothing of the
//! crate's model.

use super::super::shrink::Nested;
use super::relative::Relative;

/// The number of threads of a block.
pub(crate) const THREADS: usize = 2;
/// The number of elements of an array, and of a row.
pub(crate) const LENGTH: usize = 4;
/// The number of values of a scalar parameter.
pub(crate) const DOMAIN: usize = 3;

/// A shared array. Each block has its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Array {
    A,
    B,
    /// An array of two rows.
    Rows,
}

impl Array {
    pub(crate) const ALL: [Array; 3] = [Array::A, Array::B, Array::Rows];
}

pub(crate) type Label = usize;

/// A cluster-uniform number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Parameter(usize),
    /// The iteration of a loop.
    Round(Label),
    /// `cur`
    Current,
}

impl Number {
    pub(crate) fn most(self) -> u32 {
        match self {
            // No loop has more iterations than a parameter has values.
            Number::Parameter(_) | Number::Round(_) => DOMAIN as u32 - 1,
            Number::Current => 1,
        }
    }

    /// Returns the loop that must enclose it.
    pub(crate) fn round(self) -> Option<Label> {
        match self {
            Number::Round(label) => Some(label),
            Number::Parameter(_) | Number::Current => None,
        }
    }
}

/// An index that is 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Parity {
    Literal(u32),
    /// `(n + k) % 2`
    Rem(Number, u32),
    /// `n & 1`
    And(Number),
    /// `(n & 1) ^ 1`
    Xor(Number),
    /// `1 - n % 2`
    Minus(Number),
    /// `cur`, `1 - cur` or `cur ^ 1`
    Current,
    CurrentMinus,
    CurrentXor,
    /// A value that differs between blocks.
    Relative(Relative),
}

impl Parity {
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Parity::Rem(number, _) | Parity::And(number) | Parity::Xor(number) | Parity::Minus(number) => Some(number),
            Parity::Literal(_) | Parity::Current | Parity::CurrentMinus | Parity::CurrentXor => None,
            Parity::Relative(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Index {
    Literal(u32),
    /// The thread's rank in its block.
    Own,
    /// The other thread's rank.
    Other,
    Parity(Parity),
    /// A number below [`LENGTH`].
    Relative(Relative),
    /// `k * 2 + i`
    Chunk(Parity),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) array: Array,
    /// The row of [`Array::Rows`].
    pub(crate) row: Parity,
    pub(crate) index: Index,
}

/// The block whose memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Owner {
    /// The block itself.
    Own,
    /// A peer, by `map_shared_rank`.
    Next,
    Previous,
    Rank(u32),
    Relative(Relative),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Write,
    /// `a[i] += 7`
    Update,
    Atomic,
}

impl Kind {
    pub(crate) fn reads(self) -> bool {
        self != Kind::Write
    }

    pub(crate) fn writes(self) -> bool {
        self != Kind::Read
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Access {
    /// The number that `print` maps to a line.
    pub(crate) site: usize,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
    /// Whether the peer's memory has a name, given at the kernel's start because the peer never changes.
    pub(crate) named: bool,
    pub(crate) place: Place,
}

impl Access {
    pub(crate) fn is_remote(&self) -> bool {
        self.owner != Owner::Own
    }

    /// Returns whether the memory is a peer's, and the same peer's throughout the kernel.
    pub(crate) fn has_one_owner(&self) -> bool {
        match self.owner {
            Owner::Own => false,
            Owner::Next | Owner::Previous | Owner::Rank(_) => true,
            Owner::Relative(relative) => relative.is_fixed(),
        }
    }

    /// Returns what it computes from ranks.
    pub(crate) fn relatives(&self) -> impl Iterator<Item = Relative> {
        let of_parity = |parity| match parity {
            Parity::Relative(relative) => Some(relative),
            Parity::Literal(_) | Parity::Current | Parity::CurrentMinus | Parity::CurrentXor => None,
            Parity::Rem(..) | Parity::And(_) | Parity::Xor(_) | Parity::Minus(_) => None,
        };
        let index = match self.place.index {
            Index::Relative(relative) => Some(relative),
            Index::Parity(parity) | Index::Chunk(parity) => of_parity(parity),
            Index::Literal(_) | Index::Own | Index::Other => None,
        };
        let owner = match self.owner {
            Owner::Relative(relative) => Some(relative),
            Owner::Own | Owner::Next | Owner::Previous | Owner::Rank(_) => None,
        };
        [index, of_parity(self.place.row), owner].into_iter().flatten()
    }

    /// Returns the cluster-uniform numbers that it uses.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> {
        let index = match self.place.index {
            Index::Parity(parity) | Index::Chunk(parity) => parity.number(),
            Index::Literal(_) | Index::Own | Index::Other | Index::Relative(_) => None,
        };
        let relative = self.relatives().filter_map(|relative| relative.number());
        [index, self.place.row.number()].into_iter().flatten().chain(relative)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Test {
    /// A cluster-uniform test: `n == value`, and `n % 2 == 0`.
    Equals(Number, u32),
    Even(Number),
    /// A test of blocks, and of threads.
    BlockRank(u32),
    ThreadRank(u32),
    Compared(Comparison, Number),
}

impl Test {
    pub(crate) fn is_uniform(self) -> bool {
        matches!(self, Test::Equals(..) | Test::Even(_))
    }

    /// Returns the number that it reads.
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Test::Equals(number, _) | Test::Even(number) | Test::Compared(_, number) => Some(number),
            Test::BlockRank(_) | Test::ThreadRank(_) => None,
        }
    }
}

/// A test of the block's rank against a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Comparison {
    /// `rank < k`
    Below,
    /// `rank >= k`
    AtLeast,
    /// `rank != k`
    Other,
    /// `rank & k == 0`
    Clear,
    /// `rank + k < n`
    Inside,
}

impl Comparison {
    pub(crate) const ALL: [Comparison; 5] =
        [Comparison::Below, Comparison::AtLeast, Comparison::Other, Comparison::Clear, Comparison::Inside];

    pub(crate) fn holds(self, rank: usize, number: usize, blocks: usize) -> bool {
        match self {
            Comparison::Below => rank < number,
            Comparison::AtLeast => rank >= number,
            Comparison::Other => rank != number,
            Comparison::Clear => rank & number == 0,
            Comparison::Inside => rank + number < blocks,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rounds {
    Literal(usize),
    Parameter(usize),
}

/// The form in which a loop is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    For,
    /// A `loop`, left by a `break` at the body's start.
    Loop,
    /// A `while` that counts at the body's start.
    While,
    /// A `while` that counts at the body's end, without `continue`.
    WhileLast,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Jump {
    Break(Label),
    Continue(Label),
    Return,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrival {
    Full,
    Relaxed,
}

pub(crate) type Block = Vec<Stmt>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stmt {
    Access(Access),
    /// `cluster.sync()`, and the block's.
    Sync,
    SyncBlock,
    /// A fence of the cluster, by each thread that gets here.
    Fence,
    /// A split barrier of the cluster, with what stands between.
    Split(usize, Arrival, Block),
    /// A loop that carries its token: each iteration waits between the first two blocks and arrives again at the end,
    /// and the last arrival is waited for before the third.
    Carried(Label, usize, [Block; 3]),
    If(Test, Block, Option<Block>),
    Loop(Label, Rounds, Form, Block),
    Jump(Jump),
    /// `cur ^= 1` or `cur = 1 - cur`
    Flip(bool),
    /// `if n % 2 == 0 { cur = 0 } else { cur = 1 }`
    Choose(Number),
    /// A `let` of this label.
    Let(Label, Relative),
    /// `slot = ..`, below the number of blocks; at the start it is the block's rank.
    Set(Relative),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Block> {
        match self {
            Stmt::Split(_, _, body) | Stmt::Loop(_, _, _, body) => vec![body],
            Stmt::Carried(_, _, blocks) => blocks.iter_mut().collect(),
            Stmt::If(_, then, otherwise) => std::iter::once(then).chain(otherwise).collect(),
            Stmt::Access(_)
            | Stmt::Sync
            | Stmt::SyncBlock
            | Stmt::Fence
            | Stmt::Jump(_)
            | Stmt::Flip(_)
            | Stmt::Choose(_)
            | Stmt::Let(..)
            | Stmt::Set(_) => Vec::new(),
        }
    }
}

/// A kernel of clusters of 2, 3 or 4 blocks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) blocks: usize,
    pub(crate) body: Block,
}
