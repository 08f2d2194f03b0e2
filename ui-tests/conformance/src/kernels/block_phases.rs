//! The split barrier of thread blocks: that it orders, that an arrival does not block, in blocks of any size, beside
//! whole barriers, in functions and options, with as much shared memory as there is, and that a failing thread does not
//! leave others waiting.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, kernel_list, read, same};

/// A value goes around its block, through two arrays that take turns: one barrier per iteration.
#[cluster_kernel]
fn go_round(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let even = shared_array::<u32, 1024>();
    let odd = shared_array::<u32, 1024>();
    let i = block.thread_rank();
    let next = (i + 1) % block.num_threads();
    let mut value = i;
    let mut work = 0;
    for round in 0..rounds {
        if round % 2 == 0 {
            even[i] = value;
        } else {
            odd[i] = value;
        }
        let token = block.barrier_arrive();
        if round > 0 {
            work += i * round;
        }
        block.barrier_wait(token);
        value = if round % 2 == 0 { even[next] } else { odd[next] };
    }
    out[this_grid().thread_rank()] = value + work * 10_000;
}

fn blocks_of_all_sizes(device: &Device) -> Outcome {
    for (x, y, z) in [(1, 1, 1), (7, 1, 1), (32, 1, 1), (33, 1, 1), (5, 4, 3), (255, 1, 1), (64, 4, 1), (1024, 1, 1)] {
        let threads = x * y * z;
        for rounds in [1, 2, 67] {
            let got = read!(device, 3 * threads as usize, |out| go_round(out, rounds).grid(3).block((x, y, z)));
            let work = |i: u32| (0..rounds).map(|round| i * round).sum::<u32>().wrapping_mul(10_000);
            let want = (0..3 * threads).map(|t| t % threads).map(|i| ((i + rounds) % threads).wrapping_add(work(i)));
            same(&got, &want.collect::<Vec<u32>>(), |i| format!("{threads} threads, {rounds} rounds, thread {i}"))?;
        }
    }
    Ok(())
}

/// The first warp arrives, and signals so, before any other does: they wait for its signal and not for the barrier.
#[cluster_kernel(block = 128)]
fn one_warp_first(out: &mut [u32]) {
    let block = this_thread_block();
    let flag = shared_array::<u32, 1>();
    let values = shared_array::<u32, 128>();
    let i = block.thread_rank();
    if i == 0 {
        flag[0] = 0;
    }
    block.sync();
    if i >= 32 {
        while flag.atomic(0).load(Acquire) < 32 {}
    }
    values[i] = i * i;
    let token = block.barrier_arrive();
    if i < 32 {
        flag.atomic(0).fetch_add(1, Release);
    }
    block.barrier_wait(token);
    out[i] = values[127 - i];
}

fn an_arrival_waits_for_nobody(device: &Device) -> Outcome {
    let got = read!(device, 128, |out| one_warp_first(out).grid(1));
    equal(&got, &(0..128).map(|i: u32| (127 - i) * (127 - i)).collect::<Vec<u32>>())
}

#[device]
fn publish(block: &ThreadBlock, array: &SharedArray<u32, 96>, value: u32) -> ArrivalToken<ThreadBlock> {
    array[block.thread_rank()] = value;
    block.barrier_arrive()
}

#[device]
fn read_next(block: &ThreadBlock, array: &SharedArray<u32, 96>, token: ArrivalToken<ThreadBlock>) -> u32 {
    block.barrier_wait(token);
    array[(block.thread_rank() + 1) % 96]
}

/// Whole and split barriers take turns; tokens go around a loop, through functions and in options, with the cluster's
/// barrier in between.
#[cluster_kernel(cluster = 2, block = 96)]
fn all_kinds(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 96>();
    let i = block.thread_rank();
    let mut token: ArrivalToken<ThreadBlock> = publish(&block, &array, 1000 * cluster.block_rank() + i);
    for round in 0..rounds {
        let value = read_next(&block, &array, token);
        cluster.sync();
        let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
        let other = peer[i];
        let read = if round % 3 == 0 { Some(block.barrier_arrive()) } else { None };
        if let Some(read) = read {
            block.barrier_wait(read);
        }
        cluster.sync();
        token = publish(&block, &array, value ^ other);
    }
    block.barrier_wait(token);
    block.sync();
    out[cluster.thread_rank()] = array[95 - i];
}

/// With nothing but arithmetic before the wait, the block's own barrier does.
#[cluster_kernel]
fn joined(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let array = shared_array::<u32, 256>();
    let i = block.thread_rank();
    let mut value = i;
    let mut work = 1;
    for round in 0..rounds {
        array[i] = value;
        let written = block.barrier_arrive();
        work = work * 3 + round;
        let next = (i + 1) % block.num_threads();
        block.barrier_wait(written);
        value = array[next];
        let read = block.barrier_arrive();
        { block.barrier_wait(read) }
    }
    out[this_grid().thread_rank()] = value ^ work;
    let last = block.barrier_arrive();
    block.barrier_wait(last)
}

fn with_nothing_to_do(device: &Device) -> Outcome {
    for (rounds, block) in [(0, 32), (1, 33), (5, 256), (40, 100)] {
        let got = read!(device, 2 * block, |out| joined(out, rounds).grid(2).block(block as u32));
        let work = (0..rounds).fold(1u32, |work, round| work.wrapping_mul(3).wrapping_add(round));
        let want: Vec<u32> = (0..2 * block).map(|t| ((t % block + rounds as usize) % block) as u32 ^ work).collect();
        same(&got, &want, |i| format!("{rounds} rounds of {block}, thread {i}"))?;
    }
    Ok(())
}

fn with_every_other_barrier(device: &Device) -> Outcome {
    for rounds in [0, 1, 5, 40] {
        let got = read!(device, 192, |out| all_kinds(out, rounds).grid(2));
        let mut arrays: Vec<u32> = (0..192).map(|t| 1000 * (t / 96) + t % 96).collect();
        for _ in 0..rounds {
            arrays = (0..192).map(|t| arrays[t / 96 * 96 + (t + 1) % 96] ^ arrays[(t + 96) % 192]).collect();
        }
        let want: Vec<u32> = (0..192).map(|t| arrays[t / 96 * 96 + 95 - t % 96]).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Declares `N` words of shared memory beside the barrier.
#[cluster_kernel(block = 256)]
fn beside_arrays<const N: usize>(out: &mut [u32]) {
    let block = this_thread_block();
    let words = shared_array::<u32, N>();
    for i in (block.thread_rank()..N as u32).step_by(block.num_threads()) {
        words[i] = i * 3;
    }
    let token = block.barrier_arrive();
    assert_eq!(words[block.thread_rank()], block.thread_rank() * 3);
    let step = 256 - block.thread_rank();
    block.barrier_wait(token);
    let mut sum = 0;
    for i in (step..N as u32).step_by(256) {
        sum += words[i];
    }
    out[block.thread_rank()] = sum;
}

/// Uses all static shared memory, less than what the barrier needs; and all that a block may have.
fn beside_all_shared_memory(device: &Device) -> Outcome {
    let want = |n: u32| (0..256).map(|i| (256 - i..n).step_by(256).map(|j| j * 3).sum()).collect::<Vec<u32>>();
    equal(&read!(device, 256, |out| beside_arrays::<12_284>(out).grid(2)), &want(12_284))?;
    equal(&read!(device, 256, |out| beside_arrays::<12_288>(out).grid(2)), &want(12_288))?;
    equal(&read!(device, 256, |out| beside_arrays::<58_080>(out).grid(2)), &want(58_080))?;
    let mut out = device.zeros(256)?;
    match beside_arrays::<58_112>(&mut out).grid(2).launch(device) {
        Err(error) if error.to_string().contains("shared memory") => Ok(()),
        other => Err(format!("232,448 bytes and a barrier: {other:?}").into()),
    }
}

/// A thread fails before its arrival, between arrival and wait, or in the next iteration. The others of its block wait
/// for it; the other blocks continue.
#[cluster_kernel(cluster = 2)]
fn one_fails(out: &mut [u32], stage: u32, who: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 1024>();
    let i = block.thread_rank();
    let fails = this_grid().block_rank() == 2 && i == who;
    for round in 0..3 {
        array[i] = i + round;
        assert!(!fails || stage != 2 * round, "stage {stage}");
        let token = block.barrier_arrive();
        assert!(!fails || stage != 2 * round + 1, "stage {stage}");
        block.barrier_wait(token);
        let value = array[(i + 1) % block.num_threads()];
        cluster.sync();
        let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
        out[this_grid().thread_rank()] = value + peer[i];
        cluster.sync();
    }
}

fn nobody_waits_for_who_failed(device: &Device) -> Outcome {
    for threads in [1, 40, 256] {
        for stage in 0..6 {
            for who in [0, threads / 2, threads - 1] {
                let mut out = device.zeros(8 * threads as usize)?;
                let failure = failure(one_fails(&mut out, stage, who).grid(8).block(threads).launch(device))?;
                let right = failure.cause.to_string() == format!("stage {stage}");
                if !right || failure.block.x != 2 || failure.thread.x != who {
                    return Err(format!("stage {stage} of thread {who} of {threads}: {failure}").into());
                }
            }
        }
        let got = read!(device, 8 * threads as usize, |out| one_fails(out, 9, 0).grid(8).block(threads));
        let want: Vec<u32> = (0..8 * threads).map(|t| (t % threads + 1) % threads + t % threads + 4).collect();
        same(&got, &want, |i| format!("{threads} threads, thread {i}"))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "block_phases",
        checks: check_list![
            blocks_of_all_sizes,
            an_arrival_waits_for_nobody,
            with_nothing_to_do,
            with_every_other_barrier,
            beside_all_shared_memory,
            nobody_waits_for_who_failed,
        ],
        kernels: kernel_list![
            go_round,
            one_warp_first,
            joined,
            all_kinds,
            beside_arrays<12_284>,
            beside_arrays<12_288>,
            beside_arrays<58_080>,
            one_fails,
        ],
    }]
}
