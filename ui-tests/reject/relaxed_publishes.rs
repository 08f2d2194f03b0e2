//! A relaxed arrival orders nothing: what peers touch on its other side needs a fence.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn a_write_before(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// The peer's read may not be done when its owner writes.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_read_before(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    tile[i] = input[i];
    cluster.sync();
    let first = peer[i];
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    tile[i] = first + 1;
    cluster.sync();
    out[this_grid().thread_rank()] = peer[63 - i];
    cluster.sync();
}

/// Nor is a write to a peer there when the peer looks.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_write_to_a_peer(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    cluster.map_shared_rank(&inbox, 1 - cluster.block_rank())[i] = input[i];
    let token = cluster.barrier_arrive_relaxed_aligned();
    cluster.barrier_wait_aligned(token);
    out[this_grid().thread_rank()] = inbox[i];
}

/// The peer may be gone before it was read.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_last_read(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
}

/// A fence of the block is none of the cluster, and one that acquires publishes nothing.
#[cluster_kernel(cluster = 2, block = 64)]
fn too_small_a_fence(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    fence(AcqRel, Scope::Block);
    fence(Acquire, Scope::Cluster);
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// The fence comes before the write, or after the arrival.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_fence_elsewhere(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    fence(AcqRel, Scope::Cluster);
    tile[i] = input[i];
    let token = cluster.barrier_arrive_relaxed();
    fence(AcqRel, Scope::Cluster);
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// One thread's fence publishes what it knows of: without a barrier of the block, its own writes.
#[cluster_kernel(cluster = 2, block = 64)]
fn one_thread_s_fence(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    if i == 0 {
        fence(AcqRel, Scope::Cluster);
    }
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// Some threads fence, which may be none.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_fence_of_some(input: &[u32], out: &mut [u32], chosen: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    let i = block.thread_rank();
    tile[i] = input[i];
    block.sync();
    if i == chosen {
        fence(AcqRel, Scope::Cluster);
    }
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// The writes of the previous iteration are fenced on one path only.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    tile[i] = 0;
    cluster.sync();
    let mut sum = 0;
    for t in 0..tiles {
        sum += peer[i];
        fence(AcqRel, Scope::Cluster);
        let read = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(read);
        tile[i] = input[t * 64 + i];
        if t % 2 == 0 {
            fence(AcqRel, Scope::Cluster);
        }
        let written = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(written);
    }
    cluster.sync();
    out[this_grid().thread_rank()] = sum;
}

/// The receiver of the token counts on a release.
#[device]
fn publish(cluster: &Cluster, tile: &SharedArray<u32, 64>, i: u32, x: u32) -> ArrivalToken<Cluster> {
    tile[i] = x;
    cluster.barrier_arrive_relaxed()
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_token_that_goes(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive_relaxed();
    finish(&cluster, token);
    out[this_grid().thread_rank()] = input[0];
}

/// A helper's barrier that orders nothing.
#[device]
fn meet(cluster: &Cluster) {
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

/// Not even the block's own accesses are ordered.
#[cluster_kernel(cluster = 2, block = 64)]
fn its_own_memory(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = tile[63 - i];
}

fn main() {}
