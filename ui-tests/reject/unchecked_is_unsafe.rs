//! Where a rule is switched off, the caller promises instead: rustc asks for `unsafe`.

use phalanx::prelude::*;

#[device(unchecked(token_never_waited))]
fn arrive_only(cluster: &Cluster) {
    let token = cluster.barrier_arrive();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn caller() {
    let cluster = this_cluster();
    arrive_only(&cluster);
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(token_never_waited))]
fn kernel() {
    let token = this_cluster().barrier_arrive();
}

#[device]
fn sync_block(block: &ThreadBlock) {
    block.sync();
}

/// A smaller group's collective is allowed: the rule holds.
#[cluster_kernel(cluster = 2, block = 32, unchecked(collective_while_pending))]
fn not_needed_at_a_call() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let token = cluster.barrier_arrive();
    sync_block(&block);
    cluster.barrier_wait(token);
}

fn main() -> phalanx::Result<()> {
    let device = Device::simulator();
    kernel().grid(2).launch(&device)
}
