//! Memory as accesses name it: regions, and the kinds of access.

use phalanx_contract::protocol::Party;

use super::NodeId;
use crate::model::atomic::AtomicAccess;
use crate::model::copy::CompletionMechanism;
use crate::model::{LocalId, SlotId, ValueId};
use crate::span::SpanRange;

/// The memory that is accessed, as far as it matters for whether threads read the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The shared object and its owner; `None` for global memory.
    pub(crate) fn party(self) -> Option<(Party, Shared)> {
        match self {
            Root::Shared(shared) => Some((Party::Owner, shared)),
            Root::Remote(shared) => Some((Party::Peer, shared)),
            Root::ReadOnly | Root::Global => None,
        }
    }
}

/// The operands of a use of `dynamic_shared_slice`.
#[derive(Debug, Clone)]
pub(crate) struct Slice {
    /// The offset of the first byte.
    pub(crate) start: NodeId,
    /// The number of elements.
    pub(crate) length: NodeId,
    /// The size of an element in bytes, if it is a scalar.
    pub(crate) size: Option<u64>,
}

/// An object in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Shared {
    /// An array, by its index in `Function::shared`.
    Array(usize),
    /// All of dynamic shared memory.
    Dynamic,
    /// The slice that one `dynamic_shared_slice` returns.
    Slice(usize),
    /// The argument for this parameter of a device function.
    Param(usize),
    /// One of several objects: the text does not show which.
    Any,
}

/// A part of memory: the memory, and one selection for each dimension.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Region {
    pub(crate) root: Root,
    /// The rank that `map_shared_rank` was called with.
    pub(crate) rank: Option<NodeId>,
    pub(crate) path: Vec<Select>,
    /// Whether the last selection has several elements, so that the next one selects among those.
    pub(crate) open: bool,
    /// Whether it is a part of what the last selection has, of which the text shows no more: an element or a range of a range.
    pub(crate) part: bool,
    /// The index that selects one element of the several that the selection of this number has, if that is what makes it a part.
    pub(crate) inner: Option<(usize, NodeId)>,
    /// The name that leads to it, if that is assigned anew: then the root covers all that the name may stand for, and the path
    /// begins at it.
    pub(crate) via: Option<LocalId>,
    /// The parameter that global memory is a part of, if the text shows which. Two such parameters are disjoint, unless nothing
    /// writes them.
    pub(crate) param: Option<usize>,
}

/// A selection in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Select {
    /// The element or row at this index.
    At(NodeId),
    /// The chunk of this index, among chunks of this size.
    Chunk { size: NodeId, index: NodeId },
    /// The elements from one index up to another.
    Range { start: NodeId, end: NodeId },
    /// The first or the second half that `split_at` makes.
    Half { mid: NodeId, second: bool },
    /// An unknown selection.
    Unknown,
}

impl Shared {
    /// The object that this one is a part of. Objects with different wholes are disjoint, except that `Any` may alias every
    /// other.
    pub(crate) fn whole(self) -> Shared {
        match self {
            Shared::Slice(_) => Shared::Dynamic,
            Shared::Param(_) => Shared::Any,
            Shared::Array(_) | Shared::Dynamic | Shared::Any => self,
        }
    }
}

impl Region {
    /// The ends of the range of elements that it has, if it is one.
    pub(crate) fn ends(&self) -> Option<(NodeId, NodeId)> {
        match self.path.last() {
            Some(Select::Range { start, end }) if self.open && !self.part => Some((*start, *end)),
            _ => None,
        }
    }

    /// All of the memory.
    pub(crate) fn of(root: Root) -> Region {
        Region { root, rank: None, path: Vec::new(), open: false, part: false, inner: None, via: None, param: None }
    }

    /// One element or one row of it.
    pub(crate) fn at(mut self, index: Select) -> Region {
        let inner = match index {
            Select::At(node) if self.open && !self.part => self.path.len().checked_sub(1).map(|last| (last, node)),
            Select::At(_) | Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => {
                self.inner.filter(|_| !self.open)
            }
        };
        if !self.open {
            self.path.push(index);
        }
        Region { open: false, part: self.part || self.open, inner, ..self }
    }

    /// Several consecutive elements of it.
    pub(crate) fn several(mut self, which: Select) -> Region {
        if !self.open {
            self.path.push(which);
        }
        let inner = self.inner.filter(|_| !self.open);
        Region { open: true, part: self.part || self.open, inner, ..self }
    }

    /// Returns the same part of the region that its name stands for.
    pub(crate) fn within(&self, base: &Region) -> Region {
        let root = match (self.root, base.root) {
            (Root::Remote(_), Root::Shared(shared)) => Root::Remote(shared),
            (_, root) => root,
        };
        let selects_inside = base.open && !self.path.is_empty();
        let path = base.path.iter().chain(self.path.iter().skip(usize::from(selects_inside))).copied().collect();
        let open = if self.path.is_empty() { base.open } else { self.open };
        let part = base.part || self.part || selects_inside;
        // Its numbers count from the beginning of its own path.
        let inner = base.inner.filter(|_| self.path.is_empty());
        Region { root, rank: self.rank.or(base.rank), path, open, part, inner, via: base.via, param: base.param }
    }

    /// Forgets a value that is computed anew.
    pub(crate) fn forget(&mut self, node: NodeId) {
        for select in &mut self.path {
            if select.nodes().any(|chosen| chosen == node) {
                *select = Select::Unknown;
            }
        }
        if self.inner.is_some_and(|(_, index)| index == node) {
            self.inner = None;
        }
        if self.rank == Some(node) {
            self.rank = None;
        }
    }
}

impl Select {
    /// The values that select.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        let (first, second) = match *self {
            Select::At(node) | Select::Half { mid: node, .. } => (Some(node), None),
            Select::Chunk { size: a, index: b } | Select::Range { start: a, end: b } => (Some(a), Some(b)),
            Select::Unknown => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// A call of a device function that is given a closure. The closure's body stands in the graph twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenTo {
    /// The body before the call, for calls of the closure before the function's first barrier.
    Before(SlotId),
    /// The body after the call, for calls of the closure after the function's last barrier.
    After(SlotId),
}

impl GivenTo {
    /// The call that is given the closure.
    pub(crate) fn slot(self) -> SlotId {
        let (GivenTo::Before(slot) | GivenTo::After(slot)) = self;
        slot
    }
}

/// An access that the function makes at a step.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) region: Region,
    pub(crate) kind: AccessKind,
    /// The call that is given the closure in which the access stands.
    pub(crate) given_to: Option<GivenTo>,
    /// The completion of the asynchronous copy that makes the access, if one does: what shows that the access is over.
    pub(crate) completion: Option<Completion>,
    /// The atomic operation that makes the access, if one does.
    pub(crate) atomic: Option<AtomicAccess>,
    /// The value that an assignment writes.
    pub(crate) stored: Option<NodeId>,
    /// What it accesses of the region.
    pub(crate) covers: Covers,
    /// Whether it is a value of the source, for which a later arrival of the function can wait.
    pub(crate) reads_value: bool,
    pub(crate) at: SpanRange,
}

/// What an access writes, beyond the value that an assignment stores.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) value: NodeId,
    /// The values of the fields, as far as they are known, by number.
    pub(crate) fields: Vec<(u16, NodeId)>,
}

/// The part of its region that an access certainly accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Covers {
    /// The access is one of the whole region.
    Whole,
    /// A field of it, by its number, or a field of a field.
    Field(Option<u16>),
    /// An element of an array that is a field of it, at this index; without one, some part of what is in the field.
    Item { field: Option<u16>, index: Option<NodeId> },
    /// An element whose method is called: the method may change it, and has nothing else by which a thread could learn of another.
    Receiver,
    /// The access is one of so many elements, from this index on, of the memory that the last selection is made of.
    Vector { first: NodeId, lanes: u64 },
    /// The rows and columns of a matrix from these on, of the memory before the last selection, by all threads of a warp together.
    Matrix { row: NodeId, column: NodeId },
}

impl Covers {
    /// The index of a vector's first element.
    pub(crate) fn first_of_vector(self) -> Option<NodeId> {
        match self {
            Covers::Vector { first, .. } => Some(first),
            Covers::Whole | Covers::Field(_) | Covers::Item { .. } | Covers::Receiver | Covers::Matrix { .. } => None,
        }
    }

    /// The values that select.
    pub(crate) fn nodes(self) -> impl Iterator<Item = NodeId> {
        let (first, second) = match self {
            Covers::Whole | Covers::Field(_) | Covers::Receiver => (None, None),
            Covers::Vector { first, .. } => (Some(first), None),
            Covers::Item { index, .. } => (index, None),
            Covers::Matrix { row, column } => (Some(row), Some(column)),
        };
        first.into_iter().chain(second)
    }
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// A plain read.
    Read,
    /// A plain write.
    Write,
    /// An atomic read.
    AtomicRead,
    /// Any other atomic operation, which writes and may read.
    Atomic,
    /// The accesses of a device function that the memory is lent to.
    Lent,
    /// A write by an asynchronous copy, which completes on a barrier of the memory's owner.
    AsyncWrite,
    /// The accesses of inline CUDA or of a method, which are unknown.
    Opaque,
    /// The accesses of a closure that is a parameter, which only the caller knows.
    ByClosure,
}

impl AccessKind {
    /// Whether the access may write.
    pub(crate) fn changes(self) -> bool {
        match self {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write
            | AccessKind::Atomic
            | AccessKind::AsyncWrite
            | AccessKind::Lent
            | AccessKind::Opaque
            | AccessKind::ByClosure => true,
        }
    }
}

/// The mechanism by which threads learn that an asynchronous copy is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Completion {
    /// A wait at this phase barrier, or at one of this array.
    Barrier(Shared),
    /// A wait of the group that copied.
    Group,
    /// A wait of the thread that started the bulk copy.
    BulkGroup,
    /// A wait of the warpgroup that began the product of matrices.
    Product,
}

impl Completion {
    pub(crate) fn mechanism(self) -> CompletionMechanism {
        match self {
            Completion::Barrier(_) => CompletionMechanism::Barrier,
            Completion::Group => CompletionMechanism::Group,
            Completion::BulkGroup => CompletionMechanism::BulkGroup,
            Completion::Product => CompletionMechanism::Product,
        }
    }
}

/// The threads that make a copy, and what they tell its barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyBy {
    /// The threads of a group, together.
    Group,
    /// One thread, which has let the barrier expect the bytes before.
    Thread,
    /// The threads of a warpgroup, whose product reads tiles, and maybe registers.
    Warpgroup { of_registers: bool },
    /// One thread, and the copy of a tile itself lets the barrier expect the bytes.
    Tile,
    /// One thread, whose multicast writes the tiles of several blocks. The step is the copy to one of them.
    Multicast,
    /// A thread of some block, whose multicast brings the tile. The step only lets the barrier expect the bytes.
    Expected,
}

/// A step of an asynchronous copy.
#[derive(Debug, Clone)]
pub(crate) enum CopyStep {
    /// A copy begins, with the regions of the block's and of global memory that it reads and writes, if other threads can access them
    /// too.
    Begin { reads: Vec<Region>, writes: Option<Region>, completion: Completion, by: CopyBy, at: SpanRange },
    /// A wait after which all copies with this completion may be complete: all but the last ones, if `but` says how many. With
    /// `of_reads`, they have read their sources, and may not have written their destinations. `sums_of` is the product whose sums the wait
    /// returns though it leaves others in flight.
    Wait { completion: Completion, but: Option<ValueId>, of_reads: bool, sums_of: Option<NodeId> },
}

impl CopyStep {
    /// The completion of the copy that the step begins, or of those that it waits for.
    pub(crate) fn completion(&self) -> Completion {
        match self {
            CopyStep::Begin { completion, .. } | CopyStep::Wait { completion, .. } => *completion,
        }
    }
}
