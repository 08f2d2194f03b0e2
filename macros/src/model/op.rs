//! The operations that the language has beyond ordinary Rust: groups, barriers, shared and remote memory, atomics.
//! [`Op`] is closed, and each check and each printer matches it without a wildcard, so that a new operation does not
//! compile until all of them handle it. Value methods, which every type has, are a table ([`VALUE_METHODS`]).

use super::ty::{Group, Kind, Memory};

/// An operation. Operands are the receiver first, then the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// `this_cluster()` and its like.
    This(Group),
    /// `group.thread_rank()`
    Query(Group, &'static Query),
    /// `group.sync()`
    Sync(Group),
    /// `group.barrier_arrive()`
    Arrive(Group),
    /// `group.barrier_wait(token)`
    Wait(Group),
    /// `cluster.map_shared_rank(&array, rank)`, of an array or of dynamic shared memory.
    MapSharedRank(Memory),
    /// `cluster.query_shared_rank(&array)`
    QuerySharedRank,
    /// `shared_array::<T, N>()`: the index into `Function::shared`.
    SharedArray(usize),
    /// `dynamic_shared::<T>()`
    DynamicShared,
    /// `memory.len()`
    Length,
    /// `*memory.get_unchecked(i)`
    LoadUnchecked,
    /// `memory.atomic(i).fetch_add(x, Relaxed)`: memory, index, operands.
    Atomic(&'static AtomicMethod),
    /// `option.is_some()` and its like.
    Is(Variant),
    /// `option.take()`
    Take,
    /// `option.unwrap()`, `option.expect("message")`: what it says is its site's message.
    Unwrap,
    /// `option.unwrap_or(value)`
    UnwrapOr,
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
            Op::This(group) => plain(Kind::Group(group)),
            Op::Query(_, query) => plain(if query.extent { Kind::Extent } else { Kind::Value }),
            Op::Sync(group) => Facts { collective: Some(group), effect: Effect::Changes, ..plain(Kind::Unit) },
            Op::Arrive(group) => Facts {
                collective: Some(group),
                produces: Some(group),
                effect: Effect::Changes,
                ..plain(Kind::Token(group))
            },
            Op::Wait(group) => {
                Facts { collective: Some(group), consumes: Some(group), effect: Effect::Changes, ..plain(Kind::Unit) }
            }
            Op::MapSharedRank(memory) => {
                let remote = match memory {
                    Memory::DynamicShared => Memory::RemoteSlice,
                    Memory::SharedArray
                    | Memory::Global
                    | Memory::GlobalMut
                    | Memory::RemoteArray
                    | Memory::RemoteSlice => Memory::RemoteArray,
                };
                Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Memory(remote)) }
            }
            Op::QuerySharedRank | Op::Length => plain(Kind::Value),
            Op::SharedArray(_) => plain(Kind::Memory(Memory::SharedArray)),
            Op::DynamicShared => plain(Kind::Memory(Memory::DynamicShared)),
            // As in Rust, a reference: `*` reads it.
            Op::LoadUnchecked => Facts { effect: Effect::Reads, ..plain(Kind::Reference { mutable: false }) },
            Op::Atomic(method) => Facts { effect: Effect::Changes, fails: true, ..plain(method.result) },
            Op::Take => Facts { effect: Effect::Changes, ..plain(Kind::OptionalToken(None)) },
            Op::Is(_) | Op::UnwrapOr => Facts { effect: Effect::Reads, ..plain(Kind::Value) },
            Op::Unwrap => Facts { effect: Effect::Reads, fails: true, ..plain(Kind::Value) },
        }
    }
}

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

/// CUDA C++ Programming Guide, Cooperative Groups, implicit groups: `thread_block`.
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
    pub(crate) fn queries(self) -> &'static [Query] {
        match self {
            Group::ThreadBlock => &BLOCK_QUERIES,
            Group::Cluster => &CLUSTER_QUERIES,
            Group::Grid => &GRID_QUERIES,
        }
    }
}

/// A method of `std::sync::atomic`'s integers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AtomicMethod {
    pub(crate) name: &'static str,
    /// Operands before the orderings.
    pub(crate) operands: usize,
    pub(crate) orderings: usize,
    pub(crate) result: Kind,
}

const fn atomic(name: &'static str, operands: usize, orderings: usize, result: Kind) -> AtomicMethod {
    AtomicMethod { name, operands, orderings, result }
}

pub(crate) static ATOMIC_METHODS: [AtomicMethod; 11] = [
    atomic("load", 0, 1, Kind::Value),
    atomic("store", 1, 1, Kind::Unit),
    atomic("swap", 1, 1, Kind::Value),
    atomic("fetch_add", 1, 1, Kind::Value),
    atomic("fetch_sub", 1, 1, Kind::Value),
    atomic("fetch_min", 1, 1, Kind::Value),
    atomic("fetch_max", 1, 1, Kind::Value),
    atomic("fetch_and", 1, 1, Kind::Value),
    atomic("fetch_or", 1, 1, Kind::Value),
    atomic("fetch_xor", 1, 1, Kind::Value),
    atomic("compare_exchange", 2, 2, Kind::Value),
];

/// Rust's methods on scalars that kernels have, with the number of arguments beside the receiver. In both texts they
/// are functions of the same name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ValueMethod {
    pub(crate) name: &'static str,
    pub(crate) arguments: usize,
    /// Can fail at run time.
    pub(crate) fails: bool,
}

const fn method(name: &'static str, arguments: usize) -> ValueMethod {
    ValueMethod { name, arguments, fails: false }
}

pub(crate) static VALUE_METHODS: [ValueMethod; 21] = [
    method("min", 1),
    method("max", 1),
    method("abs", 0),
    method("sqrt", 0),
    method("mul_add", 2),
    method("wrapping_add", 1),
    method("wrapping_sub", 1),
    method("wrapping_mul", 1),
    ValueMethod { name: "wrapping_div", arguments: 1, fails: true },
    ValueMethod { name: "wrapping_rem", arguments: 1, fails: true },
    method("wrapping_neg", 0),
    method("wrapping_abs", 0),
    method("wrapping_shl", 1),
    method("wrapping_shr", 1),
    method("wrapping_pow", 1),
    method("count_ones", 0),
    method("count_zeros", 0),
    method("leading_zeros", 0),
    method("trailing_zeros", 0),
    method("rotate_left", 1),
    method("rotate_right", 1),
];
