//! The control-flow graph that the checks walk: basic blocks of steps in the order of evaluation. `break`, `continue`
//! and `return` are ordinary edges here, with the locals that they drop spelled out, so that no check needs to know
//! how they nest. Values are nodes of a graph of their own, each evaluated at a step. `build` makes both from the
//! model's tree.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::team::Team;
use crate::messages::Loss;
use crate::model::barrier::{Barrier, PhaseMethod};
use crate::model::copy::CompletionMechanism;
use crate::model::expr::{BinaryOp, Callee};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::model::query::Query;
use crate::model::{LocalId, SlotId, ValueId};
use crate::span::SpanRange;

/// Index into [`Cfg::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockId(pub(crate) usize);

/// Index into [`Cfg::accesses`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AccessId(pub(crate) usize);

/// Index into [`Cfg::phases`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PhaseId(pub(crate) usize);

/// Index into [`Cfg::copies`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CopyId(pub(crate) usize);

/// Index into [`Cfg::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) usize);

#[derive(Debug)]
pub(crate) struct Cfg<'f> {
    pub(crate) blocks: Vec<BasicBlock>,
    pub(crate) entry: BlockId,
    pub(crate) nodes: Vec<Node<'f>>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) copies: Vec<CopyStep>,
    pub(crate) phases: Vec<PhaseCall>,
    /// Queries of groups of whole blocks: of which, and what.
    pub(crate) queries: BTreeMap<NodeId, (Group, &'static Query)>,
    /// The slices of the dynamic shared memory, by their numbers.
    pub(crate) slices: Vec<Slice>,
    /// What pieces of shared memory are called.
    pub(crate) names: BTreeMap<Shared, LocalId>,
    /// The groups that are parameters.
    pub(crate) teams: Vec<Team>,
}

#[derive(Debug, Default)]
pub(crate) struct BasicBlock {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// How control leaves a block.
#[derive(Debug, Default)]
pub(crate) enum End {
    /// Code that is never reached, and code after which there is no launch any more.
    #[default]
    Never,
    /// The function's end, or a `return`.
    Leave,
    Goto(BlockId),
    /// On a value of which nothing is known but where it comes from.
    Branch {
        on: NodeId,
        then: BlockId,
        otherwise: BlockId,
    },
    /// On whether an optional token is there.
    Option {
        on: NodeId,
        place: Place,
        some: BlockId,
        none: BlockId,
    },
}

impl End {
    pub(crate) fn successors(&self) -> impl Iterator<Item = BlockId> {
        let (first, second) = match *self {
            End::Never | End::Leave => (None, None),
            End::Goto(next) => (Some(next), None),
            End::Branch { then, otherwise, .. } => (Some(then), Some(otherwise)),
            End::Option { some, none, .. } => (Some(some), Some(none)),
        };
        first.into_iter().chain(second)
    }

    /// The value that decides where control goes.
    pub(crate) fn condition(&self) -> Option<NodeId> {
        match *self {
            End::Never | End::Leave | End::Goto(_) => None,
            End::Branch { on, .. } | End::Option { on, .. } => Some(on),
        }
    }
}

impl Cfg<'_> {
    /// Of a variable that is set once, what it was set to; else the node itself.
    pub(crate) fn origin(&self, node: NodeId) -> NodeId {
        self.nodes[node.0].source.read().and_then(|place| self.only_value(place)).unwrap_or(node)
    }

    /// The value of a place that is set once, as a whole.
    pub(crate) fn only_value(&self, place: Place) -> Option<NodeId> {
        let steps = self.blocks.iter().flat_map(|block| &block.steps);
        let mut sets = steps.filter_map(|step| step.kind.set()).filter(|(set, ..)| *set == place);
        match (sets.next(), sets.next()) {
            (Some((_, value, Extent::Whole)), None) => Some(value),
            (Some(_) | None, _) => None,
        }
    }
}

/// A value that the body computes: of what, and how.
#[derive(Debug)]
pub(crate) struct Node<'f> {
    pub(crate) source: Source<'f>,
    pub(crate) operands: Vec<NodeId>,
    pub(crate) at: SpanRange,
}

/// What makes a value the same for some threads and different for others.
#[derive(Debug)]
pub(crate) enum Source<'f> {
    /// Its operands, and nothing else: constants have none.
    Operands,
    Integer(u64),
    /// A constant of the program, which rustc knows.
    Constant(ValueId),
    /// What an operator makes of two.
    Binary(BinaryOp),
    /// The other bits of one.
    Not,
    /// The next in a range: what the place held in the round before and `by`, if that is known. It is at least the
    /// start and less than the end of `range`.
    Counter {
        of: Place,
        by: Option<i64>,
        range: Option<(u64, NodeId)>,
    },
    /// What a place holds at the step that evaluates the node.
    Read(Place),
    /// A parameter, by its position.
    Param(usize),
    /// Its operands, and how far threads agree on `what` itself.
    Known {
        uniformity: Uniformity,
        what: &'static str,
    },
    /// The thread's in its block.
    ThreadRank,
    /// The first operand, which is rounded down to a multiple of this, or compared with one by this operator: what is
    /// the thread's rank is then the same for as many threads.
    Round(Granule, BinaryOp),
    /// An element of memory: index, and for remote memory the rank.
    Load(Root),
    /// What all threads of a group get from all of them.
    Agreed {
        team: Team,
        what: &'static str,
    },
    /// What one of them has: the value and whose.
    Shuffled {
        team: Team,
    },
    /// The result of a device function, of its arguments, in their order.
    /// `teams` are those that are groups, `pieces` those that are memory, `barriers` those that are barriers, with their positions.
    Call {
        slot: SlotId,
        callee: &'f Callee,
        teams: Vec<Option<Team>>,
        pieces: Vec<Option<Piece>>,
        barriers: Vec<(usize, Piece)>,
    },
}

/// A multiple of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Granule {
    Number(u64),
    /// A constant, which rustc knows.
    Constant(ValueId),
}

/// Which memory is read or written, as far as it matters whether threads see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// Nothing writes to it while the kernel runs, if nothing did when the function was called.
    ReadOnly,
    /// Other blocks may write to it at any time.
    Global,
    Shared(Shared),
    Remote(Shared),
}

/// What `dynamic_shared_slice` is asked for.
#[derive(Debug)]
pub(crate) struct Slice {
    /// The first byte.
    pub(crate) start: NodeId,
    /// How many elements, and the bytes of one if it is a scalar.
    pub(crate) length: NodeId,
    pub(crate) size: Option<u64>,
}

/// A piece of shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shared {
    /// Index into `Function::shared`.
    Array(usize),
    /// All of the dynamic one.
    Dynamic,
    /// What one `dynamic_shared_slice` gives.
    Slice(usize),
    /// Whatever a device function was given as this parameter.
    Param(usize),
    /// One of several, nobody here knows which.
    Any,
}

/// A part of memory: of what, and how it was chosen, dimension by dimension.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) root: Root,
    /// The rank of the peer that was asked for.
    pub(crate) rank: Option<NodeId>,
    pub(crate) path: Vec<Select>,
    /// The last choice has several elements: the next one is made among those.
    pub(crate) open: bool,
}

/// A choice in one dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Select {
    At(NodeId),
    /// As many elements, times this.
    Chunk {
        size: NodeId,
        index: NodeId,
    },
    /// From one up to another.
    Range {
        start: NodeId,
        end: NodeId,
    },
    /// What one `split_at` makes.
    Half {
        mid: NodeId,
        second: bool,
    },
    Unknown,
}

impl Shared {
    /// Pieces with different wholes do not overlap, but for `Any`, which may be each of them.
    pub(crate) fn whole(self) -> Shared {
        match self {
            Shared::Slice(_) => Shared::Dynamic,
            Shared::Param(_) => Shared::Any,
            Shared::Array(_) | Shared::Dynamic | Shared::Any => self,
        }
    }
}

impl Piece {
    pub(crate) fn of(root: Root) -> Piece {
        Piece { root, rank: None, path: Vec::new(), open: false }
    }

    /// One element, or one row.
    pub(crate) fn at(mut self, index: Select) -> Piece {
        if !self.open {
            self.path.push(index);
        }
        Piece { open: false, ..self }
    }

    /// Several in a row.
    pub(crate) fn several(mut self, which: Select) -> Piece {
        if !self.open {
            self.path.push(which);
        }
        Piece { open: true, ..self }
    }
}

/// Memory that the function touches at a step.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) piece: Piece,
    pub(crate) how: How,
    pub(crate) at: SpanRange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Read,
    Write,
    AtomicRead,
    /// Writes, and may read.
    Atomic,
    /// Whatever a device function that was lent it does.
    Lent,
    /// A copy writes it at a time of its own, and tells a barrier of the memory's owner.
    Sent,
    /// Whatever a text by hand does, or a method.
    ByHand,
}

impl How {
    pub(crate) fn changes(self) -> bool {
        match self {
            How::Read | How::AtomicRead => false,
            How::Write | How::Atomic | How::Sent | How::Lent | How::ByHand => true,
        }
    }
}

/// What has to do with asynchronous copies.
#[derive(Debug)]
pub(crate) enum CopyStep {
    /// One begins: what it reads and what it writes in the block's shared memory.
    Begin { reads: Option<Piece>, writes: Option<Piece>, told: CompletionMechanism, at: SpanRange },
    /// The end of all of a kind may be seen.
    Wait(CompletionMechanism),
}

/// Something that holds a value: a variable, or a value on its way to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Local(LocalId),
    /// A field of a struct or a tuple, which has a number of its own. No token is in it.
    Field(LocalId, u16),
    Temporary(usize),
}

impl Place {
    /// What it is a field of.
    pub(crate) fn whole(self) -> Option<Place> {
        match self {
            Place::Field(local, _) => Some(Place::Local(local)),
            Place::Local(_) | Place::Temporary(_) => None,
        }
    }
}

/// How much of a place is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// A field, which has a step of its own.
    Field,
    /// Some part, nobody knows which.
    Part,
}

/// A method of a phase barrier.
#[derive(Debug)]
pub(crate) struct PhaseCall {
    pub(crate) barrier: Barrier,
    pub(crate) method: &'static PhaseMethod,
    /// Whose, and which of an array.
    pub(crate) piece: Piece,
    /// Without the barrier.
    pub(crate) operands: Vec<NodeId>,
    /// What it gives.
    pub(crate) gives: NodeId,
    pub(crate) at: SpanRange,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) at: SpanRange,
}

#[derive(Debug)]
pub(crate) enum StepKind {
    /// A value is computed.
    Evaluate(NodeId),
    /// A place gets a value.
    Set {
        place: Place,
        value: NodeId,
        extent: Extent,
    },
    /// Memory is read or written.
    Access(AccessId),
    /// An asynchronous copy begins, or is waited for.
    Copy(CopyId),
    /// A collective of a group that is neither arrival nor wait. A barrier: all of its threads have come before one goes
    /// on.
    Collective {
        team: Team,
        name: &'static str,
        barrier: bool,
    },
    /// What comes next, all threads of a warp execute together.
    Aligned {
        name: &'static str,
    },
    /// What the thread did before is seen by the cluster before what it does after.
    Fence,
    /// A group is made of the threads that are here: what another such group agreed on, this one may not.
    Renew(Uniformity),
    /// What all threads of a group execute, and no barrier: nothing is ordered by it.
    Together {
        team: Team,
        name: &'static str,
    },
    Arrive {
        group: Group,
        method: &'static BarrierMethod,
        into: Place,
    },
    Wait {
        group: Group,
        from: Place,
    },
    /// A method of a phase barrier.
    Phase(PhaseId),
    /// A device function. The tokens that it was given, of these groups, have moved to it; it may give one back.
    Call {
        slot: SlotId,
        takes: Vec<Group>,
        gives: Option<(Group, Place)>,
        node: NodeId,
    },
    Move {
        from: Place,
        into: Place,
    },
    /// The function's result.
    Return(NodeId),
    /// A token leaves the function by its result or into a device function.
    HandOver {
        from: Place,
    },
    /// The place holds `None`.
    Clear {
        place: Place,
    },
    /// What the place holds is dropped.
    Drop {
        place: Place,
        how: Loss,
    },
}
