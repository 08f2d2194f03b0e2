//! Device functions whose arguments and results are uniform.

use phalanx::prelude::*;

#[device]
fn block_sum(block: &ThreadBlock, scratch: &SharedArray<u32, 64>, value: u32) -> u32 {
    let rank = block.thread_rank();
    scratch[rank] = value;
    let mut half = block.num_threads() / 2;
    while half > 0 {
        block.sync();
        if rank < half {
            scratch[rank] += scratch[rank + half];
        }
        half /= 2;
    }
    block.sync();
    scratch[0]
}

#[device]
fn first(x: u32, _y: u32) -> u32 {
    x
}

#[device]
fn any_left<const N: u32>(tile: &Tile<N>, value: u32) -> bool {
    tile.any(value > 0)
}

#[device]
fn rounds<const N: u32>(tile: &Tile<N>, mut value: u32) -> u32 {
    let mut rounds = 0;
    while any_left(tile, value) {
        tile.sync();
        value /= 2;
        rounds += 1;
    }
    rounds
}

#[device]
fn step(x: u32) -> u32 {
    if x > 4 { x - 4 } else { 0 }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn sums(data: &[u32], n: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<u32, 64>();
    let total = block_sum(&block, &scratch, data[block.thread_rank()]);
    if total == 0 {
        return;
    }
    block.sync();
    if first(n, block.thread_rank()) > 4 {
        block.sync();
    }
    let mut left = n;
    while left > 0 {
        left = step(left);
        block.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn tiles(data: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<8>(&block);
    let rank = block.thread_rank();
    if rank / 8 == 3 {
        out[rank] = rounds(&tile, data[rank]);
    }
}

const THREADS: usize = 64;

#[device]
fn add(sums: &SharedArray<f32, THREADS>, i: usize, distance: usize) {
    if i < distance {
        sums[i] += sums[i + distance];
    }
}

/// A variable that is passed by value is not changed by the call.
#[cluster_kernel(cluster = 1, block = 64)]
fn tree(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let sums = shared_array::<f32, THREADS>();
    let i = block.thread_rank() as usize;
    sums[i] = input[this_grid().thread_rank()];
    block.sync();
    let mut distance = THREADS / 2;
    while distance > 0 {
        add(&sums, i, distance);
        block.sync();
        distance /= 2;
    }
    if i == 0 {
        out[block.group_index().x] = sums[0];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<sums>, phalanx::Program::of::<tiles>, phalanx::Program::of::<tree>];
