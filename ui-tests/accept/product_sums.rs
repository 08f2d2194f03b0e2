//! The closest kernels to those of `reject/product_sums.rs` that are right.

use phalanx::prelude::*;

use crate::mma_of_functions::Sums;

type Row = Swizzled<bf16, 64>;
type Busy = InFlight<Sums, bf16, bf16>;

/// The second product is added to the sums of the first one.
#[cluster_kernel(block = 128)]
fn added(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy = warpgroup.mma_async(zeros, &tile, &tile);
    if rounds > 3 {
        busy = warpgroup.mma_async(busy, &tile, &tile);
    }
    out[rank] = warpgroup.wait_mma(busy)[0];
}

/// Each iteration asks for those of the previous one.
#[cluster_kernel(block = 128)]
fn replaced(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut busy: Option<Busy> = None;
    let mut total = 0.0;
    for _ in 0..rounds {
        let next = warpgroup.mma_async(zeros, &tile, &tile);
        if let Some(before) = busy.replace(next) {
            total += warpgroup.wait_mma_except_last(before)[0];
        }
    }
    if let Some(last) = busy {
        total += warpgroup.wait_mma(last)[0];
    }
    out[rank] = total;
}

/// Both sums are asked for, or it is said that one is not needed.
#[cluster_kernel(block = 128)]
fn both(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let first = warpgroup.mma_async(zeros, &tile, &tile);
    let second = warpgroup.mma_async(zeros, &tile, &tile);
    let third = warpgroup.mma_async(zeros, &tile, &tile);
    let sum = warpgroup.wait_mma(second);
    out[rank] = sum[0] + warpgroup.wait_mma(first)[0];
    let _ = third;
}

/// That they are not needed is stated.
#[cluster_kernel(block = 128)]
fn discarded_after_the_wait(out: &mut [f32], rounds: u32) {
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
    } else {
        let _ = busy;
    }
}

/// All are asked for.
#[cluster_kernel(block = 128)]
fn taken_out_of_an_array(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let busy: [Busy; 2] = std::array::from_fn(|_| warpgroup.mma_async(zeros, &tile, &tile));
    let [first, second] = busy;
    out[rank] = warpgroup.wait_mma(first)[0] + warpgroup.wait_mma(second)[0];
}

/// Two variables are exchanged.
#[cluster_kernel(block = 128)]
fn exchanged(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let (mut older, mut newer): (Option<Busy>, Option<Busy>) = (None, None);
    let mut total = 0.0;
    for _ in 0..rounds {
        if let Some(oldest) = older.take() {
            total += warpgroup.wait_mma_except_last(oldest)[0];
        }
        std::mem::swap(&mut older, &mut newer);
        newer = Some(warpgroup.mma_async(zeros, &tile, &tile));
    }
    if let Some(busy) = older {
        total += warpgroup.wait_mma_except_last(busy)[0];
    }
    if let Some(busy) = newer {
        total += warpgroup.wait_mma(busy)[0];
    }
    out[rank] = total;
}

/// It is taken out.
#[cluster_kernel(block = 128)]
fn taken_out_of_a_tuple(out: &mut [f32], rounds: u32) {
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
    if let Some(last) = state.0.take() {
        state.1 = warpgroup.wait_mma(last);
    }
    out[rank] = state.1[0];
}

/// The caller has the condition.
#[device]
fn finish(warpgroup: &Tile<128>, busy: Busy, sum: &mut Sums) {
    *sum = warpgroup.wait_mma(busy);
}

/// It calls the function only if there is a product.
#[cluster_kernel(block = 128)]
fn by_a_function(out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Row, 64>();
    tile[rank / 2][rank % 64] = bf16::from_f32(1.0);
    block.sync();
    let zeros = Sums::splat(0.0);
    let mut sum = zeros;
    let mut busy: Option<Busy> = None;
    for _ in 0..rounds {
        if let Some(before) = busy.take() {
            finish(&warpgroup, before, &mut sum);
        }
        busy = Some(warpgroup.mma_async(sum, &tile, &tile));
    }
    if let Some(last) = busy {
        finish(&warpgroup, last, &mut sum);
    }
    out[rank] = sum[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<added>,
    phalanx::Program::of::<replaced>,
    phalanx::Program::of::<both>,
    phalanx::Program::of::<discarded_after_the_wait>,
    phalanx::Program::of::<taken_out_of_an_array>,
    phalanx::Program::of::<exchanged>,
    phalanx::Program::of::<taken_out_of_a_tuple>,
    phalanx::Program::of::<by_a_function>,
];
