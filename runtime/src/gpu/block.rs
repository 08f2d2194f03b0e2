//! What a launch hands to its kernel besides the arguments: the counterpart of `launch_block` of `launch.cuh`. `queue` fills it.

use std::ffi::c_void;

/// The block of a launch. Addresses are the device's.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LaunchBlock {
    /// The launch's record: in pinned host memory, but for launches with a deadline and those of graphs.
    pub(super) record: u64,
    /// The word that the first failing thread claims.
    pub(super) claim: u64,
    /// The words that count the failed threads of each block.
    pub(super) failed_threads: u64,
    /// The word of the grid's barrier, which is clear.
    pub(super) grid_barrier: u64,
    /// The buffer for what the kernel prints, or 0 if it prints nothing.
    pub(super) prints: u64,
    /// The records of the timeline.
    pub(super) records: u64,
    /// The number of records of each warp.
    pub(super) counts: u64,
    /// The number of the launch in its stream, from 1.
    pub(super) number: u64,
    /// The number of words at `failed_threads`.
    pub(super) blocks: u32,
    /// The kernel's number, which comes back in records.
    pub(super) kernel: u32,
    /// The size of the buffer for prints, in bytes of records.
    pub(super) print_bytes: u32,
    /// The number of records of a timeline that each warp may have; 0 if no timeline was asked for.
    pub(super) room: u32,
    /// The number of warps in a block, if a timeline was asked for.
    pub(super) warps: u32,
    /// Zero, which no compiler knows.
    pub(super) zero: u32,
    /// The record in pinned host memory of a launch with a deadline, which says whether it runs.
    pub(super) watched: u64,
}

impl LaunchBlock {
    /// Makes it the last parameter of a kernel.
    pub(super) fn set_last(&mut self, parameters: &mut [*mut c_void]) {
        *parameters.last_mut().expect("each kernel has this parameter") = std::ptr::from_mut(self).cast();
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn the_layout_is_the_prelude_s() {
        assert_eq!(size_of::<LaunchBlock>(), 96);
        let offsets = [
            offset_of!(LaunchBlock, claim),
            offset_of!(LaunchBlock, grid_barrier),
            offset_of!(LaunchBlock, number),
            offset_of!(LaunchBlock, blocks),
            offset_of!(LaunchBlock, room),
            offset_of!(LaunchBlock, zero),
            offset_of!(LaunchBlock, watched),
        ];
        assert_eq!(offsets, [8, 24, 56, 64, 76, 84, 88]);
    }
}
