//! Attributes with every option, in each of its forms.

use phalanx::prelude::*;

#[cluster_kernel(cluster = (2, 2), block = (8, 4, 2))]
fn extents() {}

#[cluster_kernel(block = 1_024, cluster = 16, non_portable)]
fn largest() {}

#[cluster_kernel]
fn left_to_the_launch() {}

#[cluster_kernel(block = (32, 4), min_blocks = 8, shared_bytes = 4_096, fmad, fence = "full",)]
fn one_of_each(x: f32) {}

#[cluster_kernel(max_registers = 0x40, fast_math, fence = "inferred")]
fn registers(x: f32) {}

/// A phase barrier of the block, copies by threads and ranks are what each architecture has.
#[cluster_kernel(block = 64, arch = "sm_80")]
fn on_older_gpus(input: &[f32], output: &mut [f32]) {
    let (block, cluster) = (this_thread_block(), this_cluster());
    let (tile, full) = (shared_array::<f32, 64>(), shared_barrier());
    full.init_collective(&block, 64);
    memcpy_async(&block, &tile, &input[..64]);
    block.wait_async();
    full.arrive_and_wait();
    output[this_grid().thread_rank()] = tile[63 - block.thread_rank()] * cluster.num_blocks() as f32;
}

#[cluster_kernel(block = 64, arch = "sm_90a")]
fn on_hopper(output: &mut [u32]) {
    let cluster = this_cluster();
    cluster.sync();
    output[this_grid().thread_rank()] = cluster.block_rank();
}

#[cluster_kernel]
#[cfg(any())]
fn left_out(x: NoSuchType) {}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<extents>,
    phalanx::Program::of::<largest>,
    phalanx::Program::of::<left_to_the_launch>,
    phalanx::Program::of::<one_of_each>,
    phalanx::Program::of::<registers>,
    phalanx::Program::of::<on_older_gpus>,
    phalanx::Program::of::<on_hopper>,
];
