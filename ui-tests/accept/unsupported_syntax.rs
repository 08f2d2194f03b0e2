//! The supported forms that replace unsupported syntax.

use phalanx::prelude::*;

const LIMIT: u32 = 4;

#[cluster_kernel]
fn syntax(output: &mut [u32], n: u32) {
    const STEP: usize = 2;
    if n == 0 {
        output[0] = LIMIT;
    } else if n > u32::MAX - 1 {
        output[0] = 2;
    }
    for i in (0..output.len()).rev().step_by(STEP) {
        output[i] = i as u32;
    }
    for (k, i) in (0..output.len()).step_by(STEP).enumerate() {
        output[i] += k as u32;
    }
    let mut x;
    {
        let y = 3;
        x = y;
    }
    x += 1;
    let _ = x;
    let old = output.atomic(0).compare_exchange(0, x, Relaxed, Relaxed);
    if let Err(seen) = old {
        output[1] = seen;
    }
}

/// Groups and memory in a tuple are lets of their own, and an index may read the array that it is an index of.
#[cluster_kernel(block = 32)]
fn tuples_and_indexes(output: &mut [u32]) {
    let (grid, mut block, shared) = (this_grid(), 3, shared_array::<u32, 32>());
    block += 1;
    shared[this_thread_block().thread_rank()] = block;
    let mut last = [1_u32; 4];
    last[last.len() - 1] = 2;
    last[last[0] as usize] = 3;
    last[last[1] as usize % 4] += last[2];
    output[grid.thread_rank()] = last[0] + shared[this_thread_block().thread_rank()];
}

/// So are peers' memory and barriers, and tokens.
#[cluster_kernel(cluster = 2, block = 32)]
fn tuples_of_peers(output: &mut [u32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (cells, ready) = (shared_array::<u32, 32>(), shared_cluster_barriers::<2>());
    ready.init_collective(&cluster, 1);
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let (own, other) = (cluster.map_shared_rank(&cells, rank), cluster.map_shared_rank(&cells, 1 - rank));
    let (first, second) = (cluster.map_shared_rank(&ready[0], 0), cluster.map_shared_rank(&ready[1], 1));
    cells[i] = i;
    let (of_cluster, of_block) = (cluster.barrier_arrive(), block.barrier_arrive());
    block.barrier_wait(of_block);
    cluster.barrier_wait(of_cluster);
    output[this_grid().thread_rank()] = own[i] + other[31 - i];
    if rank == 0 && i == 0 {
        first.arrive();
        second.arrive();
    }
    ready[rank].wait_parity(false);
    cluster.sync();
}

/// Names that get their values later.
#[cluster_kernel(block = 32)]
fn declared_together(input: &[f32], output: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    let (mut low, high, (first, second));
    let (count, flag): (u32, bool);
    if input[i] > 0.0 {
        (low, high, count) = (1.0, input[i], 3);
    } else {
        low = input[i];
        (high, count) = (2.0, 1);
    }
    flag = high > 1.0;
    (first, second) = (low, high);
    low += 1.0;
    output[i] = low * high + first * second + if flag { count as f32 } else { 0.0 };
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<syntax>,
    phalanx::Program::of::<tuples_and_indexes>,
    phalanx::Program::of::<tuples_of_peers>,
    phalanx::Program::of::<declared_together>,
];
