//! Tiles of every size, tiles of tiles, groups of tiles and of groups, under names that the text keeps for itself.

use phalanx::prelude::*;

#[device]
fn takes(tile: &Tile<32>, other: &Tile<{ 2 + 2 }>, group: &CoalescedGroup) -> u32 {
    tile.reduce(other.thread_rank(), op::Plus) + group.num_threads()
}

const SIZE: u32 = 4;

#[cluster_kernel]
fn sizes(out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<32>(&block);
    let small = tiled_partition::<SIZE>(&tile);
    let single = tiled_partition::<1>(&this_thread_block());
    let group = coalesced_threads();
    out[0] = single.num_threads() + takes(&tile, &small, &group);
}

#[cluster_kernel]
fn generic<T: Number, const N: u32>(x: T, out: &mut [T]) {
    let tile = tiled_partition::<N>(&this_thread_block());
    out[tile.thread_rank()] = tile.reduce(x, op::Max);
}

#[device]
fn largest<T: Number, const N: u32>(tile: &Tile<N>, x: T) -> T {
    tile.reduce(x, |a, b| if a > b { a } else { b })
}

#[cluster_kernel]
fn generic_functions(x: f32, y: i64, out: &mut [f32]) {
    let tile = tiled_partition::<4>(&this_thread_block());
    let warp = tiled_partition::<32>(&this_thread_block());
    out[0] = largest(&tile, x) + largest(&warp, y) as f32;
}

#[cluster_kernel]
fn names(x: u32, out: &mut [u32]) {
    let op = x;
    let thread_block_tile = tiled_partition::<8>(&this_thread_block());
    let coalesced_group = labeled_partition(&thread_block_tile, op);
    let binary_partition = binary_partition(&coalesced_group, op > 1);
    out[0] = binary_partition.exclusive_scan(thread_block_tile.shfl(op, 1), op::Xor);
}

#[cluster_kernel]
fn one_of_each(x: u32, out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<16>(&block);
    let mut count = 0;
    tile.invoke_one(|| {
        for i in 0..x {
            if i == 3 {
                break;
            }
            count += i;
        }
        out[tile.meta_group_rank()] = count;
    });
    coalesced_threads().invoke_one(|| {});
    block.invoke_one(|| {
        out[100] = count;
    });
    this_cluster().invoke_one(|| {
        out[101] = count;
    });
    this_grid().invoke_one(|| {
        out[102] = 1;
    });
}

#[cluster_kernel]
fn inside_a_phase(x: u32, out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = tiled_partition::<32>(&this_thread_block());
    let token = cluster.barrier_arrive();
    out[0] = tile.reduce(x, op::Min);
    tile.sync();
    cluster.barrier_wait(token);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<sizes>,
    phalanx::Program::of::<generic<i64, 16>>,
    phalanx::Program::of::<generic_functions>,
    phalanx::Program::of::<names>,
    phalanx::Program::of::<one_of_each>,
    phalanx::Program::of::<inside_a_phase>,
];
