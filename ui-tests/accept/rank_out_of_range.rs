//! Ranks that blocks of the cluster have.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn the_last_one(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 1)[i];
    cluster.sync();
}

/// A cluster of 2 by 2 has ranks up to 3.
#[cluster_kernel(cluster = (2, 2), block = 64)]
fn of_a_plane(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[i];
    cluster.sync();
    let corner = cluster.map_shared_rank(&tile, 3);
    out[i] = corner[i];
    cluster.sync();
}

/// The only block has rank 0.
#[cluster_kernel(cluster = 1, block = 64)]
fn of_one_block(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[i] = cluster.map_shared_rank(&tile, 0)[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 4, block = 64)]
fn counted_by_the_last(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let count = shared_array::<u32, 1>();
    if this_thread_block().thread_rank() == 0 {
        count[0] = 0;
    }
    cluster.sync();
    cluster.map_shared_rank(&count, 3).atomic(0).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = count[0];
}

#[cluster_kernel(cluster = (1, 2), block = 64)]
fn two_of_them(out: &mut [f32]) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = 0.5;
    cluster.sync();
    let first = cluster.map_shared_rank(&tile, 1_u32);
    let second = cluster.map_shared_rank(&tile, 0x0);
    out[this_grid().thread_rank()] = first[i] + second[i];
    cluster.sync();
}

/// A cluster of unknown size: the rank is checked when it runs.
#[cluster_kernel(block = 64)]
fn of_a_cluster_of_any_size(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, 5)[i];
    cluster.sync();
}

const BLOCKS: u32 = 4;
const LAST: u32 = BLOCKS - 1;

/// Ranks and sizes by name, of the kernel's own and of its instances.
#[cluster_kernel(cluster = BLOCKS, block = 64)]
fn by_name<const RANK: u32>(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, LAST)[i]
        + cluster.map_shared_rank(&tile, RANK)[i]
        + cluster.map_shared_rank(&tile, 3)[i];
    cluster.sync();
}

/// Switched off, it is the run's to say.
#[cluster_kernel(cluster = BLOCKS, block = 64, unchecked(rank_out_of_range))]
fn switched_off(out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    tile[i] = i;
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&tile, BLOCKS)[i];
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<the_last_one>,
    phalanx::Program::of::<of_a_plane>,
    phalanx::Program::of::<of_one_block>,
    phalanx::Program::of::<counted_by_the_last>,
    phalanx::Program::of::<two_of_them>,
    phalanx::Program::of::<of_a_cluster_of_any_size>,
    phalanx::Program::of::<by_name<3>>,
    phalanx::Program::of::<switched_off>,
];
