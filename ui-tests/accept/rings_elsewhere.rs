//! The closest kernels without the fault.

use phalanx::prelude::*;

mod ring {
    use phalanx::prelude::*;

    pub(super) const STAGES: u32 = 4;
    pub(super) const AHEAD: u32 = STAGES - 1;
    pub(super) const COLUMNS: usize = 32;
    pub(super) const BYTES: u32 = (2 * COLUMNS * size_of::<f32>()) as u32;

    #[device]
    pub(super) fn stage(round: u32) -> u32 {
        round % STAGES
    }

    #[device]
    pub(super) fn parity(round: u32) -> bool {
        round / STAGES % 2 != 0
    }
}

type Rows = [[f32; ring::COLUMNS]; 2];

/// All threads have read a stage before it is filled again.
#[cluster_kernel(block = 64)]
fn met(input: &[[f32; 32]], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tiles = shared_array::<Rows, { ring::STAGES as usize }>();
    let full = shared_barriers::<{ ring::STAGES as usize }>();
    full.init_collective(&block, 1);
    for round in 0..rounds + ring::AHEAD {
        if round < rounds && i == 0 {
            let s = ring::stage(round);
            full[s].expect_tx(ring::BYTES);
            bulk_copy_async(&tiles[s], &input[round * 2..round * 2 + 2], &full[s]);
            let _ = full[s].arrive();
        }
        if round >= ring::AHEAD {
            let done = round - ring::AHEAD;
            let s = ring::stage(done);
            full[s].wait_parity(ring::parity(done));
            out[done * 64 + i] = tiles[s][1 - i / 32][i % 32];
            block.sync();
        }
    }
}

mod kernels {
    use super::ring::{parity as flips, stage};
    use super::*;

    /// A kernel in a module of its own, which waits for the phase of the round.
    #[cluster_kernel(block = 64)]
    pub(super) fn below(input: &[[f32; 32]], out: &mut [f32], rounds: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let tiles = shared_array::<Rows, { ring::STAGES as usize }>();
        let full = shared_barriers::<{ ring::STAGES as usize }>();
        full.init_collective(&block, 1);
        for round in 0..rounds {
            if i == 0 {
                full[stage(round)].expect_tx(ring::BYTES);
                bulk_copy_async(&tiles[stage(round)], &input[round * 2..round * 2 + 2], &full[stage(round)]);
                let _ = full[stage(round)].arrive();
            }
            full[stage(round)].wait_parity(flips(round));
            out[round * 64 + i] = tiles[stage(round)][1 - i / 32][i % 32];
            block.sync();
        }
    }
}

/// What all threads have written is sent, and written again after the answer.
#[cluster_kernel(cluster = 4, block = 32)]
fn sent_when_written(input: &[u32], out: &mut [u32], tiles: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    let last = cluster.num_blocks() - 1;
    let inbox = shared_array::<[u32; 32], 2>();
    let outbox = shared_array::<[u32; 32], 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 1);
    for k in 0..tiles {
        let (s, parity) = (k % 2, k / 2 % 2 == 1);
        let mut x = input[k * 32 + i];
        if rank > 0 {
            if i == 0 {
                full[s].expect_tx(128);
                let _ = full[s].arrive();
            }
            full[s].wait_parity(parity);
            x = inbox[s][i];
            warp.sync();
            if i == 0 {
                cluster.map_shared_rank(&empty[s], rank - 1).arrive();
            }
        }
        if rank < last {
            empty[s].wait_parity(!parity);
            outbox[s][i] = x + rank;
            block.sync();
            if i == 0 {
                let there = cluster.map_shared_rank(&inbox, rank + 1);
                bulk_copy_async(&there[s], &outbox[s], &cluster.map_shared_rank(&full[s], rank + 1));
            }
        } else {
            out[k * 32 + i] = x;
        }
    }
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<met>, phalanx::Program::of::<kernels::below>, phalanx::Program::of::<sent_when_written>];
