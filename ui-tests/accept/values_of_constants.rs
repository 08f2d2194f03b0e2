//! Indexes that a constant keeps apart: stages of a ring, cells beside a tile, in kernels that are generic, too.

use phalanx::prelude::*;

const STAGES: usize = 3;
const WIDTH: usize = 64;

/// The peer reads one stage while the next one is written.
#[cluster_kernel(cluster = 2, block = 64)]
fn ring(output: &mut [u32], rounds: usize) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let stage = shared_array::<[u32; 64], STAGES>();
    let i = block.thread_rank();
    let other = 1 - cluster.block_rank();
    stage[0][i] = 1;
    cluster.sync();
    for k in 0..rounds {
        output[i] += cluster.map_shared_rank(&stage, other)[k % STAGES][i];
        stage[(k + 1) % STAGES][i] = 2;
        cluster.sync();
    }
}

/// The same with a mask, and with stages that the caller chooses.
#[cluster_kernel(cluster = 2, block = 64)]
fn generic_ring<const N: usize>(output: &mut [u32], rounds: usize) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let stage = shared_array::<[u32; 64], N>();
    let i = block.thread_rank();
    let other = 1 - cluster.block_rank();
    for k in 0..N {
        stage[k][i] = 1;
    }
    cluster.sync();
    for k in 0..rounds {
        output[i] += cluster.map_shared_rank(&stage, other)[k & (N - 1)][i];
        stage[(k + 1) & (N - 1)][i] = 2;
        cluster.sync();
    }
}

/// Neighbours write the cells on both sides of a tile, whose own edges the block reads.
#[cluster_kernel(cluster = 4, block = 64)]
fn halo(input: &[f32], output: &mut [f32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let rows = shared_array::<[f32; WIDTH + 2], 2>();
    let t = block.thread_rank() as usize;
    let at = this_grid().thread_rank();
    rows[0][t + 1] = input[at];
    cluster.sync();
    let left = (cluster.block_rank() + cluster.num_blocks() - 1) % cluster.num_blocks();
    let right = (cluster.block_rank() + 1) % cluster.num_blocks();
    let (mut from, mut to) = (0, 1);
    for _ in 0..rounds {
        if t == 0 {
            cluster.map_shared_rank(&rows, left)[from][WIDTH + 1] = rows[from][1];
        }
        if t == WIDTH - 1 {
            cluster.map_shared_rank(&rows, right)[from][0] = rows[from][WIDTH];
        }
        cluster.sync();
        rows[to][t + 1] = 0.5 * (rows[from][t] + rows[from][t + 2]);
        cluster.sync();
        std::mem::swap(&mut from, &mut to);
    }
    output[at] = rows[from][t + 1];
}

const PASSES: u32 = 2;
const CHECKED: bool = cfg!(debug_assertions);

/// A constant decides whether there is a second pass, and one before the barrier at the end.
#[cluster_kernel(cluster = 2, block = 64)]
fn passes(input: &[f32], output: &mut [f32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let other = 1 - cluster.block_rank();
    let tile = shared_array::<f32, 64>();
    tile[i] = input[cluster.thread_rank()];
    cluster.sync();
    let mut x = cluster.map_shared_rank(&tile, other)[i];
    if PASSES > 1 {
        cluster.sync();
        tile[i] = x;
        cluster.sync();
        x += cluster.map_shared_rank(&tile, other)[63 - i];
    }
    if PASSES - 1 >= 1 {
        cluster.sync();
    }
    if CHECKED {
        assert!(x >= 0.0);
    }
    output[cluster.thread_rank()] = x;
}

/// A cluster of one block has no last one but itself, and no second one.
#[cluster_kernel(cluster = N, block = 64)]
fn of_the_last<const N: usize>(input: &[f32], output: &mut [f32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<f32, 64>();
    tile[i] = input[cluster.thread_rank()];
    cluster.sync();
    let mut x = cluster.map_shared_rank(&tile, N as u32 - 1)[i];
    if N > 1 {
        x += cluster.map_shared_rank(&tile, 1)[i] + cluster.map_shared_rank(&tile, N as u32 - 2)[i];
    }
    cluster.sync();
    output[cluster.thread_rank()] = x;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<ring>,
    phalanx::Program::of::<generic_ring<4>>,
    phalanx::Program::of::<halo>,
    phalanx::Program::of::<passes>,
    phalanx::Program::of::<of_the_last<1>>,
    phalanx::Program::of::<of_the_last<4>>,
];
