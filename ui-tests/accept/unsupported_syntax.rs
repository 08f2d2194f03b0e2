//! The supported forms that replace unsupported syntax.

use phalanx::prelude::*;

const LIMIT: u32 = 4;

#[cluster_kernel]
fn syntax(output: &mut [u32], n: u32) {
    const STEP: usize = 2;
    if n == 0 {
        output[0] = LIMIT;
    } else if n > u32::MAX - 1 {
        output[0] = 2;
    }
    for i in (0..output.len()).rev().step_by(STEP) {
        output[i] = i as u32;
    }
    let mut x;
    {
        let y = 3;
        x = y;
    }
    x += 1;
    let _ = x;
    let old = output.atomic(0).compare_exchange(0, x, Relaxed, Relaxed);
    if let Err(seen) = old {
        output[1] = seen;
    }
}

/// Groups and memory in a tuple are lets of their own, and an index may read the array that it is an index of.
#[cluster_kernel(block = 32)]
fn tuples_and_indexes(output: &mut [u32]) {
    let (grid, mut block, shared) = (this_grid(), 3, shared_array::<u32, 32>());
    block += 1;
    shared[this_thread_block().thread_rank()] = block;
    let mut last = [1_u32; 4];
    last[last.len() - 1] = 2;
    last[last[0] as usize] = 3;
    last[last[1] as usize % 4] += last[2];
    output[grid.thread_rank()] = last[0] + shared[this_thread_block().thread_rank()];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<syntax>, phalanx::Program::of::<tuples_and_indexes>];
