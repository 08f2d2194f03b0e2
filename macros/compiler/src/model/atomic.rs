//! Atomics: their methods, the orders that each may have, and the scopes.

#![warn(clippy::wildcard_enum_match_arm)]

use super::kind::Kind;

/// `std::sync::atomic::Ordering`
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

    /// As a fence: what came before it is seen by who sees what comes after it.
    pub(crate) fn releases(self) -> bool {
        match self {
            MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst => true,
            MemoryOrder::Relaxed | MemoryOrder::Acquire => false,
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

/// `phalanx::Scope`
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

    /// Whether the threads of a cluster are among those that it is for.
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

/// A method with all that is constant about its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtomicUse {
    pub(crate) method: &'static AtomicMethod,
    /// `None` is the memory's own.
    pub(crate) scope: Option<MemoryScope>,
    /// As many as the method has.
    pub(crate) orders: [Option<MemoryOrder>; 2],
}

/// A method of `std::sync::atomic`'s integers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AtomicMethod {
    pub(crate) name: &'static str,
    /// Operands before the orderings.
    pub(crate) operands: usize,
    /// The orders that each ordering may be.
    pub(crate) orders: &'static [&'static [MemoryOrder]],
    pub(crate) access: AtomicAccess,
    pub(crate) result: Kind,
}

/// What an atomic does to its element. Nobody else need see the value that it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomicAccess {
    Load,
    Store,
    /// Reads the element and writes it, or may.
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
/// Of a fence.
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
    update("swap"),
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
