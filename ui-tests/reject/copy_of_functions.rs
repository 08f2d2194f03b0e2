//! `copy_in_flight` through device functions, which rustc finds when it joins their summaries.

use phalanx::prelude::*;

#[device]
fn fetch(block: &ThreadBlock, row: &SharedArray<f32, 64>, input: &[f32]) {
    memcpy_async(block, row, &input[..64]);
}

#[device]
fn prefetch(block: &ThreadBlock, row: &SharedArray<f32, 64>, input: &[f32]) {
    fetch(block, row, input);
}

#[device]
fn sum(row: &SharedArray<f32, 64>) -> f32 {
    row[0] + row[1]
}

#[device]
fn clear(row: &SharedArray<f32, 64>, i: u32) {
    row[i] = 0.0;
}

/// The function begins a copy, and nobody waits for it before the read.
#[cluster_kernel(block = 64)]
fn begun_in_a_function(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    prefetch(&block, &row, input);
    out[block.thread_rank()] = row[63 - block.thread_rank()];
    block.wait_async();
}

/// The function reads what the copy still writes.
#[cluster_kernel(block = 64)]
fn read_in_a_function(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    memcpy_async(&block, &row, &input[..64]);
    out[block.thread_rank()] = sum(&row);
    block.wait_async();
}

/// Both are in functions.
#[cluster_kernel(block = 64)]
fn both_in_functions(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    fetch(&block, &row, input);
    clear(&row, block.thread_rank());
    block.wait_async();
    out[block.thread_rank()] = row[0];
}

/// No thread waits for the function's copy.
#[cluster_kernel(block = 64)]
fn never_waited(input: &[f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    fetch(&block, &row, input);
}

fn main() {}
