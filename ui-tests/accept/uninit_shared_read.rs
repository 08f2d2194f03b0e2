//! Some thread may have written before: in the block, of a peer, or on one path.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn written_by_each_thread(out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    tile[this_thread_block().thread_rank()] = 1;
    out[this_grid().thread_rank()] = tile[this_thread_block().thread_rank()];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn the_same_array(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let front = shared_array::<f32, 64>();
    let back = shared_array::<f32, 64>();
    front[block.thread_rank()] = input[this_grid().thread_rank()];
    block.sync();
    out[this_grid().thread_rank()] = front[63 - block.thread_rank()];
}

/// One thread writes for all.
#[cluster_kernel(cluster = 2, block = 64)]
fn by_one_thread(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = block.thread_rank();
    if i == 5 {
        tile[58] = input[this_grid().thread_rank()];
    }
    block.sync();
    out[this_grid().thread_rank()] = tile[58] * i as f32;
}

/// A peer's, which one block has written.
#[cluster_kernel(cluster = 2, block = 64)]
fn of_a_peer(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    if cluster.block_rank() == 1 {
        tile[this_thread_block().thread_rank()] = 4;
    }
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1);
    out[this_grid().thread_rank()] = peer[this_thread_block().thread_rank()];
    cluster.sync();
}

/// It is written on one way only, which the data may always take.
#[cluster_kernel(cluster = 2, block = 64)]
fn on_one_way(input: &[u32], out: &mut [u32]) {
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    if input[0] > 0 {
        tile[i] = input[i];
    }
    out[this_grid().thread_rank()] = tile[i];
}

/// A peer sets the counter.
#[cluster_kernel(cluster = 2, block = 64)]
fn written_by_a_peer(out: &mut [u32]) {
    let cluster = this_cluster();
    let count = shared_array::<u32, 1>();
    cluster.sync();
    cluster.map_shared_rank(&count, 1 - cluster.block_rank()).atomic(0).store(7, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = count.atomic(0).load(Relaxed);
}

/// Written in the round before.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let carried = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let mut sum = 0;
    for round in 0..rounds {
        if round > 0 {
            sum += carried[63 - i];
        }
        block.sync();
        carried[i] = input[round * 64 + i];
        block.sync();
    }
    out[this_grid().thread_rank()] = sum;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<written_by_each_thread>,
    phalanx::Program::of::<the_same_array>,
    phalanx::Program::of::<by_one_thread>,
    phalanx::Program::of::<of_a_peer>,
    phalanx::Program::of::<on_one_way>,
    phalanx::Program::of::<written_by_a_peer>,
    phalanx::Program::of::<round_a_loop>,
];
