//! Indexes that name a constant: rustc, which knows its value, refuses the kernel if the two accesses meet.

use phalanx::prelude::*;

const STAGES: usize = 1;
const WIDTH: usize = 96;

/// A ring of one stage: the peer reads the stage that is written next.
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

/// The mask is no remainder, because the number is no power of two.
#[cluster_kernel(cluster = 2, block = 64)]
fn masked(output: &mut [u32], rounds: usize) {
    const ROWS: usize = 3;
    let (cluster, block) = (this_cluster(), this_thread_block());
    let rows = shared_array::<[u32; 64], 4>();
    let i = block.thread_rank();
    let other = 1 - cluster.block_rank();
    for row in 0..4 {
        rows[row][i] = 1;
    }
    cluster.sync();
    for k in 0..rounds {
        output[i] += cluster.map_shared_rank(&rows, other)[k & (ROWS - 1)][i];
        rows[(k + 1) & (ROWS - 1)][i] = 2;
        cluster.sync();
    }
}

/// The halo's last cell is one of those that the owner reads.
#[cluster_kernel(cluster = 2, block = 64)]
fn halo(output: &mut [u32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let row = shared_array::<u32, { WIDTH + 1 }>();
    let i = block.thread_rank();
    row[i] = 1;
    cluster.sync();
    if i == 0 {
        cluster.map_shared_rank(&row, 1 - cluster.block_rank())[WIDTH] = 2;
    }
    output[i] = row[96];
    cluster.sync();
}

fn main() {}
