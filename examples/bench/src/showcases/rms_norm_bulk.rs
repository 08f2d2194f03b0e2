//! RMS norm of long rows with rows in flight: resident clusters go through the rows, bulk copies fetch rows
//! ahead, and the blocks of a cluster exchange their sums by `store_async`, with no barrier of the cluster in the loop.

use phalanx::prelude::*;

use super::rms_norm::Stored;

pub(super) const BLOCK: usize = 1024;
const WARPS: usize = BLOCK / 32;
/// The rows of which a block holds its part.
pub(super) const STAGES: usize = 3;
/// The blocks of the largest cluster.
const MOST: u32 = 16;

/// RMS norm of `rows` rows of `C * PART` columns, by vectors of `LANES` values.
#[cluster_kernel(cluster = C, block = 1024, non_portable)]
pub(super) fn rms_norm_bulk<T: Stored + VectorElement<LANES>, const LANES: usize, const C: usize, const PART: usize>(
    input: &[T],
    weight: &[T],
    out: &mut [T],
    rows: u32,
    epsilon: f32,
) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[T; PART], STAGES>();
    let of_warps = shared_array::<f32, WARPS>();
    // Two inboxes in turn: a peer sends to one again after it has received in the other, which we sent after we had read.
    let inboxes = shared_array::<f32, { 2 * MOST as usize }>();
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
            full[turn].expect_tx(PART as u32 * T::BYTES);
            bulk_copy_async(&stages[turn], &input[start(turn)..start(turn) + PART], &full[turn]);
            let _ = full[turn].arrive();
        }
    }
    for turn in 0..count {
        let stage = turn % STAGES as u32;
        full[stage].wait_parity(turn / STAGES as u32 % 2 == 1);

        // Pass one: the sum of squares.
        let mut own = 0.0;
        for column in (i as usize * LANES..PART).step_by(BLOCK * LANES) {
            let v = stages[stage].load_vec::<LANES>(column);
            for k in 0..LANES {
                let x = v[k].wide();
                own = x.mul_add(x, own);
            }
        }
        let sum = warp.reduce(own, op::Plus);
        if warp.thread_rank() == 0 {
            of_warps[warp.meta_group_rank()] = sum;
        }
        block.sync();

        // The exchange: the first threads send the block's sum, one to each block.
        let inbox = turn % 2;
        if i == 0 {
            received[inbox].expect_tx(C as u32 * 4);
            let _ = received[inbox].arrive();
        }
        if warp.meta_group_rank() == 0 {
            let sum = warp.reduce(of_warps[warp.thread_rank()], op::Plus);
            if i < C as u32 {
                let there = cluster.map_shared_rank(&inboxes, i);
                let signal = cluster.map_shared_rank(&received[inbox], i);
                there.store_async(inbox * MOST + rank, sum, &signal);
            }
        }
        received[inbox].wait_parity(turn / 2 % 2 == 1);
        let mut squares = 0.0;
        for from in 0..C as u32 {
            squares += inboxes[inbox * MOST + from];
        }

        // Pass two.
        let scale = fast::rsqrt(squares / (C * PART) as f32 + epsilon);
        for column in (i as usize * LANES..PART).step_by(BLOCK * LANES) {
            let mut v = stages[stage].load_vec::<LANES>(column);
            let w = weight.load_vec::<LANES>(rank as usize * PART + column);
            for k in 0..LANES {
                v[k] = T::narrow(v[k].wide() * scale * w[k].wide());
            }
            out.store_vec(start(turn) + column, v);
        }
        block.sync(); // the stage is free
        let next = turn + STAGES as u32;
        if i == 0 && next < count {
            full[stage].expect_tx(PART as u32 * T::BYTES);
            bulk_copy_async(&stages[stage], &input[start(next)..start(next) + PART], &full[stage]);
            let _ = full[stage].arrive();
        }
    }
    cluster.sync(); // no block exits while a peer sends to it
}
