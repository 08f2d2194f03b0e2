//! One phase after the other, or of two groups at once.

use phalanx::prelude::*;

#[cluster_kernel]
fn one_after_the_other() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    cluster.barrier_wait(first);
    let second = cluster.barrier_arrive();
    cluster.barrier_wait(second);
}

#[cluster_kernel]
fn block_inside_cluster() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let first = cluster.barrier_arrive();
    let second = block.barrier_arrive();
    block.barrier_wait(second);
    cluster.barrier_wait(first);
}

#[cluster_kernel]
fn only_one_arm_arrives(n: u32) {
    let block = this_thread_block();
    let mut pending = None;
    if n > 1 {
        pending = Some(block.barrier_arrive());
    }
    if let Some(token) = pending {
        block.barrier_wait(token);
    } else {
        let token = block.barrier_arrive();
        block.barrier_wait(token);
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<one_after_the_other>,
    phalanx::Program::of::<block_inside_cluster>,
    phalanx::Program::of::<only_one_arm_arrives>,
];
