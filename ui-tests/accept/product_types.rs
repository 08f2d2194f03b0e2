//! Products of warpgroups, as near as possible to those that rustc refuses by their types.

use phalanx::WarpgroupElement;
use phalanx::prelude::*;

/// The left operand is in registers, of each kind of elements.
#[cluster_kernel(block = 128)]
fn of_registers(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let halves = shared_array::<Swizzled<bf16, 64>, 64>();
    let floats = shared_array::<Swizzled<e4m3, 64>, 64>();
    let integers = shared_array::<Swizzled<i8, 128>, 64>();
    let singles = shared_array::<Swizzled<f32, 16>, 64>();
    halves[0][0] = bf16::from_f32(1.0);
    floats[0][0] = e4m3::from_f32(1.0);
    integers[0][0] = 1;
    singles[0][0] = 1.0;
    this_thread_block().sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let of_halves =
        warpgroup.mma_async(zeros, MatrixA::<bf16, 64, 64>::splat(bf16::from_f32(1.0)), halves.transposed());
    let sum = warpgroup.wait_mma(of_halves);
    let of_floats = warpgroup.mma_async(sum, MatrixA::<e5m2, 64, 64>::splat(e5m2::from_f32(1.0)), &floats);
    let sum = warpgroup.wait_mma(of_floats);
    let of_singles = warpgroup.mma_async(sum, MatrixA::<tf32, 64, 16>::splat(1.0), &singles);
    let sum = warpgroup.wait_mma(of_singles);
    let of_integers =
        warpgroup.mma_async(Accumulator::<i32, 64, 64>::splat(0), MatrixA::<u8, 64, 128>::splat(1), &integers);
    let counts = warpgroup.wait_mma(of_integers);
    out[warpgroup.thread_rank()] = sum[0] + counts[0] as f32;
}

/// A kernel that is generic over the elements of both operands.
#[cluster_kernel(block = 128)]
fn generic<T: WarpgroupElement<f32, Value = T> + ElementOfA<64, N>, const N: usize>(one: T, out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<T, N>, 8>();
    for i in (rank..8 * N as u32).step_by(128) {
        tile[i / N as u32][i % N as u32] = one;
    }
    this_thread_block().sync();
    let mut left = MatrixA::<T, 64, N>::splat(one);
    left[0] = one;
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 8>::splat(0.0), left, &tile);
    let sum = warpgroup.wait_mma(product);
    out[rank] = sum[0] + left.row(rank, 1) as f32 + left.column(rank, 1) as f32;
}

/// Each warp loads its own rows of a matrix that a warp multiplies.
#[cluster_kernel(block = 128)]
fn loaded_by_a_warp(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<[bf16; 24], 64>();
    tile[warp.thread_rank()][warp.meta_group_rank()] = bf16::ONE;
    this_thread_block().sync();
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile, warp.meta_group_rank() * 16, 0);
    let other = warp.load_matrix_transposed::<MatrixA<bf16, 16, 16>>(&tile, warp.meta_group_rank() * 16, 0);
    out[this_thread_block().thread_rank()] = a[0].to_f32() + other[0].to_f32();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<of_registers>,
    phalanx::Program::of::<generic<bf16, 64>>,
    phalanx::Program::of::<generic<e4m3, 128>>,
    phalanx::Program::of::<loaded_by_a_warp>,
];
