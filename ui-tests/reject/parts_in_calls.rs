//! Parts of local arrays as arguments, where the threads of a block have different ones, and the result decides a barrier.

use phalanx::prelude::*;

#[device]
fn total(values: &[u32]) -> u32 {
    values.iter().sum()
}

#[device]
fn count(values: &[u32]) -> usize {
    values.len()
}

#[cluster_kernel(block = 64)]
fn elements_of_the_part(n: u32) {
    let block = this_thread_block();
    let own = [n, block.thread_rank()];
    if total(&own[1..]) > 3 {
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn elements_of_the_array(n: u32) {
    let block = this_thread_block();
    let own = [n, block.thread_rank()];
    if total(&own) > 3 {
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn bounds_of_the_part(n: u32) {
    let block = this_thread_block();
    let own = [n, 2, 3];
    if count(&own[..block.thread_rank() as usize % 3]) > 1 {
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn parts_with_names(n: u32) {
    let block = this_thread_block();
    let own = [n, 2, 3];
    let (left, _) = own.split_at(block.thread_rank() as usize % 3);
    if total(left) > 1 {
        block.sync();
    }
}

fn main() {}
