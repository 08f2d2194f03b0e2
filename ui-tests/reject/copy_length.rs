//! Copies whose ends do not fit, by literals.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn one_too_short(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    memcpy_async(&block, &tile, &x[..63]);
    block.wait_async();
    y[block.thread_rank()] = tile[block.thread_rank()];
}

#[cluster_kernel(block = 64)]
fn no_multiple(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(4 * 62);
        bulk_copy_async(&tile[..62], &x[..62], &full);
        full.arrive();
    }
    full.wait_parity(false);
    y[block.thread_rank()] = tile[0];
}

#[cluster_kernel(block = 64)]
fn by_a_variable(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let count = 30;
    if block.thread_rank() == 0 {
        full.expect_tx(4 * count);
        bulk_copy_async(&tile[..count], &x[..count], &full);
        full.arrive();
    }
    full.wait_parity(false);
    y[block.thread_rank()] = tile[0];
}

#[cluster_kernel(block = 64)]
fn begins_between(x: &[f32], y: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        full.expect_tx(64);
        bulk_copy_async(&tile[2..18], &x[..16], &full);
        full.arrive();
    }
    full.wait_parity(false);
    y[block.thread_rank()] = tile[2];
}

fn main() {}
