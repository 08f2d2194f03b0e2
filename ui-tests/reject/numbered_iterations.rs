//! Accesses of a block and a peer that meet in one iteration, or where one branch does not imply the other.

use phalanx::prelude::*;

/// The first iteration reads an even element, where the even ones are written.
#[cluster_kernel(cluster = 2, block = 32)]
fn interleaved_with_reads(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank() as usize;
    let line = shared_array::<u32, 64>();
    let other = cluster.map_shared_rank(&line, cluster.block_rank() ^ 1);
    line[i] = input[i];
    line[i + 32] = input[i + 32];
    for half in 0..2usize {
        cluster.sync();
        let add = if i == 0 && half == 0 { other[62] } else { 1 };
        line[2 * i + half] += add;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = line[i];
}

/// Stages that a loop counts by hand: the first one writes, too.
#[cluster_kernel(cluster = 2, block = 64)]
fn stages_that_meet(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    let other = cluster.map_shared_rank(&tile, cluster.block_rank() ^ 1);
    tile[i] = input[i];
    let mut value = 0;
    let mut stage = 0;
    while stage < 2 {
        cluster.sync();
        if i > 3 && stage == 0 {
            value = other[i];
        }
        if stage < 1 {
            tile[i] = value;
        }
        stage += 1;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = tile[i];
}

/// The first step that writes has passed no barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn first_steps(input: &[u32], out: &mut [u32], step: u32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    let other = cluster.map_shared_rank(&tile, cluster.block_rank() ^ 1);
    tile[i] = input[i];
    cluster.sync();
    let value = other[63 - i];
    if step > 1 {
        cluster.sync();
    }
    match step {
        1 | 2 => tile[i] = 7,
        3.. => tile[i] = value,
        0 => {}
    }
    cluster.sync();
    out[this_grid().thread_rank()] = tile[i];
}

/// A negative number is below 5, and what it is cast to is not.
#[cluster_kernel(cluster = 2, block = 64)]
fn one_cast(input: &[u32], out: &mut [u32], shift: i32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    tile[i] = input[i];
    if shift > 5 {
        cluster.sync();
    }
    if (shift as u32) > 5 {
        out[i] = cluster.map_shared_rank(&tile, cluster.block_rank() ^ 1)[i];
    }
    cluster.sync();
}

fn main() {}
