//! A relaxed arrival where nothing is to be ordered, and with the fence that orders it.

use phalanx::prelude::*;

/// That the peers have started is all that the first barrier says.
#[cluster_kernel(cluster = 2, block = 64)]
fn entry(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let started = cluster.barrier_arrive_relaxed();
    let x = input[this_grid().thread_rank()];
    cluster.barrier_wait(started);
    peer[i] = x;
    cluster.sync();
    out[this_grid().thread_rank()] = tile[i];
}

/// A fence precedes the relaxed arrival, as in the PTX manual's example of `barrier.cluster`.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_read_and_a_fence(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    tile[i] = input[i];
    cluster.sync();
    let first = peer[i];
    fence(AcqRel, Scope::Cluster);
    let token = cluster.barrier_arrive_relaxed_aligned();
    cluster.barrier_wait_aligned(token);
    tile[i] = first + 1;
    cluster.sync();
    out[this_grid().thread_rank()] = peer[63 - i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_write_and_a_fence(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    fence(Release, Scope::Device);
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    fence(SeqCst, Scope::Cluster);
    let done = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(done);
}

/// After a barrier of the block, one thread's fence is for all of them.
#[cluster_kernel(cluster = 2, block = 64)]
fn one_thread_s_fence(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    let i = block.thread_rank();
    tile[i] = input[i];
    block.sync();
    if i == 0 {
        fence(AcqRel, Scope::Cluster);
    }
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// An access without a fence is ordered by the next full barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_full_one_later(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// Memory that no peer touches needs nothing.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_block_s_own(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = shared_array::<u32, 64>();
    let tile = shared_array::<u32, 64>();
    let i = block.thread_rank();
    tile[i] = input[i];
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    let got = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    own[i] = got;
    fence(AcqRel, Scope::Cluster);
    let token = cluster.barrier_arrive_relaxed();
    block.sync();
    let sum = own[63 - i] + got;
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = sum;
}

/// A helper with the fence.
#[device]
fn meet(cluster: &Cluster) {
    fence(AcqRel, Scope::Cluster);
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_helper_s(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    meet(&cluster);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    meet(&cluster);
}

/// Buffers take turns in each iteration: the writes are fenced, and the reads by the next iteration's fence.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for t in 0..tiles {
        tile[t % 2][i] = input[t * 64 + i];
        fence(AcqRel, Scope::Cluster);
        let token = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(token);
        sum += peer[t % 2][63 - i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = sum;
}

/// The block orders its own accesses before the cluster meets.
#[cluster_kernel(cluster = 2, block = 64)]
fn its_own_memory(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    let i = block.thread_rank();
    tile[i] = input[i];
    block.sync();
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = tile[63 - i];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<entry>,
    phalanx::Program::of::<a_read_and_a_fence>,
    phalanx::Program::of::<a_write_and_a_fence>,
    phalanx::Program::of::<one_thread_s_fence>,
    phalanx::Program::of::<a_full_one_later>,
    phalanx::Program::of::<the_block_s_own>,
    phalanx::Program::of::<a_helper_s>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<its_own_memory>,
];
