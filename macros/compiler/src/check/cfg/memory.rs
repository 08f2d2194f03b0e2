//! Memory, as accesses name it: which memory, which part of it, and what is done to it.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::protocol::Party;

use super::NodeId;
use crate::model::copy::CompletionMechanism;
use crate::span::SpanRange;

/// Which memory is accessed, as far as it matters whether threads see the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// Global memory that nothing writes while the kernel runs, if nothing did when the function was called.
    ReadOnly,
    /// Global memory that other blocks may write at any time.
    Global,
    /// Shared memory of the thread's own block.
    Shared(Shared),
    /// Shared memory of another block of the cluster.
    Remote(Shared),
}

impl Root {
    /// Shared memory and whose it is; `None` for global memory.
    pub(crate) fn party(self) -> Option<(Party, Shared)> {
        match self {
            Root::Shared(shared) => Some((Party::Owner, shared)),
            Root::Remote(shared) => Some((Party::Peer, shared)),
            Root::ReadOnly | Root::Global => None,
        }
    }
}

/// PhaseAction `dynamic_shared_slice` is asked for.
#[derive(Debug)]
pub(crate) struct Slice {
    /// The first byte.
    pub(crate) start: NodeId,
    /// The number of elements.
    pub(crate) length: NodeId,
    /// The bytes of one element, if it is a scalar.
    pub(crate) size: Option<u64>,
}

/// An object in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shared {
    /// An array, by its index in `Function::shared`.
    Array(usize),
    /// All of the dynamic shared memory.
    Dynamic,
    /// PhaseAction one `dynamic_shared_slice` gives.
    Slice(usize),
    /// Whatever a device function was given as this parameter.
    Param(usize),
    /// One of several objects; the text does not say which.
    Any,
}

/// A part of memory: of which memory, and how it was selected, dimension by dimension.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    pub(crate) root: Root,
    /// The rank that `map_shared_rank` was given.
    pub(crate) rank: Option<NodeId>,
    pub(crate) path: Vec<Select>,
    /// The last selection has several elements: the next one selects among those.
    pub(crate) open: bool,
}

/// A selection in one dimension.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Select {
    /// The element or row at this index.
    At(NodeId),
    /// The chunk of this number, of chunks of this size.
    Chunk { size: NodeId, index: NodeId },
    /// The elements from one index up to another.
    Range { start: NodeId, end: NodeId },
    /// The first or the second half that `split_at` makes.
    Half { mid: NodeId, second: bool },
    /// A selection that is not understood.
    Unknown,
}

impl Shared {
    /// The object that it is a part of. Objects with different wholes are disjoint, except that `Any` may alias each of them.
    pub(crate) fn whole(self) -> Shared {
        match self {
            Shared::Slice(_) => Shared::Dynamic,
            Shared::Param(_) => Shared::Any,
            Shared::Array(_) | Shared::Dynamic | Shared::Any => self,
        }
    }
}

impl Region {
    /// All of the memory.
    pub(crate) fn of(root: Root) -> Region {
        Region { root, rank: None, path: Vec::new(), open: false }
    }

    /// One element or one row of it.
    pub(crate) fn at(mut self, index: Select) -> Region {
        if !self.open {
            self.path.push(index);
        }
        Region { open: false, ..self }
    }

    /// Several consecutive elements of it.
    pub(crate) fn several(mut self, which: Select) -> Region {
        if !self.open {
            self.path.push(which);
        }
        Region { open: true, ..self }
    }
}

/// An access that the function makes at a step.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) region: Region,
    pub(crate) kind: AccessKind,
    pub(crate) at: SpanRange,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic read.
    AtomicRead,
    /// Any other atomic operation: it writes, and may read.
    Atomic,
    /// Whatever a device function does that the memory is lent to.
    Lent,
    /// A write by an asynchronous copy, which completes on a barrier of the memory's owner.
    AsyncWrite,
    /// Whatever inline CUDA or a method does.
    Opaque,
}

impl AccessKind {
    /// Whether the access may write.
    pub(crate) fn changes(self) -> bool {
        match self {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write | AccessKind::Atomic | AccessKind::AsyncWrite | AccessKind::Lent | AccessKind::Opaque => {
                true
            }
        }
    }
}

/// A step of an asynchronous copy.
#[derive(Debug)]
pub(crate) enum CopyStep {
    /// A copy begins: what it reads and what it writes in shared memory.
    Begin { reads: Option<Region>, writes: Option<Region>, completion: CompletionMechanism, at: SpanRange },
    /// A wait after which all copies that complete in this way may be over.
    Wait(CompletionMechanism),
}
