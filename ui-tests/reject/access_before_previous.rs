//! Global memory that is accessed before the launches in front of the kernel have ended, and a kernel that ends before that.

use phalanx::prelude::*;

#[cluster_kernel(block = 32, early(table))]
fn too_early(input: &[u32], table: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    let x = input[i] + table[i];
    output[i] = 0;
    wait_previous();
    output[i] += x;
}

#[cluster_kernel(block = 32)]
fn on_some_path(input: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i % 32 == 0 {
        wait_previous();
    }
    output[i] = input[i];
}

#[cluster_kernel(block = 32)]
fn in_a_loop(output: &mut [u32], n: u32) {
    let i = this_grid().thread_rank();
    for _ in 0..n {
        wait_previous();
    }
    output.atomic(i).fetch_add(1, Relaxed);
}

#[device]
fn first(memory: &[u32]) -> u32 {
    memory[0]
}

#[cluster_kernel(block = 32)]
fn in_a_function(input: &[u32], output: &mut [u32]) {
    let i = this_grid().thread_rank();
    let x = first(input);
    let y = (0..4).map(|k| input[k]).sum::<u32>();
    wait_previous();
    output[i] = x + y;
}

#[cluster_kernel(block = 32)]
fn leaves(output: &mut [u32], n: usize) {
    let i = this_grid().thread_rank();
    if i >= n {
        return;
    }
    wait_previous();
    output[i] = 1;
}

fn main() {}
