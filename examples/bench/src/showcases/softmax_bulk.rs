//! Softmax of long rows with rows in flight: resident clusters go through the rows, bulk copies fetch rows ahead, and the
//! blocks of a cluster exchange their sums by `store_async`, with no barrier of the cluster in the loop.

use phalanx::prelude::*;

use super::blocks::joined;

pub(super) const BLOCK: usize = 1024;
const WARPS: usize = BLOCK / 32;
/// The rows of which a block holds its part.
pub(super) const STAGES: usize = 3;
/// The blocks of the largest cluster.
const MOST: u32 = 16;

/// Softmax of `rows` rows of `C * PART` columns.
#[cluster_kernel(cluster = C, block = 1024, non_portable)]
pub(super) fn softmax_bulk<const C: usize, const PART: usize>(input: &[f32], out: &mut [f32], rows: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[f32; PART], STAGES>();
    let of_warps = shared_array::<[f32; 2], WARPS>();
    // Two inboxes in turn: a peer sends to one again after it has received in the other, which we sent after we had read.
    let inboxes = shared_array::<u64, { 2 * MOST as usize }>();
    let full = shared_barriers::<STAGES>();
    let received = shared_cluster_barriers::<2>();
    full.init_collective(&block, 1);
    received.init_collective(&cluster, 1);

    let i = block.thread_rank();
    let rank = cluster.block_rank();
    let first = this_grid().cluster_rank() as u32;
    let clusters = this_grid().num_clusters() as u32;
    let count = (rows - first).div_ceil(clusters);
    let start = |turn: u32| ((first + turn * clusters) as usize * C + rank as usize) * PART;

    if i == 0 {
        for turn in 0..count.min(STAGES as u32) {
            full[turn].expect_tx(PART as u32 * 4);
            bulk_copy_async(&stages[turn], &input[start(turn)..start(turn) + PART], &full[turn]);
            let _ = full[turn].arrive();
        }
    }
    for turn in 0..count {
        let stage = turn % STAGES as u32;
        full[stage].wait_parity(turn / STAGES as u32 % 2 == 1);

        // Pass one: the maximum and the sum.
        let mut own = (f32::NEG_INFINITY, 0.0);
        for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
            let v = stages[stage].load_vec::<4>(column);
            let max = v[0].max(v[1]).max(v[2].max(v[3]));
            let sum = fast::exp(v[0] - max) + fast::exp(v[1] - max) + (fast::exp(v[2] - max) + fast::exp(v[3] - max));
            own = joined(own, (max, sum));
        }
        let (max, sum) = warp.reduce(own, |a, b| joined(a, b));
        if warp.thread_rank() == 0 {
            of_warps[warp.meta_group_rank()] = [max, sum];
        }
        block.sync();

        // The exchange: the first threads send the block's pair, one to each block.
        let inbox = turn % 2;
        if i == 0 {
            received[inbox].expect_tx(C as u32 * 8);
            let _ = received[inbox].arrive();
        }
        if warp.meta_group_rank() == 0 {
            let [max, sum] = of_warps[warp.thread_rank()];
            let (max, sum) = warp.reduce((max, sum), |a, b| joined(a, b));
            if i < C as u32 {
                let pair = (max.to_bits() as u64) << 32 | sum.to_bits() as u64;
                let there = cluster.map_shared_rank(&inboxes, i);
                let signal = cluster.map_shared_rank(&received[inbox], i);
                there.store_async(inbox * MOST + rank, pair, &signal);
            }
        }
        received[inbox].wait_parity(turn / 2 % 2 == 1);
        let mut all = (f32::NEG_INFINITY, 0.0);
        for from in 0..C as u32 {
            let pair = inboxes[inbox * MOST + from];
            all = joined(all, (f32::from_bits((pair >> 32) as u32), f32::from_bits(pair as u32)));
        }

        // Pass two.
        let (max, sum) = all;
        let scale = 1.0 / sum;
        for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
            let mut v = stages[stage].load_vec::<4>(column);
            for k in 0..4 {
                v[k] = fast::exp(v[k] - max) * scale;
            }
            out.store_vec(start(turn) + column, v);
        }
        block.sync(); // the stage is free
        let next = turn + STAGES as u32;
        if i == 0 && next < count {
            full[stage].expect_tx(PART as u32 * 4);
            bulk_copy_async(&stages[stage], &input[start(next)..start(next) + PART], &full[stage]);
            let _ = full[stage].arrive();
        }
    }
    cluster.sync(); // no block exits while a peer sends to it
}
