//! Kernels that the checks would refuse, and that are right for the arguments that their callers promise.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Reads the neighbour's number `rounds` times, from the first time on with its token waited for.
///
/// # Safety
/// `rounds` is at least 1.
#[cluster_kernel(cluster = 2, block = 32, unchecked(token_never_waited, collective_while_pending, remote_before_entry))]
fn first_round(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let rank = this_thread_block().thread_rank();
    array[rank] = 100 * cluster.block_rank() + rank;
    let remote = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let mut pending = Some(cluster.barrier_arrive());
    let mut sum = 0;
    for round in 0..rounds {
        if round == 0 {
            if let Some(token) = pending.take() {
                cluster.barrier_wait(token);
            }
        }
        sum += remote[rank];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// # Safety
/// One of `early` and `late` is zero.
#[cluster_kernel(cluster = 2, block = 32, unchecked(arrive_while_pending))]
fn early_or_late(out: &mut [u32], early: u32, late: u32) {
    let cluster = this_cluster();
    let pending = if early != 0 { Some(cluster.barrier_arrive()) } else { None };
    out[this_grid().thread_rank()] = early + late;
    if late != 0 {
        let token = cluster.barrier_arrive();
        cluster.barrier_wait(token);
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

#[device]
fn leave(cluster: &Cluster) {
    cluster.sync();
}

/// A call breaks the rule, which only rustc sees.
///
/// # Safety
/// One of `early` and `late` is zero.
#[cluster_kernel(cluster = 2, block = 32, unchecked(collective_while_pending))]
fn collective_in_a_call(out: &mut [u32], early: u32, late: u32) {
    let cluster = this_cluster();
    let pending = if early != 0 { Some(cluster.barrier_arrive()) } else { None };
    if late != 0 {
        leave(&cluster);
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
    out[this_grid().thread_rank()] = early + late;
}

/// Arrives, and waits if `now`.
///
/// # Safety
/// `now` is true.
#[device(unchecked(token_never_waited))]
fn arrive_and(cluster: &Cluster, now: bool) -> u32 {
    let token = cluster.barrier_arrive();
    if now {
        cluster.barrier_wait(token);
    }
    cluster.block_rank()
}

#[cluster_kernel(cluster = 2, block = 32)]
fn through_a_device_function(out: &mut [u32]) {
    let cluster = this_cluster();
    // SAFETY: `now` is true.
    let rank = unsafe { arrive_and(&cluster, true) };
    out[this_grid().thread_rank()] = rank;
}

/// Adds up what the peer has, in buffers that take turns as `order` says, which names none twice in a row.
#[cluster_kernel(cluster = 2, block = 32)]
fn in_turn(order: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let rank = this_thread_block().thread_rank();
    let buffers = shared_array::<[u32; 32], 3>();
    let peers = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
    buffers[order[0]][rank] = cluster.thread_rank();
    cluster.sync();
    let mut sum = 0;
    for round in 1..order.len() {
        sum += peers[order[round - 1]][rank];
        // SAFETY: the peer reads another buffer.
        #[unchecked(overwrite_while_read)]
        unsafe {
            buffers[order[round]][rank] = sum;
        }
        cluster.sync();
    }
    out[this_grid().thread_rank()] = sum;
}

fn blocks_keep_their_promises(device: &Device) -> Outcome {
    let order = device.upload(&[0, 2, 1, 2, 0])?;
    let out = read!(device, 64, |out| in_turn(&order, out).grid(2));
    let mut sums = [[0; 32]; 2];
    let mut given = [std::array::from_fn(|i| i as u32), std::array::from_fn(|i| 32 + i as u32)];
    for _ in 1..5 {
        sums = [0, 1].map(|block: usize| std::array::from_fn(|i| sums[block][i] + given[1 - block][i]));
        given = sums;
    }
    same(&out, sums.as_flattened(), |i| format!("thread {i}"))
}

fn callers_keep_their_promises(device: &Device) -> Outcome {
    // SAFETY: three rounds.
    let out = read!(device, 64, |out| unsafe { first_round(out, 3) }.grid(2));
    same(&out, &Vec::from_iter((0..64).map(|i| 3 * (100 * (1 - i / 32) + i % 32))), |i| format!("thread {i}"))?;
    for (early, late) in [(5, 0), (0, 7), (0, 0)] {
        // SAFETY: one is zero.
        let out = read!(device, 64, |out| unsafe { early_or_late(out, early, late) }.grid(2));
        same(&out, &[early + late; 64], |i| format!("thread {i}"))?;
        // SAFETY: one is zero.
        let out = read!(device, 64, |out| unsafe { collective_in_a_call(out, early, late) }.grid(2));
        same(&out, &[early + late; 64], |i| format!("thread {i}"))?;
    }
    let out = read!(device, 64, |out| through_a_device_function(out).grid(2));
    same(&out, &Vec::from_iter((0..64).map(|i| i / 32)), |i| format!("thread {i}"))
}

pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![callers_keep_their_promises, blocks_keep_their_promises];
    let kernels = kernel_list![first_round, early_or_late, collective_in_a_call, through_a_device_function, in_turn];
    vec![Module { name: "unchecked", checks, kernels }]
}
