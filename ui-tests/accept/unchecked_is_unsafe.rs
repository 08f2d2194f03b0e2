//! A rule that a call breaks.

use phalanx::prelude::*;

#[device]
fn sync_cluster(cluster: &Cluster) {
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32, unchecked(collective_while_pending))]
fn needed_at_a_call() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    sync_cluster(&cluster);
    cluster.barrier_wait(token);
}

fn launched_in_a_block(device: &Device) -> phalanx::Result<()> {
    // SAFETY: to show the form; nothing launches it.
    unsafe { needed_at_a_call() }.grid(2).launch(device)
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<needed_at_a_call>];
