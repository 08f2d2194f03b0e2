//! Arrivals that follow each other's waits, or are at two groups.

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

/// Each round waits before it arrives again.
#[cluster_kernel]
fn round_a_loop(n: u32) {
    let cluster = this_cluster();
    let mut token = cluster.barrier_arrive();
    for _ in 0..n {
        cluster.barrier_wait(token);
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
}

#[device]
fn waits_first(cluster: &Cluster, token: ArrivalToken<Cluster>) -> ArrivalToken<Cluster> {
    cluster.barrier_wait(token);
    cluster.barrier_arrive()
}

#[cluster_kernel]
fn through_a_call() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second: ArrivalToken<Cluster> = waits_first(&cluster, first);
    cluster.barrier_wait(second);
}

#[cluster_kernel]
fn in_both_arms(n: u32) {
    let cluster = this_cluster();
    let token = if n > 1 { cluster.barrier_arrive() } else { this_cluster().barrier_arrive() };
    cluster.barrier_wait(token);
}

/// Another barrier tells the thread that the phase is over.
#[cluster_kernel(block = 64)]
fn told_by_another_phase_barrier(rounds: u32) {
    let block = this_thread_block();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 64);
    empty.init_collective(&block, 64);
    for _ in 0..rounds {
        let _ = full.arrive();
        empty.arrive_and_wait();
    }
}

/// Each thread counts twice a phase.
#[cluster_kernel(block = 64)]
fn twice_a_phase() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 2 * block.num_threads());
    let _ = bar.arrive();
    bar.arrive_and_wait();
}

/// The token of the round before is waited on before the next arrival.
#[cluster_kernel(block = 64)]
fn in_an_option(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let row = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let mut read = Some(bar.arrive());
    for round in 0..rounds {
        if let Some(token) = read.take() {
            while !bar.try_wait(&token) {}
            bar.wait(token);
        }
        row[i] = input[i] + round;
        let written = bar.arrive();
        bar.wait(written);
        out[round * 64 + i] = row[63 - i];
        read = Some(bar.arrive());
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<one_after_the_other>,
    phalanx::Program::of::<block_inside_cluster>,
    phalanx::Program::of::<only_one_arm_arrives>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<through_a_call>,
    phalanx::Program::of::<in_both_arms>,
    phalanx::Program::of::<told_by_another_phase_barrier>,
    phalanx::Program::of::<twice_a_phase>,
    phalanx::Program::of::<in_an_option>,
];
