//! The writes to shared memory that a reader may not see yet.

use bitflags::bitflags;

bitflags! {
    /// Writes to shared memory that a reader may not see yet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Unseen: u16 {
        /// A write of the block, with no barrier of it since.
        const OWN = 1;
        /// A write of the block before an arrival at the block's barrier, which is not waited for.
        const OWN_BLOCK = 1 << 1;
        /// A write of the block before an arrival at the cluster's barrier, which is not waited for.
        const OWN_CLUSTER = 1 << 2;
        /// A write of a peer.
        const PEER = 1 << 3;
        /// A write of a peer before an arrival at the cluster's barrier.
        const PEER_CLUSTER = 1 << 4;
        /// A write of any thread, as seen by a reader in another block.
        const FAR = 1 << 5;
        /// A write of any thread, as seen by a reader in another block, before an arrival at the cluster's barrier.
        const FAR_CLUSTER = 1 << 6;
        /// A write of the block, since which the warp has not met.
        const OWN_WARP = 1 << 7;
        /// A write of any thread to the block's memory, since which the warp has not waited for those who tell of it.
        const UNTOLD = 1 << 8;

        /// The writes that a reader in the block may miss.
        const OF_BLOCK =
            Self::OWN.bits() | Self::OWN_BLOCK.bits() | Self::OWN_CLUSTER.bits() | Self::PEER.bits() | Self::PEER_CLUSTER.bits();
        /// The writes that a reader in another block may miss.
        const OF_CLUSTER = Self::FAR.bits() | Self::FAR_CLUSTER.bits();
    }
}
