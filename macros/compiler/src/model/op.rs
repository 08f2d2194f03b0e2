//! The operations that the language has beyond ordinary Rust: groups, barriers, shared and remote memory, atomics.
//! [`Op`] is closed, and each check and each printer matches it without a wildcard, so that a new operation does not
//! compile until all of them handle it. The functions of numbers are a table
//! of their own (`method`).

use super::ValueId;
use super::atomic::{AtomicUse, Order, Scope};
use super::barrier::{Barrier, BarrierForm, PhaseMethod, What};
use super::copy::CopyOp;
use super::ty::{Group, Kind, Memory};
use super::warp::WarpMethod;

/// An operation. Operands are the receiver first, then the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `this_cluster()` and its like, `coalesced_threads()` among them.
    This(Group),
    /// `tiled_partition::<N>(&group)`, of a block or a tile.
    TiledPartition(Group, ValueId),
    /// `labeled_partition(&group, label)` and `binary_partition(&group, predicate)`: the function's name.
    Partition(Group, &'static str),
    /// `tile.shfl(value, 0)` and what else the threads of a warp do together.
    Warp(Group, &'static WarpMethod),
    /// `group.thread_rank()`
    Query(Group, &'static Query),
    /// `group.sync()`
    Sync(Group, &'static BarrierMethod),
    /// `group.uniform(value)`
    Uniform(Group),
    /// `group.barrier_arrive()`
    Arrive(Group, &'static BarrierMethod),
    /// `group.barrier_wait(token)`
    Wait(Group, &'static BarrierMethod),
    /// `cluster.map_shared_rank(&array, rank)`, of an array or of dynamic shared memory.
    MapSharedRank(Memory),
    /// `cluster.query_shared_rank(&array)`
    QuerySharedRank,
    /// `shared_array::<T, N>()`: the index into `Function::shared`.
    SharedArray(usize),
    /// `shared_barrier()` and its like: what it makes, and the index into `Function::shared`.
    SharedBarrier(Barrier, usize),
    /// `bar.arrive()` and its like.
    Barrier(Barrier, &'static PhaseMethod),
    /// `cluster.map_shared_rank(&bar, rank)`
    MapBarrier(Barrier),
    /// `dynamic_shared::<T>()`
    DynamicShared,
    /// `dynamic_shared_slice::<T>(offset, length)`
    DynamicSharedSlice,
    /// `&memory[a..b]` and its like.
    Part { form: Part, of: Memory, mutable: bool },
    /// `memory.split_at(mid)`, as the value of a `let`.
    SplitAt { of: Memory, mutable: bool },
    /// `memory.load_vec::<N>(i)`
    LoadVec(ValueId),
    /// `memory.store_vec(i, v)`
    StoreVec,
    /// `memory.len()`
    Length,
    /// `memory.is_empty()`
    IsEmpty,
    /// `*memory.get_unchecked(i)`
    LoadUnchecked,
    /// `memory.atomic(i).fetch_add(x, Relaxed)`: memory, index, operands.
    Atomic(AtomicUse),
    /// `fence(AcqRel, Scope::Cluster)`
    Fence(Order, Scope),
    /// `memcpy_async(...)` and its like.
    Copy(CopyOp),
    /// `option.is_some()` and its like.
    Is(Variant),
    /// `option.take()`
    Take,
    /// `option.unwrap()`, `option.expect("message")`: what it says is its site's message.
    Unwrap,
    /// `option.unwrap_or(value)`
    UnwrapOr,
}

/// Which part of memory: the operands after the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `&memory[start..end]`
    Range,
    /// `&memory[start..=end]`
    Inclusive,
    /// `&memory[start..]`
    From,
    /// `&memory[index]`, where the elements are arrays.
    Row,
    /// `&memory.chunks(size)[index]`
    Chunk,
}

/// A variant of `Option` or `Result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Some,
    None,
    Ok,
    Err,
}

impl Variant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Variant::Some => "Some",
            Variant::None => "None",
            Variant::Ok => "Ok",
            Variant::Err => "Err",
        }
    }

    /// The method that asks for it.
    pub(crate) fn test(self) -> &'static str {
        match self {
            Variant::Some => "is_some",
            Variant::None => "is_none",
            Variant::Ok => "is_ok",
            Variant::Err => "is_err",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Variant> {
        [Variant::Some, Variant::None, Variant::Ok, Variant::Err].into_iter().find(|variant| variant.name() == name)
    }
}

/// What the checks need to know of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Every thread of this group must execute it together.
    pub(crate) collective: Option<Group>,
    /// Gives an arrival token of this group.
    pub(crate) produces: Option<Group>,
    /// Consumes an arrival token of this group.
    pub(crate) consumes: Option<Group>,
    /// Order against other operands matters.
    pub(crate) effect: Effect,
    /// Can fail at run time, and so has a site.
    pub(crate) fails: bool,
    pub(crate) result: Kind,
}

/// Whether an operand may be evaluated in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effect {
    /// Gives the same value whenever it is evaluated.
    Pure,
    /// Reads what others may change, or may fail.
    Reads,
    /// Changes something.
    Changes,
}

impl Op {
    pub(crate) fn facts(self) -> Facts {
        let plain = |result| Facts {
            collective: None,
            produces: None,
            consumes: None,
            effect: Effect::Pure,
            fails: false,
            result,
        };
        match self {
            // Who is here together depends on the place.
            Op::This(group @ Group::Coalesced) => Facts { effect: Effect::Changes, ..plain(Kind::Group(group)) },
            Op::This(group) => plain(Kind::Group(group)),
            Op::TiledPartition(Group::ThreadBlock, _) => {
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Group(Group::Tile)) }
            }
            Op::TiledPartition(..) => plain(Kind::Group(Group::Tile)),
            Op::Partition(group, _) => {
                Facts { collective: Some(group), effect: Effect::Changes, ..plain(Kind::Group(Group::Coalesced)) }
            }
            Op::Warp(group, _) => Facts { collective: Some(group), effect: Effect::Changes, ..plain(Kind::Value) },
            Op::Query(_, query) => plain(if query.extent { Kind::Extent } else { Kind::Value }),
            // No barrier: other collectives may be pending.
            Op::Uniform(_) => Facts { effect: Effect::Changes, ..plain(Kind::Value) },
            Op::Sync(group, _) => Facts { collective: Some(group), effect: Effect::Changes, ..plain(Kind::Unit) },
            Op::Arrive(group, _) => Facts {
                collective: Some(group),
                produces: Some(group),
                effect: Effect::Changes,
                ..plain(Kind::Token(group))
            },
            Op::Wait(group, _) => {
                Facts { collective: Some(group), consumes: Some(group), effect: Effect::Changes, ..plain(Kind::Unit) }
            }
            Op::MapSharedRank(memory) => {
                let remote = match memory {
                    Memory::SharedSlice => Memory::RemoteSlice,
                    Memory::SharedArray
                    | Memory::Global
                    | Memory::GlobalMut
                    | Memory::RemoteArray
                    | Memory::RemoteSlice => Memory::RemoteArray,
                };
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Memory(remote)) }
            }
            Op::QuerySharedRank | Op::Length | Op::IsEmpty => plain(Kind::Value),
            Op::SharedArray(_) => plain(Kind::Memory(Memory::SharedArray)),
            Op::SharedBarrier(barrier, _) => plain(Kind::Barrier(barrier)),
            Op::Barrier(barrier, method) => method.facts(barrier.scope),
            Op::MapBarrier(barrier) => {
                let remote = Barrier { form: BarrierForm::Remote, ..barrier };
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Barrier(remote)) }
            }
            Op::DynamicShared => plain(Kind::Memory(Memory::SharedSlice)),
            Op::DynamicSharedSlice => {
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Memory(Memory::SharedSlice)) }
            }
            Op::Part { of, mutable, .. } | Op::SplitAt { of, mutable } => {
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Memory(of.part(mutable))) }
            }
            Op::LoadVec(_) => Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Value) },
            Op::StoreVec => Facts { effect: Effect::Changes, fails: true, ..plain(Kind::Unit) },
            // As in Rust, a reference: `*` reads it.
            Op::LoadUnchecked => Facts { effect: Effect::Reads, ..plain(Kind::Reference { mutable: false }) },
            Op::Atomic(atomic) => Facts { effect: Effect::Changes, fails: true, ..plain(atomic.method.result) },
            Op::Copy(copy) => copy.facts(),
            Op::Fence(..) => Facts { effect: Effect::Changes, ..plain(Kind::Unit) },
            Op::Take => Facts { effect: Effect::Changes, ..plain(Kind::OptionalToken(None)) },
            Op::Is(_) | Op::UnwrapOr => Facts { effect: Effect::Reads, ..plain(Kind::Value) },
            Op::Unwrap => Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Value) },
        }
    }

    /// What a timeline tells of it, as profile.cuh numbers it: whether it arrives (1), waits (2) or both (3), and at the
    /// barrier of which group; a phase barrier is the fourth.
    pub(crate) fn recorded(self) -> Option<(u32, u32)> {
        let number = |group: Group| match group {
            Group::ThreadBlock => Some(0),
            Group::Cluster => Some(1),
            Group::Grid => Some(2),
            Group::Tile | Group::Coalesced => None,
        };
        match self {
            Op::Arrive(group, _) => Some((1, number(group)?)),
            Op::Wait(group, _) => Some((2, number(group)?)),
            Op::Sync(group, _) => Some((3, number(group)?)),
            Op::Barrier(_, method) => match method.what {
                What::Arrive | What::ArriveMany => Some((1, 3)),
                What::Wait | What::WaitParity => Some((2, 3)),
                What::ArriveAndWait => Some((3, 3)),
                What::Init
                | What::InitTogether
                | What::Drop
                | What::Try
                | What::Expect
                | What::Copy
                | What::Invalidate => None,
            },
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Warp(..)
            | Op::Query(..)
            | Op::Uniform(_)
            | Op::MapSharedRank(_)
            | Op::QuerySharedRank
            | Op::SharedArray(_)
            | Op::SharedBarrier(..)
            | Op::MapBarrier(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::Part { .. }
            | Op::SplitAt { .. }
            | Op::LoadVec(_)
            | Op::StoreVec
            | Op::Length
            | Op::IsEmpty
            | Op::LoadUnchecked
            | Op::Atomic(_)
            | Op::Fence(..)
            | Op::Copy(_)
            | Op::Is(_)
            | Op::Take
            | Op::Unwrap
            | Op::UnwrapOr => None,
        }
    }
}

/// What a thread does at its group's barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarrierOperation {
    Sync,
    Arrive,
    Wait,
}

/// The method for it, with PTX's modifiers (PTX ISA, barrier{.cta} and barrier.cluster).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BarrierMethod {
    pub(crate) name: &'static str,
    pub(crate) operation: BarrierOperation,
    /// The arrival publishes nothing, and waits for nothing that was begun before.
    pub(crate) relaxed: bool,
    /// All threads of a warp execute it together, whatever rule is switched off.
    pub(crate) aligned: bool,
}

const fn barrier(name: &'static str, operation: BarrierOperation) -> BarrierMethod {
    BarrierMethod { name, operation, relaxed: false, aligned: false }
}

static BARRIER_METHODS: [BarrierMethod; 8] = [
    barrier("sync", BarrierOperation::Sync),
    barrier("barrier_arrive", BarrierOperation::Arrive),
    barrier("barrier_wait", BarrierOperation::Wait),
    BarrierMethod { aligned: true, ..barrier("sync_aligned", BarrierOperation::Sync) },
    BarrierMethod { relaxed: true, ..barrier("barrier_arrive_relaxed", BarrierOperation::Arrive) },
    BarrierMethod { aligned: true, ..barrier("barrier_arrive_aligned", BarrierOperation::Arrive) },
    BarrierMethod {
        relaxed: true,
        aligned: true,
        ..barrier("barrier_arrive_relaxed_aligned", BarrierOperation::Arrive)
    },
    BarrierMethod { aligned: true, ..barrier("barrier_wait_aligned", BarrierOperation::Wait) },
];

/// A question to a group that has the same name in Rust and in CUDA.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) name: &'static str,
    /// The answer is a `Dim3`.
    pub(crate) extent: bool,
}

const fn number(name: &'static str) -> Query {
    Query { name, extent: false }
}

const fn extent(name: &'static str) -> Query {
    Query { name, extent: true }
}

/// CUDA C++ Programming Guide, Cooperative Groups, explicit groups: `thread_block_tile` and `coalesced_group`.
static WARP_QUERIES: [Query; 5] = [
    number("thread_rank"),
    number("num_threads"),
    number("size"),
    number("meta_group_rank"),
    number("meta_group_size"),
];

/// The same, implicit groups: `thread_block`.
static BLOCK_QUERIES: [Query; 7] = [
    number("thread_rank"),
    number("num_threads"),
    number("size"),
    extent("thread_index"),
    extent("group_index"),
    extent("dim_threads"),
    extent("group_dim"),
];

/// The same, `cluster_group`.
static CLUSTER_QUERIES: [Query; 8] = [
    number("thread_rank"),
    number("num_threads"),
    number("size"),
    number("block_rank"),
    number("num_blocks"),
    extent("block_index"),
    extent("dim_blocks"),
    extent("dim_threads"),
];

/// The same, `grid_group`.
static GRID_QUERIES: [Query; 11] = [
    number("thread_rank"),
    number("num_threads"),
    number("size"),
    number("block_rank"),
    number("num_blocks"),
    number("cluster_rank"),
    number("num_clusters"),
    extent("block_index"),
    extent("dim_blocks"),
    extent("cluster_index"),
    extent("dim_clusters"),
];

impl Group {
    /// What its barrier has. Only the cluster's is all modified: the block's arrival and wait are an mbarrier's.
    pub(crate) fn barrier_methods(self) -> impl Iterator<Item = &'static BarrierMethod> {
        BARRIER_METHODS.iter().filter(move |method| match (self, method.operation) {
            (Group::Cluster, _) => true,
            (Group::ThreadBlock, BarrierOperation::Sync) => true,
            (Group::ThreadBlock | Group::Grid, _) => !method.aligned && !method.relaxed,
            (Group::Coalesced | Group::Tile, BarrierOperation::Sync) => !method.aligned,
            (Group::Coalesced | Group::Tile, BarrierOperation::Arrive | BarrierOperation::Wait) => false,
        })
    }

    pub(crate) fn queries(self) -> &'static [Query] {
        match self {
            Group::Coalesced | Group::Tile => &WARP_QUERIES,
            Group::ThreadBlock => &BLOCK_QUERIES,
            Group::Cluster => &CLUSTER_QUERIES,
            Group::Grid => &GRID_QUERIES,
        }
    }
}

/// What global, shared and remote memory has.
pub(crate) static MEMORY_METHODS: [&str; 11] = [
    "len",
    "is_empty",
    "atomic",
    "load_vec",
    "store_vec",
    "split_at",
    "split_at_mut",
    "chunks",
    "chunks_mut",
    "get_unchecked",
    "get_unchecked_mut",
];
