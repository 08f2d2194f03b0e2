//! Closures as rustc sees them.

use phalanx::prelude::*;

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[device]
fn waits(block: &ThreadBlock) -> u32 {
    block.sync();
    1
}

#[cluster_kernel]
fn collective(output: &mut [u32]) {
    let block = this_thread_block();
    output[0] = apply(|x| x + waits(&block), 1);
}

#[cluster_kernel]
fn captures(output: &mut [u32]) {
    let mut count = 0;
    output[0] = apply(
        |x| {
            count += 1;
            x
        },
        1,
    );
    output[1] = count;
}

#[cluster_kernel]
fn types(output: &mut [u32]) {
    output[0] = apply(|x| x as f32, 1);
    output[1] = apply(|x, y| x, 1);
}

fn main() {}
