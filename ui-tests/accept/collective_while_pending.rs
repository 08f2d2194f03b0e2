//! A smaller group's collective inside a larger group's phase, and helpers that do no more.

use phalanx::prelude::*;

#[device]
fn reverse(block: &ThreadBlock, array: &SharedArray<u32, 32>) {
    let rank = block.thread_rank();
    let mine = array[rank];
    block.sync();
    array[31 - rank] = mine;
    block.sync();
}

#[cluster_kernel(block = 32)]
fn block_sync_between(output: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    array[block.thread_rank()] = block.thread_rank();
    let token = cluster.barrier_arrive();
    block.sync();
    reverse(&block, &array);
    cluster.barrier_wait(token);
    output[cluster.thread_rank()] = array[block.thread_rank()];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<block_sync_between>];
