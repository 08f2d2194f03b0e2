//! The scopes of memory operations in the PTX memory consistency model, as data for kernels and for the simulator.

/// The set of threads that an atomic or a fence synchronizes with (PTX ISA, Memory Consistency Model, Scope). To
/// threads outside it need not be atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The threads of the block: `.cta`.
    Block,
    /// The threads of the cluster: `.cluster`.
    Cluster,
    /// All threads on the device: `.gpu`.
    Device,
    /// All threads of the system, including the host: `.sys`.
    System,
}
