//! The closest kernels in which a token is used at its own barrier.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn of_the_element() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    let token = bars[1].arrive();
    bars[1].wait(token);
}

#[cluster_kernel(block = 64)]
fn in_turn() {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    bars.init_collective(&block, 64);
    let mut token = bars[1].arrive();
    bars[1].wait(token);
    token = bars[2].arrive();
    bars[2].wait(token);
}

/// The index of the element is known only at run time.
#[cluster_kernel(block = 64)]
fn by_the_round(rounds: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    for round in 0..rounds {
        let token = bars[round % 2].arrive();
        bars[round % 2].wait(token);
    }
    let one = rounds % 2;
    let token = if one == 0 { bars[0].arrive() } else { bars[1].arrive() };
    bars[one].wait(token);
}

#[device]
fn whose<B: Brand>(full: &Barrier<B>, empty: &Barrier, token: ArrivalToken<Barrier<B>>) {
    full.wait(token);
    empty.arrive_and_wait();
}

#[device]
fn of_which<B: Brand>(full: &Barriers<2, B>, empty: &Barriers<2>) -> ArrivalToken<Barrier<B>> {
    empty[0].arrive_and_wait();
    full[0].arrive()
}

#[cluster_kernel(block = 64)]
fn given() {
    let block = this_thread_block();
    let full = shared_barrier();
    let empty = shared_barrier();
    let bars = shared_barriers::<2>();
    let others = shared_barriers::<2>();
    full.init_collective(&block, 64);
    empty.init_collective(&block, 64);
    bars.init_collective(&block, 64);
    others.init_collective(&block, 64);
    let token = full.arrive();
    whose(&full, &empty, token);
    bars[0].wait(of_which(&bars, &others));
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<of_the_element>,
    phalanx::Program::of::<in_turn>,
    phalanx::Program::of::<by_the_round>,
    phalanx::Program::of::<given>,
];
