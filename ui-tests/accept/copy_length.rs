//! Copies whose ends fit.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn all(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    memcpy_async(&block, &tile, &x[..64]);
    block.wait_async();
    y[block.thread_rank()] = tile[block.thread_rank()];
}

#[cluster_kernel(block = 64)]
fn a_multiple(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(4 * 60);
        bulk_copy_async(&tile[..60], &x[..60], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    y[block.thread_rank()] = tile[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<all>, phalanx::Program::of::<a_multiple>];
