use phalanx::prelude::*;

/// Adds to each element the one that the next block of the cluster has at the same place.
#[cluster_kernel(cluster = 4, block = 128)]
pub fn add_next(input: &[i32], output: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let published = shared_array::<i32, 128>();
    let i = this_grid().thread_rank();

    published[block.thread_rank()] = input[i];
    let token = cluster.barrier_arrive();
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let remote = cluster.map_shared_rank(&published, next);
    if input.len() < 512 {
        return; // the first mistake
    }
    cluster.barrier_wait(token);

    output[i] = input[i] + remote[block.thread_rank()];
    // The second mistake: no barrier after the last access to a peer's memory.
}

fn main() {}
