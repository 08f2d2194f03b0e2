//! Vectors that there are not, and of other types: rustc's to refuse.

use phalanx::prelude::*;

#[cluster_kernel]
fn too_wide(input: &[f64]) {
    let v = input.load_vec::<4>(0);
}

#[cluster_kernel]
fn no_power_of_two(input: &[f32]) {
    let v = input.load_vec::<3>(0);
}

#[cluster_kernel]
fn other_element(output: &mut [f32]) {
    output.store_vec(0, u32x4::splat(1));
}

#[cluster_kernel]
fn other_count() {
    let v = f32x4::new([1.0, 2.0]);
}

fn main() {}
