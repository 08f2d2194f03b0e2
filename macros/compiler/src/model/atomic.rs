//! Atomics: their methods, the orders that each may have, and the scopes.

#![warn(clippy::wildcard_enum_match_arm)]

use super::kind::Kind;

/// `std::sync::atomic::Ordering`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    pub(crate) const ALL: [Order; 5] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            Order::Relaxed => "Relaxed",
            Order::Acquire => "Acquire",
            Order::Release => "Release",
            Order::AcqRel => "AcqRel",
            Order::SeqCst => "SeqCst",
        }
    }

    /// As a fence: what came before it is seen by who sees what comes after it.
    pub(crate) fn releases(self) -> bool {
        match self {
            Order::Release | Order::AcqRel | Order::SeqCst => true,
            Order::Relaxed | Order::Acquire => false,
        }
    }

    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
            Order::SeqCst => "seq_cst",
        }
    }
}

/// `phalanx::Scope`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

impl Scope {
    pub(crate) const ALL: [Scope; 4] = [Scope::Block, Scope::Cluster, Scope::Device, Scope::System];

    /// Whether the threads of a cluster are among those that it is for.
    pub(crate) fn has_cluster(self) -> bool {
        match self {
            Scope::Cluster | Scope::Device | Scope::System => true,
            Scope::Block => false,
        }
    }

    pub(crate) fn rust_name(self) -> &'static str {
        match self {
            Scope::Block => "Block",
            Scope::Cluster => "Cluster",
            Scope::Device => "Device",
            Scope::System => "System",
        }
    }

    pub(crate) fn cuda_name(self) -> &'static str {
        match self {
            Scope::Block => "block_scope",
            Scope::Cluster => "cluster_scope",
            Scope::Device => "device_scope",
            Scope::System => "system_scope",
        }
    }
}

/// A method with all that is constant about its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AtomicUse {
    pub(crate) method: &'static AtomicMethod,
    /// `None` is the memory's own.
    pub(crate) scope: Option<Scope>,
    /// As many as the method has.
    pub(crate) orders: [Option<Order>; 2],
}

/// A method of `std::sync::atomic`'s integers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AtomicMethod {
    pub(crate) name: &'static str,
    /// Operands before the orderings.
    pub(crate) operands: usize,
    /// The orders that each ordering may be.
    pub(crate) orders: &'static [&'static [Order]],
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

const LOADS: &[Order] = &[Order::Relaxed, Order::Acquire, Order::SeqCst];
const STORES: &[Order] = &[Order::Relaxed, Order::Release, Order::SeqCst];
const UPDATES: &[Order] = &Order::ALL;
/// Of a fence.
pub(crate) const FENCES: &[Order] = &[Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

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
