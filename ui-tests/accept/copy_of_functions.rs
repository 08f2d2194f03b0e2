//! The closest kernels to those of `reject/copy_of_functions.rs` that are right.

use phalanx::prelude::*;

#[device]
fn fetch(block: &ThreadBlock, row: &SharedArray<f32, 64>, input: &[f32]) {
    memcpy_async(block, row, &input[..64]);
}

#[device]
fn finish(block: &ThreadBlock) {
    block.wait_async();
}

#[device]
fn fetch_and_wait(block: &ThreadBlock, row: &SharedArray<f32, 64>, input: &[f32]) {
    fetch(block, row, input);
    finish(block);
}

#[device]
fn sum(row: &SharedArray<f32, 64>) -> f32 {
    row[0] + row[1]
}

#[device]
fn wait_and_sum(block: &ThreadBlock, row: &SharedArray<f32, 64>) -> f32 {
    finish(block);
    sum(row)
}

/// The function waits for its own copy.
#[cluster_kernel(block = 64)]
fn waited_in_the_function(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    fetch_and_wait(&block, &row, input);
    out[block.thread_rank()] = row[63 - block.thread_rank()];
}

/// One function begins the copy, and another one waits for it.
#[cluster_kernel(block = 64)]
fn waited_in_another(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    fetch(&block, &row, input);
    finish(&block);
    out[block.thread_rank()] = sum(&row);
}

/// The function begins the copy, and the kernel waits for it.
#[cluster_kernel(block = 64)]
fn waited_in_the_kernel(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let (row, other) = (shared_array::<f32, 64>(), shared_array::<f32, 64>());
    let i = block.thread_rank();
    other[i] = input[i];
    block.sync();
    fetch(&block, &row, input);
    out[i] = sum(&other);
    block.wait_async();
    out[i] += sum(&row);
}

/// The function waits for the kernel's copy.
#[cluster_kernel(block = 64)]
fn waited_and_read(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let row = shared_array::<f32, 64>();
    memcpy_async(&block, &row, &input[..64]);
    out[block.thread_rank()] = wait_and_sum(&block, &row);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<waited_in_the_function>,
    phalanx::Program::of::<waited_in_another>,
    phalanx::Program::of::<waited_in_the_kernel>,
    phalanx::Program::of::<waited_and_read>,
];
