//! The scopes of memory operations in the PTX memory consistency model, as data for kernels and for the simulator.

/// The threads with respect to which an atomic is atomic and a fence orders (PTX ISA, Memory Consistency Model, Scope).
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
