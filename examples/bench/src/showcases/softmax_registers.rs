//! Softmax of rows that the registers of a block or a cluster hold: each value is loaded once, and has one exponential.

use phalanx::prelude::*;

use super::blocks::{BLOCK, WARPS, block_joined, joined};

/// Softmax of rows of `C * N * BLOCK * 4` columns, one for each cluster; a thread holds `N` vectors.
#[cluster_kernel(cluster = C, block = 512, non_portable)]
pub(super) fn softmax_registers<const C: usize, const N: usize>(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let of_warps = shared_array::<[f32; 2], WARPS>();
    let of_block = shared_array::<[f32; 2], 1>();
    let i = block.thread_rank() as usize;
    let start = (this_grid().block_rank() * N * BLOCK + i) * 4;

    let mut v = [f32x4::splat(0.0); N];
    for k in 0..N {
        v[k] = input.load_vec::<4>(start + k * BLOCK * 4);
    }
    let mut own_max = f32::NEG_INFINITY;
    for k in 0..N {
        own_max = own_max.max(v[k][0].max(v[k][1]).max(v[k][2].max(v[k][3])));
    }
    let mut own_sum = 0.0;
    for k in 0..N {
        for lane in 0..4 {
            v[k][lane] = fast::exp(v[k][lane] - own_max);
            own_sum += v[k][lane];
        }
    }
    let (max, sum) = block_joined(&block, &of_warps, (own_max, own_sum));
    if i == 0 {
        of_block[0] = [max, sum];
    }
    cluster.sync();
    let mut all = (f32::NEG_INFINITY, 0.0);
    for rank in 0..C as u32 {
        let [max, sum] = cluster.map_shared_rank(&of_block, rank)[0];
        all = joined(all, (max, sum));
    }
    let read = cluster.barrier_arrive();
    let (max, sum) = all;
    let scale = fast::exp(own_max - max) / sum;
    for k in 0..N {
        for lane in 0..4 {
            v[k][lane] *= scale;
        }
        out.store_vec(start + k * BLOCK * 4, v[k]);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sum
}
