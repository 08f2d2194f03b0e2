//! Types of other meanings with the names of Rust's own scalars, where the checks go by the name.

#![allow(non_camel_case_types)]

use phalanx::prelude::*;

type u64 = core::primitive::u32;
type u32 = core::primitive::u16;
type f32 = core::primitive::f64;

#[cluster_kernel(block = 32)]
fn casts(output: &mut [f32]) {
    let block = this_thread_block();
    output[block.thread_rank() as u64 as usize] = block.thread_rank() as u32 as f32;
}

#[cluster_kernel(block = 32)]
fn elements() {
    let a = dynamic_shared_slice::<f32>(0, 1);
    a[0] = 1.0;
}

fn main() {}
