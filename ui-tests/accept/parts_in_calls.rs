//! Parts of local arrays as arguments, which are the same in all threads of the block, and the result decides a barrier.

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
fn elements_and_bounds(n: u32) {
    let block = this_thread_block();
    let own = [n, 2, 3];
    if total(&own[1..]) > 3 {
        block.sync();
    }
    if total(&own) > 3 {
        block.sync();
    }
    if count(&own[..n as usize % 3]) > 1 {
        block.sync();
    }
    let (left, _) = own.split_at(n as usize % 3);
    if total(left) > 1 {
        block.sync();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<elements_and_bounds>];
