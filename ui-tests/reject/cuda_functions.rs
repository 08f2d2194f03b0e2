//! CUDA's functions of numbers: how many arguments they have, and that their operands are numbers. A timer differs between threads.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn arguments(input: &[i32], out: &mut [i32]) {
    let i = this_thread_block().thread_rank();
    out[i] = cuda::dp4a(input[i], input[i]);
    out[i] = cuda::sad(1, 2);
    out[i] = cuda::hneg2(f16x2::splat(f16::ONE), 2);
    out[i] = cuda::mulhi(input, 3);
    out[i] = cuda::byte_perm(this_thread_block(), 1, 2);
    out[i] = cuda::clock64(i);
}

#[cluster_kernel(block = 32)]
fn timed(out: &mut [u32]) {
    let block = this_thread_block();
    let begin = cuda::clock64();
    while cuda::clock64() - begin < 100 {
        block.sync();
    }
    if begin % 2 == 0 {
        block.sync();
    }
}

#[device]
fn elapsed(begin: u64) -> u64 {
    cuda::globaltimer() - begin
}

#[cluster_kernel(cluster = 2, block = 32)]
fn timed_by_a_function(out: &mut [u32]) {
    out[0] = 1;
    if elapsed(3) > 1_000 {
        this_cluster().sync();
    }
}

fn main() {}
