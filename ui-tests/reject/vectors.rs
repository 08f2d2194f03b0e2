//! Vectors.

use phalanx::prelude::*;

#[cluster_kernel]
fn vectors(input: &[f32], output: &mut [f32], n: u32) {
    let v = input.load_vec(0);
    let v = input.load_vec::<4>();
    let v = input.load_vec::<4, 2>(0);
    let v = f32x4::new(1.0, 2.0, 3.0, 4.0);
    let v = f32x4::zero();
    let v = Vector::splat();
    input.store_vec(0, f32x4::splat(1.0));
    output.store_vec(0);
    n.load_vec::<4>(0);
    output.len::<u32>();
}

fn main() {}
