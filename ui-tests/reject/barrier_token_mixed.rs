//! A token that another barrier gave. Of an array's elements, the text shows it where literals choose them; a signature says
//! whose a token is; the rest is rustc's, by types.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn of_the_other_element() {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    let token = bars[0].arrive();
    bars[1].wait(token);
}

#[cluster_kernel(block = 64)]
fn crossed() {
    let block = this_thread_block();
    let bars = shared_barriers::<4>();
    bars.init_collective(&block, 64);
    let first = bars[1].arrive();
    let second = bars[2].arrive();
    bars[1].wait(second);
    bars[2].wait(first);
}

#[cluster_kernel(block = 64)]
fn asked(n: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    let pending = if n > 0 { Some(bars[1].arrive()) } else { None };
    if let Some(token) = pending {
        while !bars[0].try_wait(&token) {}
    }
}

#[device]
fn whose(full: &Barrier, empty: &Barrier, token: ArrivalToken<Barrier>) {
    full.wait(token);
}

#[device]
fn of_which(full: &Barriers<2>, empty: &Barriers<2>) -> ArrivalToken<Barrier> {
    full[0].arrive()
}

fn main() {}
