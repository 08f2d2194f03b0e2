//! A peer's shared memory is read in the phase in which its owner writes it.

use phalanx::prelude::*;

/// Edges of a stencil's rows.
#[cluster_kernel(cluster = 4, block = 64)]
fn halo_exchange(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let edges = shared_array::<f32, 2>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let at = this_grid().thread_rank();
    cluster.sync();
    if i == 0 {
        edges[0] = input[at];
        edges[1] = input[at + 63];
    }
    let left = if i == 0 { cluster.map_shared_rank(&edges, (rank + blocks - 1) % blocks)[1] } else { input[at - 1] };
    let right = if i == 63 { cluster.map_shared_rank(&edges, (rank + 1) % blocks)[0] } else { input[at + 1] };
    out[at] = 0.25 * left + 0.5 * input[at] + 0.25 * right;
    cluster.sync();
}

/// The block's barrier publishes to the block.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_block_s_barrier(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    cluster.sync();
    tile[block.thread_rank()] = input[this_grid().thread_rank()];
    block.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = peer[63 - block.thread_rank()];
    cluster.sync();
}

/// Jacobi's iteration, one cell a thread.
#[cluster_kernel(cluster = 2, block = 64)]
fn jacobi(cells: &mut [f32], steps: u32) {
    let cluster = this_cluster();
    let published = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&published, 1 - cluster.block_rank());
    let mut value = cells[this_grid().thread_rank()];
    cluster.sync();
    for step in 0..steps {
        published[step % 2][i] = value;
        value = (value + peer[step % 2][63 - i]) / 2.0;
        cluster.sync();
    }
    cells[this_grid().thread_rank()] = value;
}

/// One block writes what the others read, in two arms of one branch.
#[cluster_kernel(cluster = 4, block = 64)]
fn a_table_of_the_first_block(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let table = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    let mut value = 0;
    if cluster.block_rank() == 0 {
        table[i] = input[i];
    } else {
        value = cluster.map_shared_rank(&table, 0)[i];
    }
    out[this_grid().thread_rank()] = value;
    cluster.sync();
}

/// A sum over ranks: each block's part, and all read all.
#[cluster_kernel(cluster = 4, block = 64)]
fn sum_over_ranks(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let parts = shared_array::<f32, 2>();
    cluster.sync();
    let part = warp.reduce(input[this_grid().thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        parts[warp.meta_group_rank()] = part;
    }
    block.sync();
    let mut sum = 0.0;
    for rank in 0..cluster.num_blocks() {
        let of_rank = cluster.map_shared_rank(&parts, rank);
        sum += of_rank[0] + of_rank[1];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// Each block loads one tile of a matrix, and multiplies with all.
#[cluster_kernel(cluster = 2, block = 64)]
fn shared_tiles(a: &[f32], b: &[f32], out: &mut [f32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0.0;
    for t in 0..tiles {
        cluster.sync();
        tile[i] = b[(t * 2 + cluster.block_rank()) * 64 + i];
        this_thread_block().sync();
        for rank in 0..2 {
            let theirs = cluster.map_shared_rank(&tile, rank);
            for k in 0..64 {
                sum += a[t * 64 + k] * theirs[k];
            }
        }
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// Both between arrive and wait.
#[cluster_kernel(cluster = 2, block = 64)]
fn between_arrive_and_wait(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    let token = cluster.barrier_arrive();
    tile[i] = input[this_grid().thread_rank()];
    let other = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i];
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = other;
    cluster.sync();
}

fn main() {}
