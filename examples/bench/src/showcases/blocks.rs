//! The functions that the kernels of rows share: a sum over the threads of a block of 512, and the join of two parts of a softmax.

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

/// Joins two pairs of a maximum, and the sum of the exponentials of values less the maximum.
#[device]
pub(super) fn joined((a_max, a_sum): (f32, f32), (b_max, b_sum): (f32, f32)) -> (f32, f32) {
    let max = a_max.max(b_max);
    (max, a_sum.mul_add(fast::exp(a_max - max), b_sum * fast::exp(b_max - max)))
}

/// Returns the join of all pairs of the block to all of its threads.
#[device]
pub(super) fn block_joined(
    block: &ThreadBlock,
    of_warps: &SharedArray<[f32; 2], WARPS>,
    own: (f32, f32),
) -> (f32, f32) {
    let warp = tiled_partition::<32>(block);
    let (max, sum) = warp.reduce(own, |a, b| joined(a, b));
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = [max, sum];
    }
    block.sync();
    let warps = tiled_partition::<16>(block); // as many threads as the block has warps
    let [max, sum] = of_warps[warps.thread_rank()];
    warps.reduce((max, sum), |a, b| joined(a, b))
}
