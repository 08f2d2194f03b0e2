//! The groups of threads that have a barrier, and the size of a warp.

/// The number of lanes of a warp.
pub(crate) const LANES: u32 = 32;

/// A group of threads that has a barrier and whose threads can compare a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Block,
    Cluster,
    Grid,
}

impl Group {
    /// Returns the name that reports use.
    pub(in crate::sim) fn name(self) -> &'static str {
        match self {
            Group::Block => "block",
            Group::Cluster => "cluster",
            Group::Grid => "grid",
        }
    }
}
