//! Products that a device function leaves in flight, and that its caller does not wait for, or whose tiles or sums it uses too early.

use phalanx::prelude::*;

type Row = Swizzled<bf16, 64>;
type Sums = Accumulator<f32, 64, 64>;
type Busy = InFlight<Sums, bf16, bf16>;

#[device]
fn begin(warpgroup: &Tile<128>, tile: &SharedArray<Row, 64>) -> InFlight<Sums, bf16, bf16> {
    warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile)
}

#[device]
fn add(warpgroup: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>) -> Busy {
    warpgroup.mma_async(busy, tile, tile)
}

#[device]
fn add_registers(warpgroup: &Tile<128>, busy: Busy, tile: &SharedArray<Row, 64>) -> Busy {
    warpgroup.mma_async(busy, MatrixA::<bf16, 64, 64>::splat(bf16::from_f32(1.0)), tile)
}

#[device]
fn same(busy: Busy) -> Busy {
    busy
}

#[device]
fn finish(warpgroup: &Tile<128>, busy: Busy) -> Sums {
    warpgroup.wait_mma(busy)
}

#[device]
fn clear(tile: &SharedArray<Row, 64>) {
    tile[0][this_thread_block().thread_rank() % 64] = bf16::ZERO;
}

#[device]
fn finish_some(warpgroup: &Tile<128>, busy: Busy, wanted: bool, sum: &mut Sums) {
    if wanted {
        *sum = warpgroup.wait_mma(busy);
    } else {
        let _ = busy;
    }
}

/// Nobody waits for what the function begins.
#[cluster_kernel(block = 128)]
fn not_waited_for(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let _busy = begin(&warpgroup, &tile);
    out[block.thread_rank()] = 1.0;
}

/// The function waits on one of its paths.
#[cluster_kernel(block = 128)]
fn waited_for_on_a_path(out: &mut [f32], wanted: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
    let busy = warpgroup.mma_async(sum, &tile, &tile);
    finish_some(&warpgroup, busy, wanted, &mut sum);
    out[block.thread_rank()] = sum[0];
}

/// One path of the caller has no wait.
#[cluster_kernel(block = 128)]
fn one_path_without(out: &mut [f32], wanted: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    if wanted {
        let sum = finish(&warpgroup, busy);
        out[block.thread_rank()] = sum[0];
    }
}

/// The tile is written while the product of the function reads it.
#[cluster_kernel(block = 128)]
fn written_early(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    tile[0][0] = bf16::ZERO;
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// A function writes the tile.
#[cluster_kernel(block = 128)]
fn written_early_by_a_function(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    clear(&tile);
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// The product of the last iteration is still in the registers that the function uses again.
#[cluster_kernel(block = 128)]
fn refilled_registers(out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut busy = begin(&warpgroup, &tile);
    for _ in 0..steps {
        busy = add_registers(&warpgroup, busy, &tile);
        warpgroup.wait_mma_prior::<1>();
    }
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// The function returns the product that it is given, which is the last one.
#[cluster_kernel(block = 128)]
fn sums_of_a_result(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    let sum = warpgroup.wait_mma_except_last(same(busy));
    out[block.thread_rank()] = sum[0];
    warpgroup.wait_mma_prior::<0>();
}

#[device]
fn settle_but_one(warpgroup: &Tile<128>) {
    warpgroup.wait_mma_prior::<1>();
}

/// The function leaves the last product in flight, which reads this tile.
#[cluster_kernel(block = 128)]
fn written_behind_a_function(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let (tile, other) = (shared_array::<Swizzled<bf16, 64>, 64>(), shared_array::<Swizzled<bf16, 64>, 64>());
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    other[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let first = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile, &tile);
    let both = warpgroup.mma_async(first, &other, &other);
    settle_but_one(&warpgroup);
    block.sync();
    clear(&other);
    let sum = finish(&warpgroup, both);
    out[block.thread_rank()] = sum[0];
}

fn main() {}
