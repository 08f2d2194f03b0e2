//! Products of warpgroups that are not waited for, whose tiles are written too early, or that not all threads begin.

use phalanx::prelude::*;

/// A tile is written before the wait.
#[cluster_kernel(block = 128)]
fn written_early(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], &tiles[1]);
    tiles[1][0][0] = bf16::from_f32(1.0);
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// A transposed tile is read in the same way.
#[cluster_kernel(block = 128)]
fn transposed_and_written_early(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], tiles[1].transposed());
    tiles[1][0][0] = bf16::from_f32(1.0);
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// The last product still reads its tiles.
#[cluster_kernel(block = 128)]
fn written_after_another(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    let first = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], &tiles[0]);
    let second = warpgroup.mma_async(first, &tiles[1], &tiles[1]);
    warpgroup.wait_mma_prior::<1>();
    tiles[1][0][0] = bf16::from_f32(1.0);
    let sum = warpgroup.wait_mma(second);
    out[warpgroup.thread_rank()] = sum[0];
}

/// One path has no wait.
#[cluster_kernel(block = 128)]
fn dropped(out: &mut [f32], wanted: bool) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    if wanted {
        let sum = warpgroup.wait_mma(product);
        out[warpgroup.thread_rank()] = sum[0];
    }
}

/// A function that does not return the product waits for it.
#[device]
fn begun(warpgroup: &Tile<128>, tile: &SharedArray<Swizzled<bf16, 64>, 64>) {
    let _product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile);
    warpgroup.wait_mma_prior::<1>();
}

/// A warp is a part of a warpgroup.
#[cluster_kernel(block = 256)]
fn by_some_warps(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    block.sync();
    if block.thread_rank() < 64 {
        let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
        let sum = warpgroup.wait_mma(product);
        out[warpgroup.thread_rank()] = sum[0];
    }
}

/// Each warp names another tile.
#[cluster_kernel(block = 128)]
fn of_other_tiles(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 4>();
    tiles[0][0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let own = &tiles[warpgroup.thread_rank() / 32];
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), own, own);
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// These are not the operands.
#[cluster_kernel(block = 128)]
fn forms(input: &[f32], out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    let a = warpgroup.mma_async(zeros, &tile);
    let b = warpgroup.mma_async(zeros, tile, &tile);
    let c = warpgroup.mma_async(zeros, input, &tile);
    warpgroup.wait_mma_prior();
    out[0] = warpgroup.wait_mma()[0];
}

/// The registers of the left operand are those of the previous iteration, whose product may be in flight.
#[cluster_kernel(block = 128)]
fn refilled_registers(numbers: &[bf16], out: &mut [f32], steps: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let mut product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    for step in 0..steps {
        let left = MatrixA::<bf16, 64, 64>::splat(numbers[step]);
        product = warpgroup.mma_async(product, left, &tile);
        warpgroup.wait_mma_prior::<1>();
    }
    let sum = warpgroup.wait_mma(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// The last product is left in flight, and it is the one whose sums are read.
#[cluster_kernel(block = 128)]
fn sums_of_the_last(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    let sum = warpgroup.wait_mma_except_last(product);
    out[warpgroup.thread_rank()] = sum[0];
}

/// On one path, no other product has begun since.
#[cluster_kernel(block = 128)]
fn sums_of_the_last_on_a_path(out: &mut [f32], more: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut other = Accumulator::<f32, 64, 64>::splat(0.0);
    let scores = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    if more {
        let product = warpgroup.mma_async(other, &tile, &tile);
        other = warpgroup.wait_mma(product);
    }
    let sum = warpgroup.wait_mma_except_last(scores);
    out[warpgroup.thread_rank()] = sum[0] + other[0];
}

/// The product may be the last one of the caller, whose wait comes too late.
#[device]
fn sums_of_a_parameter(
    warpgroup: &Tile<128>,
    product: phalanx::InFlight<Accumulator<f32, 64, 64>, bf16, bf16>,
) -> Accumulator<f32, 64, 64> {
    warpgroup.wait_mma_except_last(product)
}

/// The product of the last round is still in the option.
#[cluster_kernel(block = 128)]
fn left_in_an_option(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
    let mut busy: Option<InFlight<Accumulator<f32, 64, 64>, bf16, bf16>> = None;
    for _ in 0..rounds {
        if let Some(before) = busy.take() {
            sum = warpgroup.wait_mma(before);
        }
        busy = Some(warpgroup.mma_async(sum, &tile, &tile));
    }
    out[warpgroup.thread_rank()] = sum[0];
}

/// The newer product is in `busy` behind the exchange.
#[cluster_kernel(block = 128)]
fn sums_of_the_newer(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let mut total = 0.0;
    let mut busy = warpgroup.mma_async(zeros, &tile, &tile);
    for _ in 0..rounds {
        let next = warpgroup.mma_async(zeros, &tile, &tile);
        let before = std::mem::replace(&mut busy, next);
        let sum = warpgroup.wait_mma_except_last(busy);
        total += sum[0];
        busy = before;
    }
    let last = warpgroup.wait_mma(busy);
    out[warpgroup.thread_rank()] = total + last[0];
}

fn main() {}
