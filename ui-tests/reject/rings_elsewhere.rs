//! Rings whose stages and sizes stand in a module beside them, and rows that are sent to the next block: rustc confirms that the functions,
//! the constants and the other name of the type are those that the file shows.

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

/// A stage is filled again while threads read it.
#[cluster_kernel(block = 64)]
fn not_met(input: &[[f32; 32]], out: &mut [f32], rounds: u32) {
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
        }
    }
}

/// The stage is that of the round that is loaded.
#[cluster_kernel(block = 64)]
fn stage_of_another_round(input: &[[f32; 32]], out: &mut [f32], rounds: u32) {
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
            let s = ring::stage(round);
            full[s].wait_parity(ring::parity(done));
            out[done * 64 + i] = tiles[s][1 - i / 32][i % 32];
            block.sync();
        }
    }
}

mod kernels {
    use super::ring::{parity as flips, stage};
    use super::*;

    /// A kernel in a module of its own, which waits for the phase of another round.
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
            full[stage(round)].wait_parity(!flips(round));
            out[round * 64 + i] = tiles[stage(round)][1 - i / 32][i % 32];
            block.sync();
        }
    }
}

/// One thread sends what others have not written.
#[cluster_kernel(cluster = 4, block = 32)]
fn sent_before_it_is_written(input: &[u32], out: &mut [u32], tiles: u32) {
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

/// The next row is written before the answer to the one in its place.
#[cluster_kernel(cluster = 4, block = 32)]
fn written_while_it_is_sent(input: &[u32], out: &mut [u32], tiles: u32) {
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
            outbox[s][i] = x + rank;
            block.sync();
            empty[s].wait_parity(!parity);
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

fn main() {}
