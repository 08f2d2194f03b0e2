//! The kinds of groups of threads, as a set.

bitflags::bitflags! {
    /// A set of kinds of groups, such as those of which a function executes a collective.
    ///
    /// ```
    /// use phalanx_contract::Groups;
    ///
    /// let pending = Groups::THREAD_BLOCK.union(Groups::CLUSTER);
    /// assert!(pending.intersects(Groups::CLUSTER) && !pending.intersects(Groups::TILE));
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Groups: u8 {
        /// The thread block.
        const THREAD_BLOCK = 1;
        /// The cluster.
        const CLUSTER = 1 << 1;
        /// The grid.
        const GRID = 1 << 2;
        /// Tiles of a warp.
        const TILE = 1 << 3;
        /// Coalesced groups.
        const COALESCED = 1 << 4;
    }
}
