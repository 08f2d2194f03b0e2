//! How far a memory operation orders: the scopes of the PTX memory consistency model. Data, for kernels and for the
//! simulator.

/// The threads that an atomic or a fence is for (PTX ISA, Memory Consistency Model, Scope). Threads outside may not
/// see it as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The threads of the block: `.cta`.
    Block,
    /// The threads of the cluster: `.cluster`.
    Cluster,
    /// All threads on the device: `.gpu`.
    Device,
    /// All threads of the system, the host's among them: `.sys`.
    System,
}
