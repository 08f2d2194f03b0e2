//! The operations that the language adds to ordinary Rust: groups, barriers, shared and remote memory, atomics. [`Op`]
//! is closed, and each check and each printer matches it without a wildcard, so that a new operation does not compile
//! until all of them handle it. Numeric functions are a table of their own (`method`).

#![warn(clippy::wildcard_enum_match_arm)]

use super::atomic::{AtomicUse, MemoryOrder, MemoryScope};
use super::barrier::{Barrier, PhaseAction, PhaseMethod};
use super::copy::CopyOp;
use super::group::Group;
use super::group_barrier::BarrierMethod;
use super::kind::Memory;
use super::query::Query;
use super::warp::WarpMethod;
use super::{SlotId, ValueId};

/// An operation. Its operands are the receiver, then the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `this_cluster()` and its like, `coalesced_threads()` among them.
    This(Group),
    /// `tiled_partition::<N>(&group)`, of a block or a tile.
    TiledPartition(Group, ValueId),
    /// `labeled_partition(&group, label)` and `binary_partition(&group, predicate)`: the function's name.
    Partition(Group, &'static str),
    /// `tile.shfl(value, 0)` and the other collectives of a warp.
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
    /// `token.forget()`
    Forget(Group),
    /// `cluster.map_shared_rank(&array, rank)`, of an array or of dynamic shared memory.
    MapSharedRank(Memory),
    /// `cluster.query_shared_rank(&array)`
    QuerySharedRank,
    /// `shared_array::<T, N>()`: the index into `Function::shared`.
    SharedArray(usize),
    /// `shared_barrier()` and its like: the barrier, and the index into `Function::shared`.
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
    /// `warp.load_matrix(&tile, row, column)`: the slot of the matrix's type, which the text names.
    LoadMatrix { stored: Stored, matrix: SlotId },
    /// `warp.store_matrix(&tile, row, column, matrix)`
    StoreMatrix { stored: Stored },
    /// `warpgroup.mma_async(sum, &a, &b)`: the slot of the result's type, which the text names, and how the right tile is taken.
    MmaAsync { product: SlotId, left: LeftOperand, right: Stored },
    /// `warpgroup.wait_mma(product)`, `warpgroup.wait_mma_prior::<1>()`
    MmaWait { prior: Option<ValueId> },
    /// `warpgroup.wait_mma_except_last(product)`, with the number of products that it leaves in flight
    MmaWaitExceptLast { one: ValueId },
    /// `warpgroup.increase_registers::<232>()` and its opposite, with the number of registers.
    ChangeRegisters { change: RegisterChange, count: ValueId },
    /// `memory.len()`
    Length,
    /// `memory.is_empty()`
    IsEmpty,
    /// `*memory.get_unchecked(i)`
    LoadUnchecked,
    /// `memory.atomic(i).fetch_add(x, Relaxed)`: memory, index, operands.
    Atomic(AtomicUse),
    /// `fence(AcqRel, Scope::Cluster)`
    Fence(MemoryOrder, MemoryScope),
    /// `nanosleep(duration)`
    Nanosleep,
    /// `launch_dependents()`
    LaunchDependents,
    /// `wait_previous()`
    WaitPrevious,
    /// `memcpy_async(...)` and its like.
    Copy(CopyOp),
    /// `option.is_some()` and its like.
    Is(Variant),
    /// `option.take()`
    Take,
    /// `option.unwrap()`, `option.expect("message")`: the message is that of the site.
    Unwrap,
    /// `option.unwrap_or(value)`
    UnwrapOr,
}

/// The form of a part of memory, which decides the operands after the memory.
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
    /// An item of `memory.chunks_exact(size)`, of which there are `index + 1` at least.
    ExactChunk,
    /// `&array[..]` of an array that is no memory, as which a device function takes it.
    Array,
}

/// How a matrix lies in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    /// Row by row, as it is.
    ByRows,
    /// Its transpose lies there row by row.
    Transposed,
}

/// Where the left operand of a warpgroup's product is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOperand {
    /// In shared memory, as the right one.
    Tile(Stored),
    /// In the registers of the threads.
    Registers,
}

impl LeftOperand {
    /// Returns the name of the method of the host API.
    pub(crate) fn method(self) -> &'static str {
        match self {
            LeftOperand::Tile(_) => "mma_async",
            LeftOperand::Registers => "mma_async_of_registers",
        }
    }

    /// Returns how the tile is taken, if it is one.
    pub(crate) fn stored(self) -> Stored {
        match self {
            LeftOperand::Tile(stored) => stored,
            LeftOperand::Registers => Stored::ByRows,
        }
    }
}

/// How a warpgroup changes the number of its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegisterChange {
    /// Each thread gets more.
    Increase,
    /// Each thread gives some back.
    Decrease,
}

impl RegisterChange {
    pub(crate) const ALL: [RegisterChange; 2] = [RegisterChange::Increase, RegisterChange::Decrease];

    /// Returns the name of the method, and of the prelude's function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RegisterChange::Increase => "increase_registers",
            RegisterChange::Decrease => "decrease_registers",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<RegisterChange> {
        RegisterChange::ALL.into_iter().find(|change| change.name() == name)
    }
}

/// A variant of `Option` or `Result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Some,
    None,
    Ok,
    Err,
}

impl Stored {
    pub(crate) const ALL: [Stored; 2] = [Stored::ByRows, Stored::Transposed];

    pub(crate) fn of_load(name: &str) -> Option<Stored> {
        Stored::ALL.into_iter().find(|stored| stored.load() == name)
    }

    pub(crate) fn of_store(name: &str) -> Option<Stored> {
        Stored::ALL.into_iter().find(|stored| stored.store() == name)
    }

    /// Returns the name of the method that loads a matrix, in Rust and in CUDA C++.
    pub(crate) fn load(self) -> &'static str {
        match self {
            Stored::ByRows => "load_matrix",
            Stored::Transposed => "load_matrix_transposed",
        }
    }

    /// Returns the name of the method that stores a matrix, in Rust and in CUDA C++.
    pub(crate) fn store(self) -> &'static str {
        match self {
            Stored::ByRows => "store_matrix",
            Stored::Transposed => "store_matrix_transposed",
        }
    }
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

    /// Returns the name of the method that tests for the variant.
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

impl Op {
    /// Whether this, as an argument, may be an element of memory that no thread writes: `&memory[i]`, which is a slice if the
    /// element is an array. Only rustc knows.
    pub(crate) fn lends_element(self) -> bool {
        matches!(self, Op::Part { form: Part::Row, of: Memory::Global, mutable: false })
    }

    /// Returns how a timeline records the operation, numbered as in profile.cuh: whether it arrives (1), waits (2) or
    /// does both (3), and at the barrier of which group; a phase barrier is the fourth.
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
            Op::Barrier(_, method) => match method.action {
                PhaseAction::Arrive | PhaseAction::ArriveN => Some((1, 3)),
                PhaseAction::Wait | PhaseAction::WaitParity => Some((2, 3)),
                PhaseAction::ArriveAndWait => Some((3, 3)),
                PhaseAction::Init
                | PhaseAction::InitCollective
                | PhaseAction::ArriveAndDrop
                | PhaseAction::TryWait
                | PhaseAction::ExpectTx
                | PhaseAction::Copy
                | PhaseAction::Invalidate => None,
            },
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Warp(..)
            | Op::Query(..)
            | Op::Uniform(_)
            | Op::Forget(_)
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
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::MmaAsync { .. }
            | Op::MmaWait { .. }
            | Op::MmaWaitExceptLast { .. }
            | Op::ChangeRegisters { .. }
            | Op::Length
            | Op::IsEmpty
            | Op::LoadUnchecked
            | Op::Atomic(_)
            | Op::Fence(..)
            | Op::Nanosleep
            | Op::LaunchDependents
            | Op::WaitPrevious
            | Op::Copy(_)
            | Op::Is(_)
            | Op::Take
            | Op::Unwrap
            | Op::UnwrapOr => None,
        }
    }
}

/// The methods of global, shared and remote memory.
pub(crate) static MEMORY_METHODS: [&str; 12] = [
    "len",
    "is_empty",
    "atomic",
    "load_vec",
    "store_vec",
    "store_async",
    "split_at",
    "split_at_mut",
    "chunks",
    "chunks_mut",
    "get_unchecked",
    "get_unchecked_mut",
];
