//! Uses of closures that are refused.

use phalanx::prelude::*;

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[device]
fn not_a_closure(f: impl Number) {}

#[device]
fn changes(f: impl FnMut(u32)) {}

#[device]
fn of_tokens(f: impl Fn(ArrivalToken<Cluster>)) {}

#[device]
fn waits(block: &ThreadBlock) -> u32 {
    block.sync();
    1
}

#[cluster_kernel(cluster = 2, block = 32)]
fn collectives(output: &mut [u32]) {
    let block = this_thread_block();
    let cluster = this_cluster();
    output[0] = apply(
        |x| {
            block.sync();
            x
        },
        1,
    );
    let token = cluster.barrier_arrive();
    output[1] = apply(
        |x| {
            cluster.barrier_wait(token);
            x
        },
        1,
    );
}

#[cluster_kernel]
fn jumps(output: &mut [u32]) {
    for i in 0..4u32 {
        output[i] = apply(|x| if x > 2 { return 3 } else { x }, i);
        output[i] = apply(|x| if x > 2 { break } else { x }, i);
    }
    let f = |x: u32| x;
    let number = f + 1;
}

fn main() {}
