//! A small language of kernels: what makes threads diverge and reconverge, and where their groups execute collectives.
//! Integers are `u32`, and a `bool` is one of 0 and 1. It knows nothing of the crate's model.

use super::super::shrink::Nested;

/// The groups, smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// A tile of 8 threads.
    Tile,
    Warp,
    Block,
    Cluster,
}

impl Group {
    pub(super) const ALL: [Group; 4] = [Group::Tile, Group::Warp, Group::Block, Group::Cluster];

    pub(super) fn threads(self) -> usize {
        match self {
            Group::Tile => 8,
            Group::Warp => 32,
            Group::Block => BLOCK,
            Group::Cluster => CLUSTER,
        }
    }
}

/// The numbers of threads of a block, a cluster, and the grid of two clusters.
pub(super) const BLOCK: usize = 64;
pub(super) const CLUSTER: usize = 2 * BLOCK;
pub(super) const GRID: usize = 2 * CLUSTER;

/// The numbers of elements of the shared array, and of the slices.
pub(super) const SHARED: usize = 4;
pub(super) const SLICE: usize = 16;

/// The source position of a collective, which `print` maps to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) id: usize,
    pub(super) group: Group,
}

/// A variable: an integer, a `bool`, or a pair of integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Var {
    pub(super) id: usize,
    /// The name; of two variables with one name, the later one shadows the other.
    pub(super) name: usize,
}

/// The index of a loop or a labelled block.
pub(super) type Label = usize;

pub(super) type Block = Vec<Stmt>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Xor,
    /// The right operand of these five is a literal.
    Rem,
    Div,
    Mask,
    Times,
    /// `next_multiple_of`
    RoundUp,
    Less,
    Equal,
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Int(u32),
    Bool(bool),
    Var(Var),
    /// One half of a pair.
    Field(Var, usize),
    /// A parameter of the kernel.
    Scalar(usize),
    /// A thread's rank in its block.
    Rank,
    /// A thread's rank in its cluster, and in the grid.
    ClusterThread,
    GridThread,
    /// A block's rank in its cluster.
    BlockRank,
    ClusterRank,
    /// An element of the slice that is never written.
    Input(Box<Expr>),
    /// An element of the slice that any thread may write at any time.
    State(Box<Expr>),
    Shared(usize),
    /// An element in the shared memory of a block of the cluster.
    Remote(Box<Expr>, usize),
    Binary(Op, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `tile.any(bool)`
    Any(Site, Box<Expr>),
    /// `tile.shfl(value, lane)`
    Shuffle(Site, Box<Expr>, Box<Expr>),
    /// `group.uniform(state[index])`: the kernel's claim is true.
    Claim(Site, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Jump {
    Break(Label),
    Continue(Label),
    Return,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stmt {
    Let(Var, Expr),
    /// `let mut var = (left, right);`
    LetPair(Var, Expr, Expr),
    /// `let (left, right) = (.., ..);`
    LetBoth([Var; 2], Expr, Expr),
    Assign(Var, Expr),
    /// `var += value;`
    Increase(Var, Expr),
    AssignField(Var, usize, Expr),
    AssignPair(Var, Expr, Expr),
    /// A copy of a pair.
    Copy(Var, Var),
    /// A store to shared memory.
    Store(usize, Expr),
    /// A store to the slice that any thread may write.
    StoreState(Expr, Expr),
    If(Expr, Block, Option<Block>),
    /// A `match` on a value: the arms of 0, 1, .. and the last, which takes all others.
    Match(Expr, Vec<Block>),
    While(Label, Expr, Block),
    /// `for var in 0..end`
    For(Label, Var, Expr, Block),
    /// `for var in (start..end).step_by(step)`
    Strided(Label, Var, [Expr; 2], u32, Block),
    Loop(Label, Block),
    Labelled(Label, Block),
    Jump(Jump),
    Sync(Site),
    /// An arrival and its wait, with what is done between them.
    Split(Site, Site, Block),
    /// An assertion of something true.
    Assert(Expr),
    /// A position at which a collective of any group may be put.
    Probe(usize),
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Block> {
        match self {
            Stmt::If(_, then, otherwise) => std::iter::once(then).chain(otherwise).collect(),
            Stmt::Match(_, arms) => arms.iter_mut().collect(),
            Stmt::While(_, _, body)
            | Stmt::For(_, _, _, body)
            | Stmt::Strided(_, _, _, _, body)
            | Stmt::Loop(_, body)
            | Stmt::Labelled(_, body)
            | Stmt::Split(_, _, body) => vec![body],
            Stmt::Let(..)
            | Stmt::LetPair(..)
            | Stmt::LetBoth(..)
            | Stmt::Assign(..)
            | Stmt::Increase(..)
            | Stmt::AssignField(..)
            | Stmt::AssignPair(..)
            | Stmt::Copy(..)
            | Stmt::Store(..)
            | Stmt::StoreState(..)
            | Stmt::Jump(_)
            | Stmt::Sync(_)
            | Stmt::Assert(_)
            | Stmt::Probe(_) => Vec::new(),
        }
    }

    fn stays(&self) -> bool {
        matches!(self, Stmt::Probe(_))
    }
}

impl Stmt {
    /// Returns the values directly inside.
    pub(super) fn values(&self) -> Vec<&Expr> {
        match self {
            Stmt::Let(_, value)
            | Stmt::Assign(_, value)
            | Stmt::Increase(_, value)
            | Stmt::AssignField(_, _, value)
            | Stmt::Store(_, value)
            | Stmt::Assert(value)
            | Stmt::If(value, ..)
            | Stmt::Match(value, _)
            | Stmt::While(_, value, _)
            | Stmt::For(_, _, value, _) => vec![value],
            Stmt::LetPair(_, left, right)
            | Stmt::LetBoth(_, left, right)
            | Stmt::AssignPair(_, left, right)
            | Stmt::StoreState(left, right) => vec![left, right],
            Stmt::Strided(_, _, ends, _, _) => ends.iter().collect(),
            Stmt::Copy(..)
            | Stmt::Loop(..)
            | Stmt::Labelled(..)
            | Stmt::Jump(_)
            | Stmt::Sync(_)
            | Stmt::Split(..)
            | Stmt::Probe(_) => Vec::new(),
        }
    }
}

/// Returns whether control never reaches what follows.
pub(super) fn ends(block: &Block) -> bool {
    matches!(block.last(), Some(Stmt::Jump(_)))
}

impl Expr {
    /// Returns the values directly inside, without those in blocks.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Input(inner)
            | Expr::State(inner)
            | Expr::Remote(inner, _)
            | Expr::Not(inner)
            | Expr::Any(_, inner) => vec![inner],
            Expr::Binary(_, left, right) | Expr::Shuffle(_, left, right) => vec![left, right],
            Expr::If(test, then, otherwise) => vec![test, then, otherwise],
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Var(_)
            | Expr::Field(..)
            | Expr::Scalar(_)
            | Expr::Rank
            | Expr::ClusterThread
            | Expr::GridThread
            | Expr::BlockRank
            | Expr::ClusterRank
            | Expr::Shared(_)
            | Expr::Claim(..) => Vec::new(),
        }
    }

    pub(super) fn binary(op: Op, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    pub(super) fn equals(self, to: u32) -> Expr {
        Expr::binary(Op::Equal, self, Expr::Int(to))
    }

    pub(super) fn below(self, limit: u32) -> Expr {
        Expr::binary(Op::Less, self, Expr::Int(limit))
    }

    /// Returns the lowest bits.
    pub(super) fn masked(self, mask: u32) -> Expr {
        Expr::binary(Op::Mask, self, Expr::Int(mask))
    }

    /// Returns whether the value is odd.
    pub(super) fn odd(self) -> Expr {
        self.masked(1).equals(1)
    }
}
