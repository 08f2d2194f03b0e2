//! Asynchronous copies and stores into the shared memory of peers, which complete at the peers' barriers.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCKS: u32 = 4;

/// Each block passes its array around the ring, and adds to what it gets. Two buffers take turns; a peer signals by a
/// remote arrival that it has emptied a buffer.
#[cluster_kernel(cluster = 4, block = 64)]
fn bulk_ring(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = shared_array::<u32, 64>();
    let got = shared_array::<[u32; 64], 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 1);
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let next = (rank + 1) % cluster.num_blocks();
    let before = (rank + cluster.num_blocks() - 1) % cluster.num_blocks();
    own[i] = input[cluster.thread_rank()];
    for round in 0..rounds {
        let buffer = round % 2;
        block.sync();
        if i == 0 {
            full[buffer].expect_tx(256);
            let _ = full[buffer].arrive();
            // The next block has taken out what it got two iterations ago.
            empty[buffer].wait_parity(round / 2 % 2 == 0);
            let there = cluster.map_shared_rank(&got[buffer], next);
            let told = cluster.map_shared_rank(&full[buffer], next);
            bulk_copy_async(&there, &own, &told);
        }
        full[buffer].wait_parity(round / 2 % 2 == 1);
        let value = got[buffer][i] * 3 + i;
        // The sender may send to this buffer again. The next iteration shows that `own` has been read.
        block.sync();
        if i == 0 {
            cluster.map_shared_rank(&empty[buffer], before).arrive();
        }
        cluster.sync();
        own[i] = value;
    }
    out[cluster.thread_rank()] = own[i];
    cluster.sync();
}

fn ring(values: &[u32], rounds: u32) -> Vec<u32> {
    let mut values = values.to_vec();
    for _ in 0..rounds {
        let before = values.clone();
        for (at, value) in values.iter_mut().enumerate() {
            let from = (at + before.len() - 64) % before.len();
            *value = before[from].wrapping_mul(3).wrapping_add(at as u32 % 64);
        }
    }
    values
}

fn arrays_go_round(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..BLOCKS * 64).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let input = device.upload(&values)?;
    for rounds in [0, 1, 2, 3, 4, 21] {
        let got = read!(device, values.len(), |out| bulk_ring(&input, out, rounds).grid(BLOCKS));
        same(&got, &ring(&values, rounds), |i| format!("{rounds} rounds, {i}"))?;
    }
    Ok(())
}

/// Every warp sends its sum to every block, as reductions of rows over clusters do: no barrier of the cluster but at the
/// ends, and no fence at all.
#[cluster_kernel(cluster = 4, block = 128)]
fn all_reduce(input: &[f32], out: &mut [f32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let partial = shared_array::<f32, 32>();
    let bars = shared_cluster_barriers::<2>();
    bars.init_collective(&cluster, 1);
    let (lane, number) = (warp.thread_rank(), warp.meta_group_rank());
    let mut value = input[cluster.thread_rank()];
    for round in 0..rounds {
        let half = round % 2;
        if block.thread_rank() == 0 {
            bars[half].expect_tx(16 * 4);
            let _ = bars[half].arrive();
        }
        let sum = warp.reduce(value, op::Plus);
        if lane < 4 {
            let there = cluster.map_shared_rank(&partial, lane);
            let told = cluster.map_shared_rank(&bars[half], lane);
            there.store_async(half * 16 + cluster.block_rank() * 4 + number, sum, &told);
        }
        bars[half].wait_parity(round / 2 % 2 == 1);
        let mut all = 0.0;
        for i in 0..16u32 {
            all += partial[half * 16 + i];
        }
        value = value * 0.5 + all / 512.0;
        // All have read before any thread sends here in the next iteration but one.
        cluster.sync();
    }
    out[cluster.thread_rank()] = value;
}

fn sums_are_sent_to_all(device: &Device) -> Outcome {
    // Every sum of such numbers is exact.
    let values: Vec<f32> = (0..512).map(|i| (i % 19) as f32 - 9.0).collect();
    let input = device.upload(&values)?;
    for rounds in [0, 1, 2] {
        let got = read!(device, 512, |out| all_reduce(&input, out, rounds).grid(4));
        let mut want = values.clone();
        for _ in 0..rounds {
            let all: f32 = want.iter().sum();
            want.iter_mut().for_each(|value| *value = *value * 0.5 + all / 512.0);
        }
        same(&got, &want, |i| format!("{rounds} rounds, {i}"))?;
    }
    Ok(())
}

/// Stores values of 8 bytes into a part of the peer's array. Each block waits for what it gets, and no longer.
#[cluster_kernel(cluster = 2, block = 32)]
fn wide_values(out: &mut [f64], start: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<f64, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 32);
    let i = block.thread_rank();
    let peer = 1 - cluster.block_rank();
    bar.expect_tx(8);
    let there = cluster.map_shared_rank(&array, peer);
    let part = &there[start..start + 32];
    part.store_async(31 - i, cluster.thread_rank() as f64 * 0.25, &cluster.map_shared_rank(&bar, peer));
    bar.arrive_and_wait();
    out[cluster.thread_rank()] = array[start + i];
}

fn values_of_eight_bytes(device: &Device) -> Outcome {
    for start in [0, 7, 32] {
        let got = read!(device, 64, |out| wide_values(out, start).grid(2));
        let want = (0..64u32).map(|i| f64::from((1 - i / 32) * 32 + 31 - i % 32) * 0.25);
        same(&got, &want.collect::<Vec<f64>>(), |i| format!("from {start}, {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "async_peers",
        checks: check_list![arrays_go_round, sums_are_sent_to_all, values_of_eight_bytes],
        kernels: kernel_list![bulk_ring, all_reduce, wide_values],
    }]
}
