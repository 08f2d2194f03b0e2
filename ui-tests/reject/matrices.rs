//! Matrices: operands, memory, and threads that do not come together.

use phalanx::prelude::*;

type Rows = [bf16; 24];

/// Some lanes do not come.
#[cluster_kernel(block = 32)]
fn divergent_product(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let (a, b) = (MatrixA::<f16, 16, 16>::splat(f16::ONE), MatrixB::<f16, 16, 8>::splat(f16::ONE));
    let mut sum = Accumulator::<f32, 16, 8>::splat(0.0);
    if warp.thread_rank() < 16 {
        sum = warp.mma(a, b, sum);
    }
    out[warp.thread_rank()] = sum[0];
}

/// The trip count differs between lanes, so that some leave the loop before the others.
#[cluster_kernel(block = 32)]
fn divergent_loads(out: &mut [bf16]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<Rows, 24>();
    if warp.thread_rank() < 24 {
        for i in 0..24 {
            tile[i][warp.thread_rank()] = bf16::ONE;
        }
    }
    warp.sync();
    for i in 0..warp.thread_rank() / 16 {
        let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile, i, 0);
        out[warp.thread_rank()] = a[0];
        warp.store_matrix(&tile, i, 0, a);
    }
}

/// Each lane names another row, as `ldmatrix` in CUDA takes them.
#[cluster_kernel(block = 32)]
fn rows_of_lanes(out: &mut [bf16]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let tile = shared_array::<Rows, 32>();
    for i in 0..24 {
        tile[lane][i] = bf16::ONE;
    }
    warp.sync();
    let row = lane % 16;
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile, row, lane / 16 * 8);
    warp.store_matrix_transposed(&tile[lane..], 0, 0, a);
    out[lane] = a[0];
}

/// Global memory is not transposed on the way.
#[cluster_kernel(block = 128)]
fn of_global_memory(input: &[bf16], out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::ONE;
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, input.transposed());
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// A result is a lane's own.
#[cluster_kernel(block = 32)]
fn result_as_condition(out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let a = MatrixA::<f16, 16, 16>::splat(f16::ONE);
    let sum = warp.mma(a, MatrixB::<f16, 16, 8>::splat(f16::ONE), Accumulator::<f32, 16, 8>::splat(0.0));
    if sum[0] > 1.0 {
        block.sync();
    }
    out[warp.thread_rank()] = sum[1];
}

/// The copy is not complete.
#[cluster_kernel(block = 32)]
fn loaded_in_flight(input: &[[bf16; 16]], out: &mut [bf16]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tile = shared_array::<[bf16; 16], 16>();
    memcpy_async(&block, &tile, &input[..16]);
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile, 0, 0);
    block.wait_async();
    out[warp.thread_rank()] = a[0];
}

/// The copy still reads what is stored to.
#[cluster_kernel(block = 32)]
fn stored_in_flight(out: &mut [[bf16; 16]]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tile = shared_array::<[bf16; 16], 16>();
    let sum = Accumulator::<bf16, 16, 16>::splat(bf16::ONE);
    warp.store_matrix(&tile, 0, 0, sum);
    warp.sync();
    if block.thread_rank() == 0 {
        bulk_copy_async(&mut out[..16], &tile);
    }
    warp.store_matrix_transposed(&tile, 0, 0, sum);
    if block.thread_rank() == 0 {
        bulk_wait_group::<0>();
    }
}

/// The peers may not have read what is stored over.
#[cluster_kernel(cluster = 2, block = 32)]
fn stored_while_read(out: &mut [bf16]) {
    let cluster = this_cluster();
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<[bf16; 16], 16>();
    let sum = Accumulator::<bf16, 16, 16>::splat(bf16::ONE);
    warp.store_matrix(&tile, 0, 0, sum);
    cluster.sync();
    out[cluster.thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[0][0];
    warp.store_matrix(&tile, 0, 0, sum);
    cluster.sync();
}

#[cluster_kernel(block = 32)]
fn unwritten(out: &mut [bf16]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let tile = shared_array::<[bf16; 16], 16>();
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile, 0, 0);
    out[warp.thread_rank()] = a[0];
}

#[cluster_kernel(block = 32)]
fn forms(input: &[bf16], out: &mut [bf16]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tile = shared_array::<[bf16; 16], 16>();
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tile);
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(tile, 0, 0);
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(input, 0, 0);
    let a = warp.load_matrix_transposed::<MatrixA<bf16, 16, 16>, 4>(&tile, 0, 0);
    warp.store_matrix(&out, 0, 0, a);
    warp.store_matrix(&tile, 0, 0);
    warp.mma(a, a);
    block.mma(a, a, a);
    coalesced_threads().load_matrix(&tile, 0, 0);
    let zero = Accumulator::<f32, 16, 8>::splat();
}

fn main() {}
