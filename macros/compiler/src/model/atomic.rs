//! Atomics: their methods, the memory orders that each may have, and the memory scopes.

#![warn(clippy::wildcard_enum_match_arm)]

use super::kind::Kind;

/// A memory order: `std::sync::atomic::Ordering`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl MemoryOrder {
    pub(crate) const ALL: [MemoryOrder; 5] =
        [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel, MemoryOrder::SeqCst];

    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "Relaxed",
            MemoryOrder::Acquire => "Acquire",
            MemoryOrder::Release => "Release",
            MemoryOrder::AcqRel => "AcqRel",
            MemoryOrder::SeqCst => "SeqCst",
        }
    }

    /// Whether a fence of this order releases: what is sequenced before it happens-before what another thread does
    /// after it synchronizes with the fence.
    pub(crate) fn releases(self) -> bool {
        match self {
            MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst => true,
            MemoryOrder::Relaxed | MemoryOrder::Acquire => false,
        }
    }

    /// Whether an atomic of this order acquires.
    pub(crate) fn acquires(self) -> bool {
        match self {
            MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst => true,
            MemoryOrder::Relaxed | MemoryOrder::Release => false,
        }
    }

    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            MemoryOrder::Relaxed => "relaxed",
            MemoryOrder::Acquire => "acquire",
            MemoryOrder::Release => "release",
            MemoryOrder::AcqRel => "acq_rel",
            MemoryOrder::SeqCst => "seq_cst",
        }
    }
}

/// The scope of an atomic or a fence: `phalanx::Scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryScope {
    Block,
    Cluster,
    Device,
    System,
}

impl MemoryScope {
    pub(crate) const ALL: [MemoryScope; 4] =
        [MemoryScope::Block, MemoryScope::Cluster, MemoryScope::Device, MemoryScope::System];

    /// Whether the scope includes all threads of a cluster.
    pub(crate) fn includes_cluster(self) -> bool {
        match self {
            MemoryScope::Cluster | MemoryScope::Device | MemoryScope::System => true,
            MemoryScope::Block => false,
        }
    }

    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            MemoryScope::Block => "Block",
            MemoryScope::Cluster => "Cluster",
            MemoryScope::Device => "Device",
            MemoryScope::System => "System",
        }
    }

    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            MemoryScope::Block => "block_scope",
            MemoryScope::Cluster => "cluster_scope",
            MemoryScope::Device => "device_scope",
            MemoryScope::System => "system_scope",
        }
    }
}

/// A method together with the constants of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtomicUse {
    pub(crate) method: &'static AtomicMethod,
    /// The scope of the operation; `None` is the scope of the memory.
    pub(crate) scope: Option<MemoryScope>,
    /// The memory orders, as many as the method has.
    pub(crate) orders: [Option<MemoryOrder>; 2],
}

/// A method of `std::sync::atomic`'s integers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AtomicMethod {
    pub(crate) name: &'static str,
    /// The number of operands before the memory orders.
    pub(crate) operands: usize,
    /// The orders that each of the method's orderings may be.
    pub(crate) orders: &'static [&'static [MemoryOrder]],
    pub(crate) access: AtomicAccess,
    pub(crate) result: Kind,
}

/// The accesses that an atomic performs on its element. No two threads need get the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicAccess {
    Load,
    Store,
    /// It writes the element, whatever it held, and returns that.
    Exchange,
    /// It reads the element and may write it, depending on what it held.
    Update,
}

impl AtomicMethod {
    pub(crate) fn by_name(name: &str) -> Option<&'static AtomicMethod> {
        let known = ATOMIC_METHODS.iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::ATOMIC_METHODS);
        known.into_iter().find(|method| method.name == name)
    }
}

const LOADS: &[MemoryOrder] = &[MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::SeqCst];
const STORES: &[MemoryOrder] = &[MemoryOrder::Relaxed, MemoryOrder::Release, MemoryOrder::SeqCst];
const UPDATES: &[MemoryOrder] = &MemoryOrder::ALL;
/// The memory orders that a fence may have.
pub(crate) const FENCES: &[MemoryOrder] =
    &[MemoryOrder::Acquire, MemoryOrder::Release, MemoryOrder::AcqRel, MemoryOrder::SeqCst];

const fn update(name: &'static str) -> AtomicMethod {
    AtomicMethod { name, operands: 1, orders: &[UPDATES], access: AtomicAccess::Update, result: Kind::Value }
}

const fn exchange(name: &'static str) -> AtomicMethod {
    AtomicMethod { name, operands: 2, orders: &[UPDATES, LOADS], access: AtomicAccess::Update, result: Kind::Value }
}

pub(crate) static ATOMIC_METHODS: [AtomicMethod; 13] = [
    AtomicMethod { name: "load", operands: 0, orders: &[LOADS], access: AtomicAccess::Load, result: Kind::Value },
    AtomicMethod { name: "store", operands: 1, orders: &[STORES], access: AtomicAccess::Store, result: Kind::Unit },
    AtomicMethod { access: AtomicAccess::Exchange, ..update("swap") },
    update("fetch_add"),
    update("fetch_sub"),
    update("fetch_min"),
    update("fetch_max"),
    update("fetch_and"),
    update("fetch_or"),
    update("fetch_xor"),
    update("fetch_nand"),
    exchange("compare_exchange"),
    exchange("compare_exchange_weak"),
];
