//! A device function that uses the group is called where nobody has forgotten, one of a smaller group everywhere.

use phalanx::prelude::*;

#[device]
fn meet(cluster: &Cluster) {
    cluster.sync();
}

#[device]
fn meet_block(block: &ThreadBlock) {
    block.sync();
}

#[cluster_kernel]
fn on_the_other_path(n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    if n == 0 {
        token.forget();
    } else {
        cluster.barrier_wait(token);
        meet(&cluster);
    }
}

#[cluster_kernel]
fn of_a_smaller_group() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    token.forget();
    let block = this_thread_block();
    meet_block(&block);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<on_the_other_path>, phalanx::Program::of::<of_a_smaller_group>];
