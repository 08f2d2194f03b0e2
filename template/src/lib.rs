//! The kernels, and the same in plain Rust for their tests.

use phalanx::prelude::*;

/// The number of blocks in a cluster, and of threads in a block.
pub const CLUSTER: usize = 4;
pub const BLOCK: usize = 128;

/// Adds to each element the one that the next block of the cluster has at the same place.
#[cluster_kernel(cluster = 4, block = 128)]
pub fn add_next(input: &[i32], output: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let published = shared_array::<i32, BLOCK>();
    let i = this_grid().thread_rank();

    published[block.thread_rank()] = input[i];
    let token = cluster.barrier_arrive(); // does not block: work that needs no peer can be here
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let remote = cluster.map_shared_rank(&published, next);
    cluster.barrier_wait(token); // all blocks of the cluster have published

    output[i] = input[i] + remote[block.thread_rank()];
    cluster.sync(); // no block leaves while a peer reads its memory
}

/// Runs the kernel on a device. The input is a whole number of clusters.
pub fn add_next_on(device: &Device, input: &[i32]) -> phalanx::Result<Vec<i32>> {
    let values = device.upload(input)?;
    let mut output = device.zeros(input.len())?;
    add_next(&values, &mut output)
        .grid((input.len() / BLOCK) as u32)
        .launch(device)?;
    output.read()
}

/// Returns what the kernel is to calculate.
pub fn add_next_in_rust(input: &[i32]) -> Vec<i32> {
    let of_cluster = |cluster: &[i32]| -> Vec<i32> {
        (0..cluster.len())
            .map(|i| cluster[i] + cluster[(i + BLOCK) % cluster.len()])
            .collect()
    };
    input.chunks(CLUSTER * BLOCK).flat_map(of_cluster).collect()
}
