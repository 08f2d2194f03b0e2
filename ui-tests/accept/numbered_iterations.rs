//! Iterations and branches of which the numbers are known, so that accesses of a block and its peers do not meet.

use phalanx::prelude::*;

/// Each iteration knows its number: the first one reads an odd element, where the even ones are written.
#[cluster_kernel(cluster = 2, block = 32)]
fn interleaved_halves(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank() as usize;
    let line = shared_array::<u32, 64>();
    let other = cluster.map_shared_rank(&line, cluster.block_rank() ^ 1);
    line[i] = input[i];
    line[i + 32] = input[i + 32];
    for half in 0..2usize {
        cluster.sync();
        let add = if i == 0 && half == 0 { other[63] } else { 1 };
        line[2 * i + half] += add;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = line[i];
}

/// Stages that a loop counts by hand: the first one reads, the second one writes.
#[cluster_kernel(cluster = 2, block = 64)]
fn stages_by_number(input: &[u32], out: &mut [u32]) {
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
        if stage == 1 {
            tile[i] = value;
        }
        stage += 1;
    }
    out[this_grid().thread_rank()] = tile[i];
}

/// A step that writes has passed the barrier of all steps but the first one.
#[cluster_kernel(cluster = 2, block = 64)]
fn later_steps(input: &[u32], out: &mut [u32], step: u32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    let other = cluster.map_shared_rank(&tile, cluster.block_rank() ^ 1);
    tile[i] = input[i];
    cluster.sync();
    let value = other[63 - i];
    if step > 0 {
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

/// Both branches test the cast number.
#[cluster_kernel(cluster = 2, block = 64)]
fn both_cast(input: &[u32], out: &mut [u32], shift: i32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    tile[i] = input[i];
    if (shift as u32) > 5 {
        cluster.sync();
    }
    if (shift as u32) > 5 {
        out[i] = cluster.map_shared_rank(&tile, cluster.block_rank() ^ 1)[i];
    }
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<interleaved_halves>,
    phalanx::Program::of::<stages_by_number>,
    phalanx::Program::of::<later_steps>,
    phalanx::Program::of::<both_cast>,
];
