//! The closest kernels to those of `reject/mma_of_functions.rs` that are right.

use phalanx::prelude::*;

type Row = Swizzled<bf16, 64>;
pub(crate) type Sums = Accumulator<f32, 64, 64>;
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
fn finish_all(warpgroup: &Tile<128>, busy: Busy, wanted: bool, sum: &mut Sums) {
    if wanted {
        *sum = warpgroup.wait_mma(busy);
    } else {
        let _ = warpgroup.wait_mma(busy);
    }
}

/// Another function waits for what the function begins.
#[cluster_kernel(block = 128)]
fn waited_for(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// The function waits on both of its paths.
#[cluster_kernel(block = 128)]
fn waited_for_on_both_paths(out: &mut [f32], wanted: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
    let busy = warpgroup.mma_async(sum, &tile, &tile);
    finish_all(&warpgroup, busy, wanted, &mut sum);
    out[block.thread_rank()] = sum[0];
}

/// Both paths of the caller have a wait.
#[cluster_kernel(block = 128)]
fn both_paths(out: &mut [f32], wanted: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    if wanted {
        let sum = finish(&warpgroup, busy);
        out[block.thread_rank()] = sum[0];
    } else {
        warpgroup.wait_mma_prior::<0>();
        let _ = busy; // nobody needs its sums
    }
}

/// The tile is written after the wait.
#[cluster_kernel(block = 128)]
fn written_late(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    let sum = finish(&warpgroup, busy);
    block.sync();
    tile[0][0] = bf16::ZERO;
    out[block.thread_rank()] = sum[0];
}

/// So it is by a function.
#[cluster_kernel(block = 128)]
fn written_late_by_a_function(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    let sum = finish(&warpgroup, busy);
    block.sync();
    clear(&tile);
    out[block.thread_rank()] = sum[0];
}

/// Each product of registers is waited for in its iteration.
#[cluster_kernel(block = 128)]
fn registers_after_a_wait(out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut busy = begin(&warpgroup, &tile);
    for _ in 0..steps {
        busy = add_registers(&warpgroup, busy, &tile);
        warpgroup.wait_mma_prior::<0>();
    }
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// A product of tiles may go on between the iterations.
#[cluster_kernel(block = 128)]
fn tiles_in_flight(out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let mut busy = begin(&warpgroup, &tile);
    for _ in 0..steps {
        busy = add(&warpgroup, busy, &tile);
        warpgroup.wait_mma_prior::<1>();
    }
    let sum = finish(&warpgroup, busy);
    out[block.thread_rank()] = sum[0];
}

/// A later product of a function is in flight.
#[cluster_kernel(block = 128)]
fn sums_before_the_last(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let tile = shared_array::<Swizzled<bf16, 64>, 64>();
    tile[block.thread_rank() / 2][block.thread_rank() % 64] = bf16::from_f32(1.0);
    block.sync();
    let busy = begin(&warpgroup, &tile);
    let last = begin(&warpgroup, &tile);
    let sum = warpgroup.wait_mma_except_last(same(busy));
    out[block.thread_rank()] = sum[0];
    let _ = finish(&warpgroup, last);
}

#[device]
fn settle_but_one(warpgroup: &Tile<128>) {
    warpgroup.wait_mma_prior::<1>();
}

/// The function leaves the last product in flight, which reads another tile.
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
    clear(&tile);
    let sum = finish(&warpgroup, both);
    out[block.thread_rank()] = sum[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<waited_for>,
    phalanx::Program::of::<waited_for_on_both_paths>,
    phalanx::Program::of::<both_paths>,
    phalanx::Program::of::<written_late>,
    phalanx::Program::of::<written_late_by_a_function>,
    phalanx::Program::of::<registers_after_a_wait>,
    phalanx::Program::of::<tiles_in_flight>,
    phalanx::Program::of::<sums_before_the_last>,
    phalanx::Program::of::<written_behind_a_function>,
];
