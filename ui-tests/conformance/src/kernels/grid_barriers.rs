//! The barrier of the grid: that it orders, whole and split, iteration after iteration and launch after launch; with the
//! cluster's and the block's barriers inside of its phase; in functions and options; that a failing thread does not
//! leave others waiting, and that the next launch starts anew; and that a grid which cannot run concurrently is refused.

use phalanx::prelude::*;
use phalanx::{Error, LaunchError};

use crate::{Module, Outcome, check_list, equal, failure, kernel_list, same};

/// Writes, synchronizes, and reads.
#[cluster_kernel(block = 256)]
fn split(values: &mut [u32], out: &mut [u32]) {
    let grid = this_grid();
    let i = grid.thread_rank();
    values[i] = i as u32 * 3;
    let token = grid.barrier_arrive();
    let other = grid.num_threads() - 1 - i;
    grid.barrier_wait(token);
    out[i] = values[other];
}

fn one_phase(device: &Device) -> Outcome {
    for blocks in [1, 2, 7, 64] {
        let all = 256 * blocks;
        let (mut values, mut out) = (device.zeros(all as usize)?, device.zeros(all as usize)?);
        split(&mut values, &mut out).grid(blocks).launch(device)?;
        equal(&out.read()?, &(0..all).rev().map(|i| i * 3).collect::<Vec<u32>>())?;
    }
    Ok(())
}

/// A value goes around the grid, through two halves of a buffer that take turns: one barrier per iteration, whole or split.
#[cluster_kernel]
fn go_round(values: &mut [u32], rounds: u32) {
    let grid = this_grid();
    let all = grid.num_threads();
    let i = grid.thread_rank();
    let next = (i + this_thread_block().num_threads() as usize + 1) % all;
    let mut work = 0;
    for round in 0..rounds {
        let (from, to) = if round % 2 == 0 { (0, all) } else { (all, 0) };
        values[to + i] = values[from + next] + 1;
        if round % 3 == 0 {
            grid.sync();
        } else {
            let token = grid.barrier_arrive();
            work += round;
            grid.barrier_wait(token);
        }
    }
    values[2 * all + i] = work;
}

fn values_that_wander(device: &Device) -> Outcome {
    type Extent = (u32, u32, u32);
    let shapes: [(Extent, Extent, Extent); 8] = [
        ((1, 1, 1), (1, 1, 1), (1, 1, 1)),
        ((1, 1, 1), (1, 1, 1), (64, 1, 1)),
        ((2, 1, 1), (1, 1, 1), (1, 1, 1)),
        ((13, 1, 1), (1, 1, 1), (33, 1, 1)),
        ((16, 1, 1), (8, 1, 1), (32, 1, 1)),
        ((4, 2, 2), (2, 2, 1), (8, 4, 2)),
        ((3, 3, 1), (1, 3, 1), (7, 1, 1)),
        ((18, 1, 1), (2, 1, 1), (1024, 1, 1)),
    ];
    for (grid, cluster, block) in shapes {
        let count = |(x, y, z): Extent| (x * y * z) as usize;
        let all = count(grid) * count(block);
        for rounds in [0, 1, 2, 31] {
            let start: Vec<u32> = (0..3 * all as u32).collect();
            let mut values = device.upload(&start)?;
            go_round(&mut values, rounds).grid(grid).cluster(cluster).block(block).launch(device)?;
            let got = values.read()?;
            let step = (count(block) + 1) * rounds as usize;
            let begin = if rounds % 2 == 0 { 0 } else { all };
            let want: Vec<u32> = (0..all).map(|i| ((i + step) % all) as u32 + rounds).collect();
            let shape = format!("grid {grid:?} cluster {cluster:?} block {block:?}, {rounds} rounds");
            same(&got[begin..begin + all], &want, |i| format!("{shape}, thread {i}"))?;
            let work = (0..rounds).filter(|round| round % 3 != 0).sum();
            equal(&got[2 * all..], &vec![work; all])?;
        }
    }
    Ok(())
}

#[device]
fn begin(grid: &Grid) -> ArrivalToken<Grid> {
    grid.barrier_arrive()
}

#[device]
fn end(grid: &Grid, token: ArrivalToken<Grid>) {
    grid.barrier_wait(token);
}

/// In the grid's phase, blocks and clusters go through their own; distributed shared memory feeds the global one.
#[cluster_kernel(cluster = 4, block = 64)]
fn three_levels(sums: &mut [u32], totals: &mut [u32], rounds: u32) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = shared_array::<u32, 64>();
    let rest = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let mut value = grid.thread_rank() as u32;
    for round in 0..rounds {
        own[i] = value;
        cluster.sync();
        let peer = cluster.map_shared_rank(&own, (cluster.block_rank() + 1) % 4);
        sums[grid.thread_rank()] = value ^ peer[63 - i];
        let token = if round % 2 == 0 { Some(grid.barrier_arrive()) } else { None };
        rest[i] = value;
        let inner = block.barrier_arrive();
        assert_eq!(rest[i], value);
        block.barrier_wait(inner);
        value += rest[(i + 1) % 64];
        let middle = cluster.barrier_arrive();
        value += 1;
        cluster.barrier_wait(middle);
        if let Some(token) = token {
            end(&grid, token);
        } else {
            let token: ArrivalToken<Grid> = begin(&grid);
            end(&grid, token);
        }
        value ^= sums[(grid.thread_rank() + 256) % grid.num_threads()];
        grid.sync();
    }
    totals[grid.thread_rank()] = value;
    cluster.sync();
}

fn phases_inside_of_phases(device: &Device) -> Outcome {
    for (blocks, rounds) in [(4, 3), (8, 1), (24, 6), (64, 5)] {
        let all = blocks * 64;
        let (mut sums, mut totals) = (device.zeros(all)?, device.zeros(all)?);
        three_levels(&mut sums, &mut totals, rounds).grid(blocks as u32).launch(device)?;
        let mut values: Vec<u32> = (0..all as u32).collect();
        for _ in 0..rounds {
            let peer = |t: usize| t / 256 * 256 + (t / 64 + 1) % 4 * 64 + (63 - t % 64);
            let sums: Vec<u32> = (0..all).map(|t| values[t] ^ values[peer(t)]).collect();
            let next = |t: usize| values[t].wrapping_add(values[t / 64 * 64 + (t + 1) % 64]).wrapping_add(1);
            values = (0..all).map(|t| next(t) ^ sums[(t + 256) % all]).collect();
        }
        same(&totals.read()?, &values, |i| format!("{blocks} blocks, {rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Many launches in a row, of two kernels and of grids of different sizes, each find a new barrier.
fn launch_after_launch(device: &Device) -> Outcome {
    let start: Vec<u32> = (0..6 * 64).collect();
    let mut values = device.upload(&start)?;
    let (mut sums, mut totals) = (device.zeros(512)?, device.zeros(512)?);
    for round in 0..50 {
        go_round(&mut values, 1).grid(1 + round % 2).block(64).enqueue(device)?;
        three_levels(&mut sums, &mut totals, 1).grid(4 + round % 2 * 4).enqueue(device)?;
    }
    device.synchronize()?;
    let sums = sums.read()?;
    equal(&sums, &(0..512).map(|t: u32| t ^ (t / 256 * 256 + (t / 64 + 1) % 4 * 64 + 63 - t % 64)).collect::<Vec<_>>())
}

/// A thread fails before its arrival, between arrival and wait, or in the next iteration. The whole grid waits for it,
/// partly in barriers of clusters and blocks.
#[cluster_kernel(cluster = 2, block = 96)]
fn one_fails(out: &mut [u32], stage: u32, who: usize) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 96>();
    let i = block.thread_rank();
    for round in 0..3 {
        array[i] = i + round;
        assert!(grid.thread_rank() != who || stage != 3 * round, "stage {stage}");
        let token = grid.barrier_arrive();
        assert!(grid.thread_rank() != who || stage != 3 * round + 1, "stage {stage}");
        let inner = block.barrier_arrive();
        block.barrier_wait(inner);
        grid.barrier_wait(token);
        let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
        out[grid.thread_rank()] = peer[i];
        cluster.sync();
        assert!(grid.thread_rank() != who || stage != 3 * round + 2, "stage {stage}");
        grid.sync();
    }
}

fn nobody_waits_for_who_failed(device: &Device) -> Outcome {
    for stage in 0..9 {
        for who in [0, 95, 96, 480, 500, 767] {
            let mut out = device.zeros(768)?;
            let failure = failure(one_fails(&mut out, stage, who).grid(8).launch(device))?;
            let right = failure.cause.to_string() == format!("stage {stage}");
            if !right || (failure.block.x * 96 + failure.thread.x) as usize != who {
                return Err(format!("stage {stage} of thread {who}: {failure}").into());
            }
        }
        let mut out = device.zeros(768)?;
        one_fails(&mut out, 9, 0).grid(8).launch(device)?;
        equal(&out.read()?, &(0..768).map(|t| t % 96 + 2).collect::<Vec<u32>>())?;
    }
    Ok(())
}

/// A launch fails half way, and another one is enqueued behind it.
fn the_next_launch_starts_anew(device: &Device) -> Outcome {
    for who in [0, 300] {
        let (mut out, mut next) = (device.zeros(768)?, device.zeros(768)?);
        one_fails(&mut out, 4, who).grid(8).enqueue(device)?;
        let second = one_fails(&mut next, 9, 0).grid(8).enqueue(device);
        failure(second.and_then(|()| device.synchronize()))?;
        equal(&next.read()?, &(0..768).map(|t| t % 96 + 2).collect::<Vec<u32>>())?;
    }
    Ok(())
}

/// The largest grid that can run concurrently runs, and one cluster more is refused.
fn as_many_as_run_at_once(device: &Device) -> Outcome {
    let (mut sums, mut totals) = (device.zeros(0)?, device.zeros(0)?);
    let most = three_levels(&mut sums, &mut totals, 0).occupancy(device)?.blocks;
    let (mut sums, mut totals) = (device.zeros(most * 64)?, device.zeros(most * 64)?);
    three_levels(&mut sums, &mut totals, 2).grid(most as u32).launch(device)?;
    match three_levels(&mut sums, &mut totals, 2).grid(most as u32 + 4).launch(device) {
        Err(Error::Launch { reason: LaunchError::GridNotResident { blocks, most: limit, .. }, .. })
            if (blocks, limit) == (most as u64 + 4, most as u64) =>
        {
            Ok(())
        }
        other => Err(format!("{most} blocks run at once, and 4 more: {other:?}").into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "grid_barriers",
        checks: check_list![
            one_phase,
            values_that_wander,
            phases_inside_of_phases,
            launch_after_launch,
            nobody_waits_for_who_failed,
            the_next_launch_starts_anew,
            as_many_as_run_at_once,
        ],
        kernels: kernel_list![split, go_round, three_levels, one_fails],
    }]
}
