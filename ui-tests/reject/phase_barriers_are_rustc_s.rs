//! rustc checks the uses of a token of a phase barrier: each barrier has a type of its own.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn mixed() {
    let cluster = this_cluster();
    let block = this_thread_block();
    let full = shared_barrier();
    let empty = shared_barriers::<2>();
    let peers = shared_cluster_barrier();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 32);
    peers.init_collective(&cluster, 32);

    let token = full.arrive();
    empty[0].wait(token);

    let token = peers.arrive();
    if full.try_wait(&token) {}
    peers.wait(token);

}

#[cluster_kernel(block = 32)]
fn reused(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    let token = bar.arrive();
    bar.wait(token);
    bar.wait(token);

    let token = bar.arrive();
    bar.arrive();
    if bar.try_wait(&token) {}
    let copy = token;
    bar.wait(token);
}

#[cluster_kernel(block = 32)]
fn is_no_number(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    let token = bar.arrive();
    out[0] = token + 1;
}

#[device]
fn publish(bar: &Barrier, _other: u32) -> ArrivalToken<Barrier> {
    bar.arrive()
}

#[device]
fn exchange<B: Brand>(full: &Barrier<B>, empty: &Barrier) -> ArrivalToken<Barrier<B>> {
    full.arrive_and_wait();
    empty.arrive()
}

#[cluster_kernel(block = 32)]
fn through_functions() {
    let block = this_thread_block();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 32);
    let token = publish(&full, 0);
    empty.wait(token);
    let token = publish(&block, 0);
}

#[cluster_kernel(block = 32)]
fn forged() {
    let block = this_thread_block();
    let bar = shared_barrier();
    bar.init_collective(&block, 32);
    let token: ArrivalToken<Barrier> = 7;
    bar.wait(token);
}

fn main() {}
