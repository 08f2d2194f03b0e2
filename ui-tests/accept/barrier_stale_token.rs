//! The closest kernels in which a token is of the current phase or of the one before.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn one_phase_later() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let first = bar.arrive();
    bar.wait_parity(false);
    bar.arrive_and_wait();
    bar.wait_parity(true);
    let second = bar.arrive();
    bar.wait(second);
}

/// Each thread arrives twice in the phase.
#[cluster_kernel(block = 32)]
fn of_the_phase_before() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let old = bar.arrive();
    bar.arrive_and_wait();
    bar.wait(old);
}

/// A new one each round.
#[cluster_kernel(block = 64)]
fn carried_round_a_loop(rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let mut token = bar.arrive();
    for _ in 0..rounds {
        bar.wait(token);
        token = bar.arrive();
    }
    bar.wait(token);
}

#[cluster_kernel(block = 64)]
fn others_go_on() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    let old = bars[1].arrive();
    bars[0].arrive_and_wait();
    bars[0].arrive_and_wait();
    bars[0].arrive_and_wait();
    bars[1].wait(old);
}

/// Nothing says that the phases are over.
#[cluster_kernel(block = 64)]
fn asked_meanwhile() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 128);
    let old = bar.arrive();
    if bar.try_wait(&old) {
        block.thread_rank();
    }
    let second = bar.arrive();
    while !bar.try_wait(&second) {}
    if bar.try_wait(&old) && bar.try_wait(&second) {}
}

#[cluster_kernel(block = 64)]
fn in_an_option(n: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let mut pending = None;
    for round in 0..n {
        if let Some(token) = pending {
            bar.wait(token);
        }
        pending = Some(bar.arrive());
    }
    if let Some(token) = pending {
        bar.wait(token);
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<one_phase_later>,
    phalanx::Program::of::<of_the_phase_before>,
    phalanx::Program::of::<carried_round_a_loop>,
    phalanx::Program::of::<others_go_on>,
    phalanx::Program::of::<asked_meanwhile>,
    phalanx::Program::of::<in_an_option>,
];
