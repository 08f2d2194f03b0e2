//! Stages and halos whose places a constant gives: the checks leave its value to rustc, with each instance of a kernel.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

const WIDTH: usize = 64;

/// Each block passes what it holds to its neighbour, which adds its rank, in a ring of stages.
#[cluster_kernel(cluster = 4, block = 64)]
fn stages<const N: usize>(out: &mut [u32], rounds: usize) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let stage = shared_array::<[u32; 64], N>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let before = (rank + 3) % 4;
    stage[0][i] = rank * 100 + i;
    cluster.sync();
    for k in 0..rounds {
        stage[(k + 1) % N][i] = cluster.map_shared_rank(&stage, before)[k % N][i] + rank;
        cluster.sync();
    }
    out[cluster.thread_rank()] = stage[rounds % N][i];
}

/// The same with a mask.
#[cluster_kernel(cluster = 4, block = 64)]
fn masked_stages<const N: usize>(out: &mut [u32], rounds: usize) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let stage = shared_array::<[u32; 64], N>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let before = (rank + 3) % 4;
    stage[0][i] = rank * 100 + i;
    cluster.sync();
    for k in 0..rounds {
        stage[(k + 1) & (N - 1)][i] = cluster.map_shared_rank(&stage, before)[k & (N - 1)][i] + rank;
        cluster.sync();
    }
    out[cluster.thread_rank()] = stage[rounds & (N - 1)][i];
}

fn rings(device: &Device) -> Outcome {
    let rounds = 7;
    let want: Vec<u32> = (0..256)
        .map(|at| {
            let (rank, i) = (at / 64, at % 64);
            let from = (rank + 4 * rounds - rounds) % 4;
            from * 100 + i + (0..rounds).map(|step| (rank + 4 * rounds - step) % 4).sum::<u32>()
        })
        .collect();
    let describe = |at: usize| format!("thread {at}");
    same(&read!(device, 256, |out| stages::<2>(out, rounds as usize).grid(4)), &want, describe)?;
    same(&read!(device, 256, |out| stages::<3>(out, rounds as usize).grid(4)), &want, describe)?;
    same(&read!(device, 256, |out| masked_stages::<4>(out, rounds as usize).grid(4)), &want, describe)
}

#[device]
fn middle(left: f32, right: f32) -> f32 {
    0.5 * (left + right)
}

/// Neighbours write the cells on both sides of a tile, whose own edges the block reads.
#[cluster_kernel(cluster = 4, block = 64)]
fn halo(input: &[f32], out: &mut [f32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let rows = shared_array::<[f32; WIDTH + 2], 2>();
    let t = block.thread_rank() as usize;
    let at = cluster.thread_rank();
    rows[0][t + 1] = input[at];
    cluster.sync();
    let left = (cluster.block_rank() + cluster.num_blocks() - 1) % cluster.num_blocks();
    let right = (cluster.block_rank() + 1) % cluster.num_blocks();
    let (mut from, mut to) = (0, 1);
    for _ in 0..rounds {
        if t == 0 {
            cluster.map_shared_rank(&rows, left)[from][WIDTH + 1] = rows[from][1];
        }
        if t == WIDTH - 1 {
            cluster.map_shared_rank(&rows, right)[from][0] = rows[from][WIDTH];
        }
        cluster.sync();
        rows[to][t + 1] = middle(rows[from][t], rows[from][t + 2]);
        cluster.sync();
        std::mem::swap(&mut from, &mut to);
    }
    out[at] = rows[from][t + 1];
}

fn smoothing(device: &Device) -> Outcome {
    let mut want: Vec<f32> = (0..256).map(|i| (i * 37 % 100) as f32).collect();
    let input = device.upload(&want)?;
    let got = read!(device, 256, |out| halo(&input, out, 5).grid(4));
    for _ in 0..5 {
        want = (0..256).map(|i| 0.5 * (want[(i + 255) % 256] + want[(i + 1) % 256])).collect();
    }
    same(&got, &want, |i| format!("cell {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "constant_stages",
        checks: check_list![rings, smoothing],
        kernels: kernel_list![stages<2>, stages<3>, masked_stages<4>, halo],
    }]
}
