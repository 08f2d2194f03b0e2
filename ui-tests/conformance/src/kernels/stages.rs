//! The five stages (before, arrival, between, wait, after) of each barrier, iterated. `toolkit/by_hand.cu` has each of
//! these kernels written by hand with CUDA's own headers; both are compared with the same results.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// A block's barrier: values go round the block.
#[cluster_kernel(block = 128)]
fn block_stages(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let own = shared_array::<u32, 128>();
    let i = block.thread_rank();
    let mut value = input[this_grid().thread_rank()];
    let mut work = 1;
    for round in 0..rounds {
        own[i] = value;
        let token = block.barrier_arrive();
        // More than arithmetic, so that it stays two barriers.
        if round > 0 {
            work = work * 3 + round;
        } else {
            work = 3;
        }
        block.barrier_wait(token);
        value = own[(i + 1) % 128] * work;
        block.sync();
    }
    out[this_grid().thread_rank()] = value;
}

/// A cluster's: values go round the blocks.
#[cluster_kernel(cluster = 4, block = 128)]
fn cluster_stages(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let own = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let peer = (cluster.block_rank() + 1) % cluster.num_blocks();
    let mut value = input[this_grid().thread_rank()];
    let mut work = 1;
    for round in 0..rounds {
        own[i] = value;
        let token = cluster.barrier_arrive();
        work = work * 3 + round;
        cluster.barrier_wait(token);
        value = cluster.map_shared_rank(&own, peer)[127 - i] * work;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = value;
}

/// The grid's: values go round all threads, through global memory.
#[cluster_kernel(block = 128)]
fn grid_stages(input: &[u32], passed: &mut [u32], out: &mut [u32], rounds: u32) {
    let grid = this_grid();
    let i = grid.thread_rank();
    let mut value = input[i];
    let mut work = 1;
    for round in 0..rounds {
        passed[i] = value;
        let token = grid.barrier_arrive();
        work = work * 3 + round;
        grid.barrier_wait(token);
        value = passed[(i + 129) % grid.num_threads()] * work;
        grid.sync();
    }
    out[i] = value;
}

/// Uses a phase barrier of the block: half of the threads write what the other half reads, and do not wait until they write again.
#[cluster_kernel(block = 128)]
fn phase_stages(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let own = shared_array::<u32, 64>();
    let full = shared_barrier();
    let empty = shared_barrier();
    if block.thread_rank() == 0 {
        full.init(block.num_threads());
        empty.init(block.num_threads());
    }
    block.sync();
    let i = block.thread_rank();
    let mut value = input[this_grid().thread_rank()];
    let mut work = 1;
    for round in 0..rounds {
        if i < 64 {
            own[i] = value;
        }
        let token = full.arrive();
        work = work * 3 + round;
        full.wait(token);
        if i < 64 {
            value = value * 5 + work;
        } else {
            value += own[127 - i] * work;
        }
        let token = empty.arrive();
        empty.wait(token);
    }
    out[this_grid().thread_rank()] = value;
}

/// Uses phase barriers of the cluster: each block signals the next one that it has written, and the previous one that it has read.
#[cluster_kernel(cluster = 4, block = 128)]
fn remote_stages(input: &[u32], passed: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let full = shared_cluster_barrier();
    let empty = shared_cluster_barrier();
    full.init_collective(&cluster, block.num_threads());
    empty.init_collective(&cluster, block.num_threads());
    let blocks = cluster.num_blocks();
    let before = (cluster.block_rank() + blocks - 1) % blocks;
    let next = (cluster.block_rank() + 1) % blocks;
    let i = this_grid().thread_rank();
    let other = (this_grid().cluster_rank() * 4 + before as usize) * 128 + 127 - block.thread_rank() as usize;
    let mut value = input[i];
    let mut work = 1;
    for round in 0..rounds {
        passed[i] = value;
        cluster.map_shared_rank(&full, next).arrive();
        work = work * 3 + round;
        full.wait_parity(round % 2 == 1);
        value = passed[other] * work;
        cluster.map_shared_rank(&empty, before).arrive();
        empty.wait_parity(round % 2 == 1);
    }
    out[i] = value;
    cluster.sync();
}

const THREADS: usize = 8 * 128;

fn input() -> Vec<u32> {
    (0..THREADS as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7).collect()
}

/// Returns the result if `step` makes the next values of all threads from those of an iteration and its factor.
fn rounds_of(rounds: u32, step: impl Fn(&[u32], u32) -> Vec<u32>) -> Vec<u32> {
    let (mut values, mut work) = (input(), 1_u32);
    for round in 0..rounds {
        work = work.wrapping_mul(3).wrapping_add(round);
        values = step(&values, work);
    }
    values
}

/// Makes one launch for each of some numbers of iterations.
macro_rules! check {
    ($name:ident, $kernel:ident($($passed:ident)?), |$values:ident, $work:ident, $i:ident| $step:expr) => {
        fn $name(device: &Device) -> Outcome {
            let input = device.upload(&input())?;
            $(let mut $passed = device.zeros(THREADS)?;)?
            for rounds in [0, 1, 2, 75] {
                let got = read!(device, THREADS, |out| $kernel(&input, $(&mut $passed,)? out, rounds).grid(8));
                let want = rounds_of(rounds, |$values, $work| (0..THREADS).map(|$i| $step).collect());
                same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
            }
            Ok(())
        }
    };
}

check!(of_a_block, block_stages(), |values, work, i| values[i / 128 * 128 + (i + 1) % 128].wrapping_mul(work));
check!(of_a_cluster, cluster_stages(), |values, work, i| {
    let (cluster, block) = (i / 512 * 512, i % 512 / 128);
    values[cluster + (block + 1) % 4 * 128 + 127 - i % 128].wrapping_mul(work)
});
check!(of_the_grid, grid_stages(passed), |values, work, i| values[(i + 129) % THREADS].wrapping_mul(work));
check!(of_a_phase_barrier, phase_stages(), |values, work, i| {
    let (block, rank) = (i / 128 * 128, i % 128);
    if rank < 64 {
        values[i].wrapping_mul(5).wrapping_add(work)
    } else {
        values[i].wrapping_add(values[block + 127 - rank].wrapping_mul(work))
    }
});
check!(of_peers, remote_stages(passed), |values, work, i| {
    let (cluster, block) = (i / 512 * 512, i % 512 / 128);
    values[cluster + (block + 3) % 4 * 128 + 127 - i % 128].wrapping_mul(work)
});

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "stages",
        checks: check_list![of_a_block, of_a_cluster, of_the_grid, of_a_phase_barrier, of_peers],
        kernels: kernel_list![block_stages, cluster_stages, grid_stages, phase_stages, remote_stages],
    }]
}
