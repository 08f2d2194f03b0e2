//! The closest correct kernels to those of `reject/access_before_previous.rs`.

use phalanx::prelude::*;

#[cluster_kernel(block = 32, early(table))]
fn just_in_time(input: &[u32], table: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    let y = table[i];
    wait_previous();
    let x = input[i] + y;
    output[i] = 0;
    output[i] += x;
}

#[cluster_kernel(block = 32)]
fn on_all_paths(input: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i % 32 == 0 {
        wait_previous();
    } else {
        wait_previous();
    }
    output[i] = input[i];
}

#[cluster_kernel(block = 32)]
fn before_a_loop(output: &mut [u32], n: u32) {
    let i = this_grid().thread_rank();
    for k in 0..n.max(1) {
        if k == 0 {
            continue;
        }
        launch_dependents();
    }
    wait_previous();
    output.atomic(i).fetch_add(1, Relaxed);
}

#[device]
fn first(memory: &[u32]) -> u32 {
    memory[0]
}

#[cluster_kernel(block = 32, early(table))]
fn behind_a_function(table: &[u32], input: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    let x = first(table) + table.len() as u32 + input.len() as u32;
    let z = (0..4).map(|k| table[k]).sum::<u32>();
    wait_previous();
    let y = (0..4).map(|k| input[k]).sum::<u32>();
    output[i] = x + y + z;
}

#[cluster_kernel(block = 32)]
fn leaves(output: &mut [u32], n: usize) {
    let i = this_grid().thread_rank();
    wait_previous();
    if i >= n {
        return;
    }
    output[i] = 1;
}

/// Shared memory is the block's own, and a tensor's map may be read early, too.
#[cluster_kernel(block = 32, early(weights))]
fn prepares(weights: &TensorMap<[[f32; 32]; 8]>, input: &[f32], output: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<[f32; 32], 8>();
    let mine = shared_array::<f32, 32>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    mine[i] = i as f32;
    if i == 0 {
        weights.prefetch([0, 0]);
        weights.load_async([0, 0], &tile, &full);
        let _ = full.arrive();
    }
    wait_previous();
    full.wait_parity(false);
    output[this_grid().thread_rank()] = tile[0][i] * input[this_grid().thread_rank()] + mine[i];
}

/// One that is wrong in the compiler's eyes may be called by who knows better.
#[cluster_kernel(block = 32, unchecked(access_before_previous))]
fn waived(input: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    let x = input[i];
    wait_previous();
    output[i] = x;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<just_in_time>,
    phalanx::Program::of::<on_all_paths>,
    phalanx::Program::of::<before_a_loop>,
    phalanx::Program::of::<behind_a_function>,
    phalanx::Program::of::<leaves>,
    phalanx::Program::of::<prepares>,
    phalanx::Program::of::<waived>,
];
