//! A token that a device function returns is bound with its type; a group goes by its own name. rustc's messages.

use phalanx::prelude::*;

mod renamed {
    pub use phalanx::ThreadBlock as Cluster;
}

#[device]
fn maybe(cluster: &Cluster) -> Option<ArrivalToken<Cluster>> {
    Some(cluster.barrier_arrive())
}

#[cluster_kernel]
fn without_its_type() {
    let cluster = this_cluster();
    let mut pending = None;
    pending = maybe(&cluster);
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[device]
fn under_another_name(block: &ThreadBlock, token: ArrivalToken<renamed::Cluster>) {
    block.sync();
    block.barrier_wait(token);
}

#[cluster_kernel]
fn of_an_inner_block() {
    let cluster = this_cluster();
    {
        let token = cluster.barrier_arrive();
        cluster.barrier_wait(token);
    }
    cluster.barrier_wait(token);
}

#[device]
fn nothing(x: u32) {}

#[cluster_kernel]
fn no_value() {
    let unit = nothing(3);
}

#[cluster_kernel]
fn hidden_parameter(output: &mut [u32], n: u32) {
    const n: u32 = 3;
    output[0] = n;
}

fn main() {}
