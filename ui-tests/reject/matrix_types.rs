//! Matrices whose types do not fit, which rustc finds.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn shapes(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tall = MatrixA::<f16, 32, 16>::splat(f16::ONE);
    let wide = MatrixB::<i8, 16, 8>::splat(1);
    let sums = Accumulator::<f64, 16, 8>::splat(0.0);
    out[0] = 1.0;
}

#[cluster_kernel(block = 32)]
fn operands(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let a = MatrixA::<f16, 16, 16>::splat(f16::ONE);
    let b = MatrixB::<f16, 16, 8>::splat(f16::ONE);
    let of_bf16 = MatrixB::<bf16, 16, 8>::splat(bf16::ONE);
    let c = Accumulator::<f32, 16, 8>::splat(0.0);
    let wide = Accumulator::<f32, 16, 16>::splat(0.0);
    let integers = Accumulator::<i32, 16, 8>::splat(0);
    out[0] = warp.mma(b, a, c)[0];
    out[1] = warp.mma(a, of_bf16, c)[0];
    out[2] = warp.mma(a, b, wide)[0];
    out[3] = warp.mma(a, b, integers)[0] as f32;
    out[4] = warp.mma(a, 1.0, c)[0];
}

#[cluster_kernel(block = 32)]
fn part_of_a_warp(out: &mut [f32]) {
    let half = tiled_partition::<16>(&this_thread_block());
    let a = MatrixA::<f16, 16, 16>::splat(f16::ONE);
    let c = half.mma(a, MatrixB::<f16, 16, 8>::splat(f16::ONE), Accumulator::<f32, 16, 8>::splat(0.0));
    out[0] = c[0];
}

#[cluster_kernel(block = 32)]
fn memory(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let flat = shared_array::<f16, 256>();
    let halves = shared_array::<[f16; 16], 16>();
    let bytes = shared_array::<[i8; 32], 32>();
    flat[warp.thread_rank()] = f16::ONE;
    halves[0][warp.thread_rank() / 2] = f16::ONE;
    bytes[0][warp.thread_rank()] = 1;
    warp.sync();
    let a: MatrixA<f16, 16, 16> = warp.load_matrix(&flat, 0, 0);
    let b: MatrixB<bf16, 16, 8> = warp.load_matrix(&halves, 0, 0);
    let by_rows: MatrixB<i8, 32, 8> = warp.load_matrix(&bytes, 0, 0);
    let transposed: MatrixA<i8, 16, 32> = warp.load_matrix_transposed(&bytes, 0, 0);
    warp.store_matrix(&halves, 0, 0, Accumulator::<f32, 16, 8>::splat(0.0));
    out[0] = a[0].to_f32();
}

/// Floats of 8 bits have no arithmetic, and no methods of other floats.
#[cluster_kernel(block = 32)]
fn arithmetic(input: &[e4m3], out: &mut [e4m3]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] + e4m3::MAX;
    out[i] = input[i].abs();
    out[i] = -input[i];
}

/// What is no matrix has no such constructor.
#[cluster_kernel(block = 32)]
fn constructor(out: &mut [f32]) {
    out[0] = other::MatrixA::splat(1.0);
}

mod other {
    pub struct MatrixA;
    impl MatrixA {
        pub fn splat(x: f32) -> f32 {
            x
        }
    }
}

fn main() {}
