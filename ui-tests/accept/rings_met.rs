//! The closest kernels without the fault.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 4, block = 64)]
fn a_count(input: &[u32], out: &mut [u32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let sums = shared_array::<u32, 64>();
    let got = shared_cluster_barrier();
    let four = tiled_partition::<4>(&block);
    if i == 0 {
        got.init(1);
        fence(AcqRel, Scope::Cluster);
    }
    let up = cluster.barrier_arrive_relaxed();
    let own = four.reduce(input[cluster.thread_rank()], op::Plus);
    cluster.barrier_wait(up);
    if rank == 0 && i == 0 {
        got.expect_tx(4 * 64);
        let _ = got.arrive();
    }
    if four.thread_rank() == 0 {
        let there = cluster.map_shared_rank(&sums, 0);
        there.store_async(rank * 16 + i / 4, own, &cluster.map_shared_rank(&got, 0));
    }
    if rank == 0 {
        got.wait_parity(false);
        out[i] = sums[i];
    }
    cluster.sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn the_sender_is_told(input: &[u32], out: &mut [u32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let warp = tiled_partition::<32>(&block);
    let slots = shared_array::<[u32; 64], 2>();
    let (full, room) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
    full.init_collective(&cluster, 1);
    room.init_collective(&cluster, 8);
    for k in 0..rounds {
        let s = k % 2;
        if i == 0 {
            full[s].expect_tx(64 * 4);
            let _ = full[s].arrive();
        }
        if rank == 0 {
            room[s].wait_parity(k / 2 % 2 == 0);
            for to in 0..4 {
                let there = &cluster.map_shared_rank(&slots, to)[s];
                there.store_async(i, input[k * 64 + i], &cluster.map_shared_rank(&full[s], to));
            }
        }
        full[s].wait_parity(k / 2 % 2 == 1);
        let value = slots[s][63 - i];
        warp.sync();
        if i % 32 == 0 {
            cluster.map_shared_rank(&room[s], 0).arrive();
        }
        out[(k * 4 + rank) * 64 + i] = value;
    }
    cluster.sync();
}

#[cluster_kernel(block = 64)]
fn a_barrier_behind_the_vote(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (i, lane) = (block.thread_rank(), warp.thread_rank());
    let stages = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    if i == 32 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(128);
            bulk_copy_async(&stages[k % 2], &input[k * 32..(k + 1) * 32], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 32 {
        let mut large = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let value = stages[k % 2][i];
            if warp.any(value > 100) {
                large += 1;
            }
            warp.sync();
            if lane == 0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = large;
    }
}

#[cluster_kernel(block = 64)]
fn two_rows(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[u32; 64], 2>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    rows[0][i] = input[i];
    let mut token = bar.arrive();
    for k in 1..rounds {
        bar.wait(token);
        let value = rows[(k - 1) % 2][63 - i];
        rows[k % 2][i] = input[k * 64 + i];
        out[(k - 1) * 64 + i] = value;
        token = bar.arrive();
    }
    bar.wait(token);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<a_count>,
    phalanx::Program::of::<the_sender_is_told>,
    phalanx::Program::of::<a_barrier_behind_the_vote>,
    phalanx::Program::of::<two_rows>,
];
