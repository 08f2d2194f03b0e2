//! A token in a variable, in an `Option`, on its way through a function.

use phalanx::prelude::*;

#[device]
fn pass(token: ArrivalToken<Cluster>) -> ArrivalToken<Cluster> {
    token
}

#[cluster_kernel]
fn in_variables() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let moved = token;
    let pending = Some(moved);
    if let Some(token) = pending {
        let token: ArrivalToken<Cluster> = pass(token);
        cluster.barrier_wait(token);
    }
}

#[device]
fn start(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn from_a_function() {
    let cluster = this_cluster();
    let token: ArrivalToken<Cluster> = start(&cluster);
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn beside_values(output: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let pair = (cluster.thread_rank(), 1);
    cluster.barrier_wait(token);
    output[pair.0] = pair.1;
}

/// A closure that touches other things may stand between.
#[cluster_kernel]
fn beside_a_closure(output: &mut [u32]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let scale = |x: u32| x * 3;
    output[cluster.thread_rank()] = scale(5);
    cluster.barrier_wait(token);
}

/// An empty `Option` that is filled later.
#[cluster_kernel]
fn taken_from_an_option(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 2 {
        pending = Some(cluster.barrier_arrive());
    }
    match pending {
        Some(token) => cluster.barrier_wait(token),
        None => {}
    }
}

/// An array that a pattern takes apart is no place where tokens are kept.
#[cluster_kernel(block = 32)]
fn taken_apart() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    let [first, second] = [bars[0].arrive(), bars[1].arrive()];
    bars[0].wait(first);
    bars[1].wait(second);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<in_variables>,
    phalanx::Program::of::<from_a_function>,
    phalanx::Program::of::<beside_values>,
    phalanx::Program::of::<beside_a_closure>,
    phalanx::Program::of::<taken_from_an_option>,
    phalanx::Program::of::<taken_apart>,
];
