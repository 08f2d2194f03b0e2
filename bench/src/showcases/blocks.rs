//! A sum over the threads of a block of 512, for the kernels that need one.

use phalanx::prelude::*;

/// The number of threads in a block.
pub(super) const BLOCK: usize = 512;
/// The number of warps in a block.
pub(super) const WARPS: usize = BLOCK / 32;

/// Returns the sum of `own` over the block to all of its threads.
#[device]
pub(super) fn block_sum(block: &ThreadBlock, of_warps: &SharedArray<f32, WARPS>, own: f32) -> f32 {
    let warp = tiled_partition::<32>(block);
    let sum = warp.reduce(own, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = sum;
    }
    block.sync();
    let warps = tiled_partition::<16>(block); // as many threads as the block has warps
    warps.reduce(of_warps[warps.thread_rank()], op::Plus)
}
