//! Threads that leave where no collective follows, or all together.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn behind_the_last_collective(data: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let i = this_grid().thread_rank();
    if i < data.len() {
        tile[block.thread_rank()] = data[i];
    }
    block.sync();
    if i >= data.len() {
        return;
    }
    out[i] = tile[block.thread_rank()];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn whole_clusters(n: usize) {
    let cluster = this_cluster();
    if this_grid().cluster_rank() >= n {
        return;
    }
    cluster.sync();
}

/// Who returns from a function, comes back to its caller.
#[device]
fn clamped(x: u32) -> u32 {
    if x > 9 {
        return 9;
    }
    x
}

#[cluster_kernel(cluster = 2, block = 64)]
fn from_a_function(out: &mut [u32]) {
    let block = this_thread_block();
    out[block.thread_rank()] = clamped(block.thread_rank());
    block.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<behind_the_last_collective>,
    phalanx::Program::of::<whole_clusters>,
    phalanx::Program::of::<from_a_function>,
];
