//! A barrier of the cluster precedes the first access to a peer's shared memory.

use phalanx::prelude::*;

/// Each block hands its last value to the next one.
#[cluster_kernel(cluster = 4, block = 64)]
fn inbox(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<f32, 1>();
    let i = this_thread_block().thread_rank();
    let at = this_grid().thread_rank();
    let next = cluster.map_shared_rank(&inbox, (cluster.block_rank() + 1) % cluster.num_blocks());
    cluster.sync();
    if i == 63 {
        next[0] = input[at];
    }
    cluster.sync();
    out[at] = if i == 0 { inbox[0] } else { input[at - 1] };
}

#[cluster_kernel(cluster = 2, block = 64)]
fn behind_the_wait(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let received = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&received, 1 - cluster.block_rank());
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    peer[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = received[i];
}

/// The cluster's barrier is one of the block too.
#[cluster_kernel(cluster = 2, block = 64)]
fn behind_the_cluster_s_barrier(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let received = shared_array::<u32, 64>();
    cluster.sync();
    let peer = cluster.map_shared_rank(&received, 1 - cluster.block_rank());
    peer[63 - block.thread_rank()] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = received[block.thread_rank()];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn on_both_paths(input: &[u32], out: &mut [u32], warm: u32) {
    let cluster = this_cluster();
    let received = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    if warm == 0 {
        cluster.sync();
    } else {
        cluster.sync();
    }
    cluster.map_shared_rank(&received, 1 - cluster.block_rank())[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = received[i];
}

/// Partial results go to the first block.
#[cluster_kernel(cluster = 4, block = 64)]
fn round_a_loop(input: &[f32], out: &mut [f32], rounds: u32) {
    let cluster = this_cluster();
    let gathered = shared_array::<f32, 4>();
    let rank = cluster.block_rank();
    let leader = cluster.map_shared_rank(&gathered, 0);
    cluster.sync();
    for round in 0..rounds {
        if this_thread_block().thread_rank() == 0 {
            leader[rank] = input[round * 4 + rank];
        }
        cluster.sync();
        if rank == 0 {
            out[round * 64 + this_thread_block().thread_rank()] = gathered[0] + gathered[1] + gathered[2] + gathered[3];
        }
        cluster.sync();
    }
}

/// A counter that only peers touch.
#[cluster_kernel(cluster = 8, block = 64)]
fn votes(flags: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let votes = shared_array::<[u32; 2], 8>();
    cluster.sync();
    let voted = this_thread_block().thread_rank() < 8;
    if voted {
        let to = this_thread_block().thread_rank();
        cluster.map_shared_rank(&votes, to)[cluster.block_rank()][flags[to] % 2] = 1;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = votes[this_thread_block().thread_rank() % 8][1];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<inbox>,
    phalanx::Program::of::<behind_the_wait>,
    phalanx::Program::of::<behind_the_cluster_s_barrier>,
    phalanx::Program::of::<on_both_paths>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<votes>,
];
