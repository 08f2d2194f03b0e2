//! Phase barriers of the cluster's scope: arrivals from peers, alone and many at once, in arrays and through functions;
//! and that a failing block does not leave peers waiting.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, kernel_list, read, same};

/// A word of global memory alternates between two blocks, each of which adds to it in its turn.
#[cluster_kernel(cluster = 2, block = 32)]
fn to_and_fro(ball: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let turn = shared_cluster_barrier();
    turn.init_collective(&cluster, 1);
    let rank = cluster.block_rank();
    let peer = cluster.map_shared_rank(&turn, 1 - rank);
    if block.thread_rank() == 0 {
        for round in 0..rounds {
            if round % 2 == rank {
                if round > 0 {
                    turn.wait_parity((round - 1) / 2 % 2 == 1);
                }
                ball[0] = ball[0] * 3 + rank + 1;
                peer.arrive();
            }
        }
    }
    cluster.sync();
}

fn a_word_goes_to_and_fro(device: &Device) -> Outcome {
    for rounds in [0, 1, 2, 3, 100] {
        let got = read!(device, 1, |ball| to_and_fro(ball, rounds).grid(2));
        let want = (0..rounds).fold(0u32, |ball, round| ball.wrapping_mul(3).wrapping_add(round % 2 + 1));
        equal(&got, &[want])?;
    }
    Ok(())
}

#[device]
fn arrive_there(peer: RemoteBarrier, threads: u32) {
    if threads == 1 {
        peer.arrive();
    } else {
        peer.arrive_n(threads);
    }
}

#[device]
fn wait_here(bars: &ClusterBarriers<2>, round: u32) {
    bars[round % 2].wait_parity(round / 2 % 2 == 1);
}

/// All blocks signal all blocks: each thread of the first warp has a peer of its own, and one arrives for many.
#[cluster_kernel(block = 64)]
fn all_to_all(values: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let written = shared_cluster_barriers::<2>();
    let own = shared_cluster_barrier();
    let blocks = cluster.num_blocks();
    written.init_collective(&cluster, blocks * 64);
    own.init_collective(&cluster, 64);
    let rank = cluster.thread_rank();
    let threads = cluster.num_threads();
    let mut sum = 0;
    for round in 0..rounds {
        values[round * threads + rank] = round + rank;
        own.arrive_and_wait();
        if warp.meta_group_rank() == 0 && warp.thread_rank() < blocks {
            let peer = cluster.map_shared_rank(&written[round % 2], warp.thread_rank());
            for _ in 0..32 {
                arrive_there(peer, 1);
            }
            arrive_there(peer, 32);
        }
        wait_here(&written, round);
        sum = sum * 2 + values[round * threads + (rank + 77) % threads];
    }
    out[rank] = sum;
    cluster.sync();
}

fn all_blocks_tell_all(device: &Device) -> Outcome {
    for blocks in [1u32, 2, 4, 8] {
        for rounds in [1, 2, 9] {
            let threads = 64 * blocks;
            let mut values = device.zeros((threads * rounds) as usize)?;
            let mut out = device.zeros(threads as usize)?;
            all_to_all(&mut values, &mut out, rounds).grid(blocks).cluster(blocks).launch(device)?;
            let got = out.read()?;
            let want = |rank| (0..rounds).fold(0, |sum, round| sum * 2 + round + (rank + 77) % threads);
            same(&got, &(0..threads).map(want).collect::<Vec<u32>>(), |i| {
                format!("{blocks} blocks, {rounds} rounds, {i}")
            })?;
        }
    }
    Ok(())
}

/// Two blocks synchronize at each other's barriers: what each wrote into the other is there, and what each wrote itself
/// may be read. No barrier of the cluster follows.
#[cluster_kernel(cluster = 2, block = 96)]
fn exchange(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let written = shared_cluster_barrier();
    let read = shared_cluster_barrier();
    let given = shared_array::<u32, 96>();
    let own = shared_array::<u32, 96>();
    written.init_collective(&cluster, block.num_threads());
    read.init_collective(&cluster, 96);
    let i = block.thread_rank();
    let other = 1 - cluster.block_rank();
    cluster.map_shared_rank(&given, other)[i] = cluster.thread_rank();
    own[i] = 1000 * cluster.thread_rank();
    cluster.map_shared_rank(&written, other).arrive();
    written.wait_parity(false);
    let sum = given[95 - i] + cluster.map_shared_rank(&own, other)[i];
    cluster.map_shared_rank(&read, other).arrive();
    read.wait_parity(false);
    own[i] = sum;
    out[cluster.thread_rank()] = own[i];
}

fn two_blocks_meet(device: &Device) -> Outcome {
    let got = read!(device, 192, |out| exchange(out).grid(2));
    let want = |t: u32| {
        let (rank, i) = (t / 96, t % 96);
        let other = (1 - rank) * 96;
        other + 95 - i + 1000 * (other + i)
    };
    equal(&got, &(0..192).map(want).collect::<Vec<u32>>())
}

/// A barrier of the cluster's scope is used by the block alone, with everything that a block's barrier has.
#[cluster_kernel(cluster = 2, block = 64)]
fn as_a_blocks(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let bar = shared_cluster_barrier();
    let values = shared_array::<u32, 64>();
    let i = block.thread_rank();
    if i == 0 {
        bar.init(65);
    }
    cluster.sync();
    values[i] = i;
    if i == 0 {
        bar.arrive_and_drop();
    }
    let token: ArrivalToken<ClusterBarrier> = bar.arrive();
    while !bar.try_wait(&token) {}
    bar.wait(token);
    let mut value = values[63 - i];
    let second = bar.arrive_n(1);
    while !bar.try_wait_for(&second, 500) {}
    values[i] = value + 1;
    bar.arrive_and_wait();
    value = values[63 - i];
    cluster.sync();
    if i == 0 {
        bar.invalidate();
    }
    out[cluster.thread_rank()] = value;
}

fn in_its_own_block(device: &Device) -> Outcome {
    let got = read!(device, 128, |out| as_a_blocks(out).grid(2));
    equal(&got, &(0..128).map(|t| t % 64 + 1).collect::<Vec<u32>>())
}

/// One block fails, and its peers wait for what it would have signalled to them.
#[cluster_kernel(block = 32)]
fn one_block_fails(out: &mut [u32], who: u32, whole: bool) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let told = shared_cluster_barrier();
    told.init_collective(&cluster, cluster.num_blocks());
    let rank = cluster.block_rank();
    assert!(rank != who || !whole && block.thread_rank() != 0, "block {rank}");
    if block.thread_rank() < cluster.num_blocks() {
        cluster.map_shared_rank(&told, block.thread_rank()).arrive();
    }
    told.wait_parity(false);
    out[cluster.thread_rank()] = rank;
    cluster.sync();
}

fn no_peer_waits_for_who_failed(device: &Device) -> Outcome {
    for blocks in [2u32, 4] {
        for who in [0, blocks - 1] {
            for whole in [false, true] {
                let mut out = device.zeros(32 * blocks as usize)?;
                let launch = one_block_fails(&mut out, who, whole).grid(blocks).cluster(blocks);
                let failure = failure(launch.launch(device))?;
                if failure.cause.to_string() != format!("block {who}") || failure.block.x != who {
                    return Err(format!("block {who} of {blocks}: {failure}").into());
                }
            }
        }
        let got = read!(device, 32 * blocks as usize, |out| one_block_fails(out, 9, true).grid(blocks).cluster(blocks));
        equal(&got, &(0..32 * blocks).map(|t| t / 32).collect::<Vec<u32>>())?;
    }
    Ok(())
}

#[cluster_kernel(cluster = 2, block = 32)]
fn of_rank(rank: u32) {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    cluster.map_shared_rank(&bar, rank).arrive();
    cluster.sync();
}

fn a_rank_is_in_range(device: &Device) -> Outcome {
    of_rank(1).grid(2).launch(device)?;
    let failure = failure(of_rank(2).grid(2).launch(device))?;
    match failure.cause.to_string().as_str() {
        "block rank 2 out of range for a cluster of 2 blocks" => Ok(()),
        _ => Err(format!("{failure}").into()),
    }
}

/// Blocks tell block 0 what they have counted, and leave; block 0 waits for them.
#[cluster_kernel(cluster = 4, block = 64)]
fn told_and_left(input: &[u32], out: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let slots = shared_array::<[u32; 128], 4>();
    let (each, one) = (shared_cluster_barrier(), shared_cluster_barrier());
    each.init_collective(&cluster, 3 * 64);
    one.init_collective(&cluster, 3);
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    let base = (this_grid().block_rank() as u32) * n;
    if rank != 0 {
        let there = cluster.map_shared_rank(&slots, 0);
        there[rank][i] = input[base + i];
        cluster.map_shared_rank(&each, 0).arrive();
        for k in (64 + i..n).step_by(64) {
            there[rank][k] = input[base + k];
        }
        block.sync();
        if i == 0 {
            cluster.map_shared_rank(&one, 0).arrive();
        }
        return;
    }
    each.wait_parity(false);
    let first = slots[1][i] + slots[2][63 - i] + slots[3][i];
    one.wait_parity(false);
    let mut sum = first;
    for k in 64..n {
        sum += slots[1][k] * 3 + slots[2][k] * 5 + slots[3][k];
    }
    out[base / n / 4 * 64 + i] = sum;
}

/// Blocks tell block 0 that they are there, and leave. Nothing is published by the arrival, so that its fence is the narrowest.
#[cluster_kernel(cluster = 4, block = 32)]
fn only_told(out: &mut [u32]) {
    let cluster = this_cluster();
    let there = shared_cluster_barrier();
    there.init_collective(&cluster, 3 * 32);
    if cluster.block_rank() != 0 {
        cluster.map_shared_rank(&there, 0).arrive();
        return;
    }
    there.wait_parity(false);
    out[this_grid().thread_rank() as u32 / 128 * 32 + this_thread_block().thread_rank()] = 1;
}

fn blocks_tell_and_leave(device: &Device) -> Outcome {
    for n in [64u32, 70, 128] {
        let clusters = 8;
        let input: Vec<u32> = (0..n * 4 * clusters).map(|i| i.wrapping_mul(2_654_435_761) >> 12).collect();
        let from = device.upload(&input)?;
        let got = read!(device, 64 * clusters as usize, |out| told_and_left(&from, out, n).grid(4 * clusters));
        let at = |cluster: u32, rank: u32, k: u32| input[((cluster * 4 + rank) * n + k) as usize];
        let want: Vec<u32> = (0..clusters * 64)
            .map(|t| {
                let (c, i) = (t / 64, t % 64);
                let first = at(c, 1, i) + at(c, 2, 63 - i) + at(c, 3, i);
                (64..n).fold(first, |sum, k| sum + at(c, 1, k) * 3 + at(c, 2, k) * 5 + at(c, 3, k))
            })
            .collect();
        equal(&got, &want)?;
    }
    equal(&read!(device, 32 * 8, |out| only_told(out).grid(32)), &[1; 256])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "cluster_phases",
        checks: check_list![
            a_word_goes_to_and_fro,
            all_blocks_tell_all,
            two_blocks_meet,
            in_its_own_block,
            no_peer_waits_for_who_failed,
            a_rank_is_in_range,
            blocks_tell_and_leave,
        ],
        kernels: kernel_list![
            to_and_fro,
            all_to_all,
            exchange,
            as_a_blocks,
            one_block_fails,
            of_rank,
            told_and_left,
            only_told
        ],
    }]
}
