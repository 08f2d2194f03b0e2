//! Arrival tokens wherever the language allows them: around loops, through branches and device functions, in options.
//! `ui-tests/reject` has what must be refused.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Arrives before the loop, waits first in each iteration: the token goes around.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let a = shared_array::<u32, 64>();
    let b = shared_array::<u32, 64>();
    let i = block.thread_rank();
    a[i] = cluster.thread_rank();
    let mut token = cluster.barrier_arrive();
    for _ in 0..rounds {
        cluster.barrier_wait(token);
        let peer = cluster.map_shared_rank(&a, 1 - cluster.block_rank());
        b[i] = peer[63 - i] + 1;
        cluster.sync();
        a[i] = b[i];
        token = cluster.barrier_arrive();
    }
    cluster.barrier_wait(token);
    out[cluster.thread_rank()] = a[i];
}

fn carried(device: &Device) -> Outcome {
    for rounds in [0, 1, 2, 33] {
        let got = read!(device, 128, |out| round_a_loop(out, rounds).grid(2));
        let start = |i: u32| if rounds % 2 == 0 { i } else { 127 - i };
        let want: Vec<u32> = (0..128).map(|i| start(i) + rounds).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Arrives under a condition, and waits under the same.
#[cluster_kernel(cluster = 2, block = 32)]
fn under_a_condition(out: &mut [u32], split: bool) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = cluster.thread_rank() * 3;
    let token = if split { Some(cluster.barrier_arrive()) } else { None };
    let work = i * i;
    if let Some(token) = token {
        cluster.barrier_wait(token);
    } else {
        cluster.sync();
    }
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[i] + work;
    cluster.sync();
}

fn optional(device: &Device) -> Outcome {
    for split in [false, true] {
        let got = read!(device, 64, |out| under_a_condition(out, split).grid(2));
        let want: Vec<u32> = (0..64).map(|i| (i + 32) % 64 * 3 + (i % 32) * (i % 32)).collect();
        same(&got, &want, |i| format!("split {split}, thread {i}"))?;
    }
    Ok(())
}

#[device]
fn arrive(cluster: &Cluster) -> ArrivalToken<Cluster> {
    cluster.barrier_arrive()
}

#[device]
fn finish(cluster: &Cluster, token: ArrivalToken<Cluster>) {
    cluster.barrier_wait(token);
}

#[device]
fn publish(cluster: &Cluster, block: &ThreadBlock, array: &SharedArray<u32, 32>, value: u32) -> ArrivalToken<Cluster> {
    array[block.thread_rank()] = value;
    cluster.barrier_arrive()
}

#[device]
fn sum(
    values: &[u32],
    remote: &RemoteArray<u32, 32>,
    own: &SharedArray<u32, 32>,
    dynamic: &SharedSlice<u32>,
    i: u32,
) -> u32 {
    values[i] + remote[i] + own[31 - i] + dynamic[i]
}

/// Groups, tokens and every kind of memory go to device functions.
#[cluster_kernel(cluster = 2, block = 32)]
fn through_functions(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    let dynamic = dynamic_shared::<u32>();
    let i = block.thread_rank();
    dynamic[i] = 10_000 * i;
    let token: ArrivalToken<Cluster> = publish(&cluster, &block, &array, cluster.thread_rank());
    let value = input[cluster.thread_rank()];
    finish(&cluster, token);
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let total = sum(input, &peer, &array, &dynamic, i);
    let read: ArrivalToken<Cluster> = arrive(&cluster);
    let twice = total * 2 + value;
    finish(&cluster, read);
    out[cluster.thread_rank()] = twice;
}

fn lent(device: &Device) -> Outcome {
    let input = device.upload(&(0..64).map(|i| i * 1_000_000).collect::<Vec<u32>>())?;
    let got = read!(device, 64, |out| through_functions(&input, out).grid(2).shared_bytes(128));
    let total = |t: u32| {
        let (rank, i) = (t / 32, t % 32);
        i * 1_000_000 + ((1 - rank) * 32 + i) + (rank * 32 + 31 - i) + 10_000 * i
    };
    same(&got, &(0..64).map(|t| total(t) * 2 + t * 1_000_000).collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

/// Holds a token of each group at once: the block's phase inside of the cluster's.
#[cluster_kernel(cluster = 2, block = 64)]
fn two_groups(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    let i = block.thread_rank();
    array[i] = cluster.thread_rank();
    let wide = cluster.barrier_arrive();
    let narrow = block.barrier_arrive();
    block.barrier_wait(narrow);
    let neighbour = array[(i + 1) % 64];
    block.sync();
    cluster.barrier_wait(wide);
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    out[cluster.thread_rank()] = peer[63 - i] * 1000 + neighbour;
    cluster.sync();
}

fn of_two_groups(device: &Device) -> Outcome {
    let got = read!(device, 128, |out| two_groups(out).grid(2));
    let want: Vec<u32> = (0..128).map(|t| (127 - t) * 1000 + t / 64 * 64 + (t + 1) % 64).collect();
    same(&got, &want, |i| format!("thread {i}"))
}

/// Fills, tests and takes from an option.
#[cluster_kernel(cluster = 2, block = 32)]
fn taken(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = 0;
    let mut pending = None;
    for round in 0..rounds {
        if let Some(token) = pending.take() {
            cluster.barrier_wait(token);
        }
        if round % 2 == 0 {
            pending = Some(cluster.barrier_arrive());
        }
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
    array[i] = rounds + i;
    cluster.sync();
    out[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
}

fn in_options(device: &Device) -> Outcome {
    for rounds in [0, 1, 2, 9] {
        let got = read!(device, 64, |out| taken(out, rounds).grid(2));
        same(&got, &(0..64).map(|t| rounds + t % 32).collect::<Vec<u32>>(), |i| {
            format!("{rounds} rounds, thread {i}")
        })?;
    }
    Ok(())
}

/// Takes a token out of its option in every round.
#[cluster_kernel(cluster = 2, block = 32)]
fn unwrapped(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let rows = shared_array::<[u32; 32], 2>();
    let i = this_thread_block().thread_rank();
    rows[0][i] = i;
    let mut pending = Some(cluster.barrier_arrive());
    for round in 0..rounds {
        cluster.barrier_wait(pending.take().unwrap());
        let value = cluster.map_shared_rank(&rows[round % 2], 1 - cluster.block_rank())[31 - i];
        rows[(round + 1) % 2][i] = value + 1;
        pending = Some(cluster.barrier_arrive());
    }
    cluster.barrier_wait(pending.expect("an arrival in the last round"));
    out[cluster.thread_rank()] = rows[rounds % 2][i];
}

fn out_of_options(device: &Device) -> Outcome {
    for rounds in [0, 1, 2, 9] {
        let got = read!(device, 64, |out| unwrapped(out, rounds).grid(2));
        let place = |t: u32| if rounds % 2 == 0 { t % 32 } else { 31 - t % 32 };
        same(&got, &(0..64).map(|t| place(t) + rounds).collect::<Vec<u32>>(), |i| {
            format!("{rounds} rounds, thread {i}")
        })?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "tokens",
        checks: check_list![carried, optional, lent, of_two_groups, in_options, out_of_options],
        kernels: kernel_list![round_a_loop, under_a_condition, through_functions, two_groups, taken, unwrapped],
    }]
}
