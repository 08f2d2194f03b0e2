//! The closest kernels to those of `reject/mma_in_flight.rs` that are right.

use phalanx::prelude::*;

#[cluster_kernel(block = 128)]
fn written_late(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    for i in 0..2 {
        tiles[i][warpgroup.thread_rank() / 2][warpgroup.thread_rank() % 64] = bf16::from_f32(1.0);
    }
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], &tiles[1]);
    let sum = warpgroup.wait_mma(product);
    this_thread_block().sync(); // each warp has waited
    tiles[1][0][0] = bf16::from_f32(1.0);
    out[warpgroup.thread_rank()] = sum[0];
}

#[cluster_kernel(block = 128)]
fn transposed_and_written_late(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    for i in 0..2 {
        tiles[i][warpgroup.thread_rank() / 2][warpgroup.thread_rank() % 64] = bf16::from_f32(1.0);
    }
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], tiles[1].transposed());
    let sum = warpgroup.wait_mma(product);
    this_thread_block().sync(); // each warp has waited
    tiles[1][0][0] = bf16::from_f32(1.0);
    out[warpgroup.thread_rank()] = sum[0];
}

/// The first product has read its tile.
#[cluster_kernel(block = 128)]
fn another_tile(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    for i in 0..2 {
        tiles[i][warpgroup.thread_rank() / 2][warpgroup.thread_rank() % 64] = bf16::from_f32(1.0);
    }
    this_thread_block().sync();
    let first = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tiles[0], &tiles[0]);
    let second = warpgroup.mma_async(first, &tiles[1], &tiles[1]);
    warpgroup.wait_mma_prior::<1>();
    this_thread_block().sync(); // each warp has waited
    tiles[0][0][0] = bf16::from_f32(1.0);
    let sum = warpgroup.wait_mma(second);
    out[warpgroup.thread_rank()] = sum[0];
}

/// In each round, the threads read sums while the product that began after them goes on.
#[cluster_kernel(block = 128)]
fn sums_before_the_last(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    for i in 0..32 {
        tile[block.thread_rank() / 2][block.thread_rank() % 2 * 32 + i] = bf16::from_f32(1.0);
    }
    block.sync();
    let mut largest = 0.0;
    let mut result = Accumulator::<f32, 64, 64>::splat(0.0);
    for _ in 0..rounds {
        let scores = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
        let product = warpgroup.mma_async(result, &tile, &tile);
        let sums = warpgroup.wait_mma_except_last(scores);
        largest = sums[0].max(largest);
        result = warpgroup.wait_mma(product);
    }
    out[warpgroup.thread_rank()] = largest + result[0];
}

/// Both paths have a wait, and a warpgroup is all of its threads.
#[cluster_kernel(block = 256)]
fn by_one_warpgroup(out: &mut [f32], wanted: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tiles = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
    tiles[0][0][0] = bf16::from_f32(1.0);
    block.sync();
    if block.thread_rank() < 128 {
        let own = &tiles[warpgroup.meta_group_rank()];
        let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), own, own);
        if wanted {
            let sum = warpgroup.wait_mma(product);
            out[warpgroup.thread_rank()] = sum[0];
        } else {
            let _ = warpgroup.wait_mma(product);
        }
    }
}

/// A device function waits for its products itself.
#[device]
fn squared(warpgroup: &Tile<128>, tile: &SharedArray<Swizzled<bf16, 64>, 64>) -> Accumulator<f32, 64, 64> {
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile);
    warpgroup.wait_mma(product)
}

#[cluster_kernel(block = 128)]
fn by_a_function(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    let sum = squared(&warpgroup, &tile);
    out[warpgroup.thread_rank()] = sum[0];
}

/// Each product of registers is waited for in its iteration.
#[cluster_kernel(block = 128)]
fn registers_after_a_wait(numbers: &[bf16], out: &mut [f32], steps: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[0][0] = bf16::from_f32(1.0);
    this_thread_block().sync();
    let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
    for step in 0..steps {
        let left = MatrixA::<bf16, 64, 64>::splat(numbers[step]);
        let product = warpgroup.mma_async(sum, left, &tile);
        let both = warpgroup.mma_async(product, MatrixA::<bf16, 64, 64>::splat(numbers[0]), &tile);
        sum = warpgroup.wait_mma(both);
    }
    out[warpgroup.thread_rank()] = sum[0];
}

/// The product of the last round is in the option, if there was one.
#[cluster_kernel(block = 128)]
fn taken_out_of_an_option(out: &mut [f32], rounds: u32) {
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
    if let Some(last) = busy {
        sum = warpgroup.wait_mma(last);
    }
    out[warpgroup.thread_rank()] = sum[0];
}

/// The older product is the one that has been exchanged.
#[cluster_kernel(block = 128)]
fn sums_of_the_older(out: &mut [f32], rounds: u32) {
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
        let sum = warpgroup.wait_mma_except_last(before);
        total += sum[0];
    }
    let last = warpgroup.wait_mma(busy);
    out[warpgroup.thread_rank()] = total + last[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<written_late>,
    phalanx::Program::of::<another_tile>,
    phalanx::Program::of::<by_one_warpgroup>,
    phalanx::Program::of::<by_a_function>,
    phalanx::Program::of::<registers_after_a_wait>,
    phalanx::Program::of::<taken_out_of_an_option>,
    phalanx::Program::of::<sums_of_the_older>,
];
