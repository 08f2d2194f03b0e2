//! A block writes its shared memory while a peer may still read what was there.

use phalanx::prelude::*;

/// Values go once round the ring.
#[cluster_kernel(cluster = 4, block = 64)]
fn ring_shift(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&tile, (cluster.block_rank() + 1) % cluster.num_blocks());
    tile[i] = input[this_grid().thread_rank()];
    for _ in 0..cluster.num_blocks() {
        cluster.sync();
        let value = next[i];
        tile[i] = value;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = tile[i];
}

/// The next round writes what this one's readers may not have read.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        tile[i] = input[round * 64 + i];
        cluster.sync();
        sum += peer[63 - i];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = sum;
}

/// A block that reads between arrive and wait is not done when others go on.
#[cluster_kernel(cluster = 2, block = 64)]
fn read_between_arrive_and_wait(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let token = cluster.barrier_arrive();
    let other = peer[i];
    cluster.barrier_wait(token);
    tile[i] = other + 1;
    cluster.sync();
    out[this_grid().thread_rank()] = peer[i];
    cluster.sync();
}

/// The maxima of a softmax, and its sums, in one place.
#[cluster_kernel(cluster = 2, block = 32)]
fn softmax(logits: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let warp = tiled_partition::<32>(&this_thread_block());
    let shared = shared_array::<f32, 1>();
    let x = logits[this_grid().thread_rank()];
    let peer = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
    let largest = warp.reduce(x, op::Max);
    if warp.thread_rank() == 0 {
        shared[0] = largest;
    }
    cluster.sync();
    let all = largest.max(peer[0]);
    let power = (x - all).exp();
    let sum = warp.reduce(power, op::Plus);
    if warp.thread_rank() == 0 {
        shared[0] = sum;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = power / (sum + peer[0]);
    cluster.sync();
}

/// Two buffers, and both sides use the same one.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_same_parity(cells: &mut [f32], steps: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
    buffers[0][i] = cells[this_grid().thread_rank()];
    buffers[1][i] = 0.0;
    cluster.sync();
    for step in 0..steps {
        let value = peer[step % 2][63 - i];
        buffers[step % 2][i] = value / 2.0;
        cluster.sync();
    }
    cells[this_grid().thread_rank()] = buffers[steps % 2][i];
}

/// The buffers are never exchanged.
#[cluster_kernel(cluster = 2, block = 64)]
fn not_swapped(cells: &mut [f32], steps: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
    let mut cur = 0;
    for step in 0..steps {
        buffers[cur][i] = cells[step * 64 + i];
        cluster.sync();
        cells[step * 64 + i] = peer[cur][63 - i];
    }
    cluster.sync();
}

/// A tile that is loaded again before all have multiplied with it.
#[cluster_kernel(cluster = 2, block = 64)]
fn shared_tiles(a: &[f32], b: &[f32], out: &mut [f32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0.0;
    for t in 0..tiles {
        tile[i] = b[(t * 2 + cluster.block_rank()) * 64 + i];
        cluster.sync();
        for rank in 0..2 {
            let theirs = cluster.map_shared_rank(&tile, rank);
            for k in 0..64 {
                sum += a[t * 64 + k] * theirs[k];
            }
        }
        this_thread_block().sync();
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// The next buffer comes from memory.
#[cluster_kernel(cluster = 2, block = 64)]
fn chosen_by_data(order: &[u32], out: &mut [f32]) {
    let cluster = this_cluster();
    let tiles = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peers = cluster.map_shared_rank(&tiles, 1 - cluster.block_rank());
    let mut turn = 0;
    tiles[turn][i] = 1.0;
    cluster.sync();
    for _ in 0..out.len() {
        let next = peers[turn][i];
        turn = order[turn];
        tiles[turn][i] = next;
        cluster.sync();
    }
}

/// A tree over the cluster that takes the block of the next round, which adds in this one, too.
#[cluster_kernel(cluster = 4, block = 32)]
fn tree_with_a_block_too_far(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    let sums = shared_array::<u32, 32>();
    sums[i] = input[cluster.thread_rank()];
    cluster.sync();
    let mut step = 1;
    while step < cluster.num_blocks() {
        if rank % (2 * step) == 0 {
            sums[i] += cluster.map_shared_rank(&sums, rank + 2 * step)[i];
        }
        cluster.sync();
        step *= 2;
    }
    if rank == 0 {
        out[i] = sums[i];
    }
}

fn main() {}
