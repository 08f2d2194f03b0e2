//! A token stays where it can be followed.

use phalanx::prelude::*;

#[cluster_kernel]
fn into_a_tuple() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let pair = (token, 1);
}

#[cluster_kernel]
fn into_an_array() {
    let cluster = this_cluster();
    let tokens = [cluster.barrier_arrive()];
}

struct Holder {
    token: ArrivalToken<Cluster>,
}

#[cluster_kernel]
fn into_a_result() {
    let cluster = this_cluster();
    let result: Result<ArrivalToken<Cluster>, u32> = Ok(cluster.barrier_arrive());
}

#[cluster_kernel]
fn into_a_struct() {
    let cluster = this_cluster();
    let holder = Holder { token: cluster.barrier_arrive() };
}

#[cluster_kernel]
fn into_a_closure() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let wait = || cluster.barrier_wait(token);
}

#[cluster_kernel]
fn into_memory(output: &mut [u32]) {
    let cluster = this_cluster();
    output[0] = cluster.barrier_arrive();
}

#[device]
fn behind_a_reference(token: &ArrivalToken<Cluster>) {}

#[device]
fn look(x: &u32) -> u32 {
    *x
}

#[cluster_kernel]
fn as_a_reference() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    look(&token);
    cluster.barrier_wait(token);
}

#[cluster_kernel(block = 32)]
fn of_phase_barriers() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    let tokens = [bars[0].arrive(), bars[1].arrive()];
    bars[0].wait(tokens[0]);
    bars[1].wait(tokens[1]);
}

#[cluster_kernel(block = 32)]
fn options_of_phases(rounds: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    let mut tokens = [None, None];
    for round in 0..rounds {
        let token = bars[round % 2].arrive();
        tokens[round % 2] = Some(token);
    }
}

fn main() {}
