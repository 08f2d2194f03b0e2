//! Uses of closures that are refused.

use phalanx::prelude::*;

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[device]
fn of_two_bounds(f: impl Fn(u32) -> u32 + Copy) {}

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

#[cluster_kernel]
fn too_many(output: &mut [u32]) {
    let one = |x: u32| x;
    let two = |x: u32| one(x) + one(x + 1);
    let four = |x: u32| two(x) + two(x + 1);
    let eight = |x: u32| four(x) + four(x + 1);
    let sixteen = |x: u32| eight(x) + eight(x + 1);
    let more = |x: u32| sixteen(x) + sixteen(x + 1);
    let many = |x: u32| more(x) + more(x + 1);
    let hundred = |x: u32| many(x) + many(x + 1);
    let hundreds = |x: u32| hundred(x) + hundred(x + 1);
    let most = |x: u32| hundreds(x) + hundreds(x + 1);
    output[0] = most(1) + most(2) + most(3);
}

fn main() {}
