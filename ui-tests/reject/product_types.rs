//! Products of warpgroups that rustc refuses by their types.

use phalanx::prelude::*;

/// A warp has no such product.
#[cluster_kernel(block = 128)]
fn by_a_warp(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let product = warp.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    let sum = warp.wait_mma(product);
    out[0] = sum[0];
}

/// The rows are not swizzled.
#[cluster_kernel(block = 128)]
fn of_plain_rows(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<[bf16; 64], 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    let sum = warpgroup.wait_mma(product);
    out[0] = sum[0];
}

/// The sum is a warp's, or of another type.
#[cluster_kernel(block = 128)]
fn to_other_sums(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let small = warpgroup.mma_async(Accumulator::<f32, 16, 16>::splat(0.0), &tile, &tile);
    let sum = warpgroup.wait_mma(small);
    let halves = warpgroup.mma_async(Accumulator::<f16, 64, 64>::splat(f16::from_f32(0.0)), &tile, &tile);
    let sum_of_halves = warpgroup.wait_mma(halves);
    out[0] = sum[0];
}

/// A product is used once, and has no elements.
#[cluster_kernel(block = 128)]
fn used_twice(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    let sum = warpgroup.wait_mma(product);
    let again = warpgroup.wait_mma(product);
    out[0] = sum[0] + again[0];
}

#[cluster_kernel(block = 128)]
fn read_early(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    out[0] = product[0];
    let sum = warpgroup.wait_mma(product);
    out[1] = sum[0];
}

/// A left operand in registers has 64 rows, and elements that are multiplied by those of the right one.
#[cluster_kernel(block = 128)]
fn of_other_registers(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let of_a_warp = warpgroup.mma_async(zeros, MatrixA::<bf16, 16, 16>::splat(bf16::from_f32(1.0)), &tile);
    let sum = warpgroup.wait_mma(of_a_warp);
    let halves = warpgroup.mma_async(zeros, MatrixA::<f16, 64, 64>::splat(f16::from_f32(1.0)), &tile);
    let sum_of_halves = warpgroup.wait_mma(halves);
    out[0] = sum[0];
}

/// Bytes in registers are multiplied by bytes of their kind, in a tile that is not transposed, and in the depths that a tile may have.
#[cluster_kernel(block = 128)]
fn of_bytes_in_registers(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let floats = shared_array::<Swizzled<e4m3, 64>, 64>();
    floats[0][0] = e4m3::from_f32(1.0);
    this_thread_block().sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let mixed = warpgroup.mma_async(zeros, MatrixA::<i8, 64, 64>::splat(1), &floats);
    let sum = warpgroup.wait_mma(mixed);
    let one = e5m2::from_f32(1.0);
    let transposed = warpgroup.mma_async(zeros, MatrixA::<e5m2, 64, 64>::splat(one), floats.transposed());
    let other = warpgroup.wait_mma(transposed);
    let integers = Accumulator::<i32, 64, 64>::splat(0);
    let to_integers = warpgroup.mma_async(integers, MatrixA::<e5m2, 64, 64>::splat(one), &floats);
    let last = warpgroup.wait_mma(to_integers);
    let shallow = MatrixA::<u8, 64, 16>::splat(1);
    let deep = MatrixA::<tf32, 64, 64>::splat(1.0);
    out[0] = sum[0] + other[0];
}

/// No warp loads or stores the rows of a warpgroup.
#[cluster_kernel(block = 32)]
fn loaded_by_a_warp(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<[bf16; 24], 64>();
    tile[warp.thread_rank()][0] = bf16::ONE;
    warp.sync();
    let a: MatrixA<bf16, 64, 16> = warp.load_matrix(&tile, 0, 0);
    let other = warp.load_matrix_transposed::<MatrixA<bf16, 64, 16>>(&tile, 0, 0);
    warp.sync();
    warp.store_matrix(&tile, 0, 0, a);
    out[0] = a[0].to_f32();
}

/// Only elements of 16 bits are taken from a transposed tile, which has swizzled rows.
#[cluster_kernel(block = 128)]
fn of_transposed_bytes(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let bytes = shared_array::<Swizzled<e4m3, 64>, 64>();
    let singles = shared_array::<Swizzled<f32, 32>, 64>();
    let plain = shared_array::<[bf16; 64], 64>();
    bytes[0][0] = e4m3::from_f32(1.0);
    singles[0][0] = 1.0;
    plain[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let of_bytes = warpgroup.mma_async(zeros, &bytes, bytes.transposed());
    let sum = warpgroup.wait_mma(of_bytes);
    let of_singles = warpgroup.mma_async(zeros, singles.transposed(), &singles);
    let other = warpgroup.wait_mma(of_singles);
    let of_plain = warpgroup.mma_async(zeros, plain.transposed(), plain.transposed());
    let last = warpgroup.wait_mma(of_plain);
    out[0] = sum[0] + other[0] + last[0];
}

/// Floats of 8 bits add to `f32`, and are not mixed with others.
#[cluster_kernel(block = 128)]
fn of_bytes(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let floats = shared_array::<Swizzled<e4m3, 64>, 64>();
    let integers = shared_array::<Swizzled<i8, 64>, 64>();
    floats[0][0] = e4m3::from_f32(1.0);
    integers[0][0] = 1;
    this_thread_block().sync();
    let halves = Accumulator::<f16, 64, 64>::splat(f16::from_f32(0.0));
    let to_halves = warpgroup.mma_async(halves, &floats, &floats);
    let sum = warpgroup.wait_mma(to_halves);
    let mixed = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &floats, &integers);
    let other = warpgroup.wait_mma(mixed);
    out[0] = other[0];
}

fn main() {}
