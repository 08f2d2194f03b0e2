//! Tokens of two groups, the smaller inside the larger.

use phalanx::prelude::*;

#[cluster_kernel]
fn nested() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let outer = cluster.barrier_arrive();
    let inner = block.barrier_arrive();
    block.barrier_wait(inner);
    cluster.barrier_wait(outer);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<nested>];
