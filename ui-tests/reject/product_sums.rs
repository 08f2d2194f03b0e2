//! Products of warpgroups whose sums nobody asks for, though the warpgroup waits.

use phalanx::prelude::*;

type Row = Swizzled<bf16, 64>;
type Sums = Accumulator<f32, 64, 64>;
type Busy = InFlight<Sums, bf16, bf16>;

/// The sums of the first product are lost.
#[cluster_kernel(block = 128)]
fn overwritten(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy = warpgroup.mma_async(zeros, &tile, &tile);
    if rounds > 3 {
        busy = warpgroup.mma_async(zeros, &tile, &tile);
    }
    out[rank] = warpgroup.wait_mma(busy)[0];
}

/// So are those of each iteration but the last.
#[cluster_kernel(block = 128)]
fn overwritten_option(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy: Option<Busy> = None;
    for _ in 0..rounds {
        busy = Some(warpgroup.mma_async(zeros, &tile, &tile));
    }
    if let Some(last) = busy {
        out[rank] = warpgroup.wait_mma(last)[0];
    }
}

/// One wait is enough for both products, but not for both sums.
#[cluster_kernel(block = 128)]
fn one_of_two(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let first = warpgroup.mma_async(zeros, &tile, &tile);
    let second = warpgroup.mma_async(zeros, &tile, &tile);
    out[rank] = warpgroup.wait_mma(second)[0];
}

/// On one path, the sums are not asked for.
#[cluster_kernel(block = 128)]
fn dropped_after_the_wait(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let busy = warpgroup.mma_async(zeros, &tile, &tile);
    warpgroup.wait_mma_prior::<0>();
    if rounds > 3 {
        out[rank] = warpgroup.wait_mma(busy)[0];
    }
}

/// Of an array of products, one is left.
#[cluster_kernel(block = 128)]
fn left_in_an_array(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let [first, second] = [warpgroup.mma_async(zeros, &tile, &tile), warpgroup.mma_async(zeros, &tile, &tile)];
    out[rank] = warpgroup.wait_mma(first)[0];
}

/// What an element held before is not known.
#[cluster_kernel(block = 128)]
fn stored_in_an_array(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy: [Option<Busy>; 2] = [None, None];
    for round in 0..rounds {
        busy[round % 2] = Some(warpgroup.mma_async(zeros, &tile, &tile));
    }
    warpgroup.wait_mma_prior::<0>();
    let _ = busy;
    out[rank] = 1.0;
}

/// The field holds the product of the last iteration.
#[cluster_kernel(block = 128)]
fn left_in_a_tuple(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut state: (Option<Busy>, Sums) = (None, zeros);
    for _ in 0..rounds {
        if let Some(before) = state.0.take() {
            state.1 = warpgroup.wait_mma(before);
        }
        state.0 = Some(warpgroup.mma_async(state.1, &tile, &tile));
    }
    out[rank] = state.1[0];
}

/// These have no counterpart.
#[cluster_kernel(block = 128)]
fn methods_of_an_option(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy: Option<Busy> = None;
    for _ in 0..rounds {
        busy.insert(warpgroup.mma_async(zeros, &tile, &tile));
        busy.get_or_insert(warpgroup.mma_async(zeros, &tile, &tile));
    }
    let mut several: [Option<Busy>; 2] = [None, None];
    let first = several[0].take();
}

/// The caller would not know whether it waits.
#[device]
fn finish(warpgroup: &Tile<128>, busy: Option<InFlight<Accumulator<f32, 64, 64>, bf16, bf16>>, sum: &mut Sums) {
    if let Some(product) = busy {
        *sum = warpgroup.wait_mma(product);
    }
}

/// On one path, the function drops what it is given.
#[device]
fn finish_if(warpgroup: &Tile<128>, busy: Busy, wanted: bool, sum: &mut Sums) {
    if wanted {
        *sum = warpgroup.wait_mma(busy);
    }
}

/// The caller would not know whether it has to wait.
#[device]
fn begin_if(warpgroup: &Tile<128>, tile: &SharedArray<Row, 64>, wanted: bool) -> Option<Busy> {
    if wanted { Some(warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), tile, tile)) } else { None }
}

fn main() {}
