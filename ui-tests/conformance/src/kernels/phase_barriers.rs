//! Phase barriers of a block: that they order memory for any participants; every method; and that a failing thread
//! does not leave others waiting. `phase_tokens` has the use of tokens, `cluster_phases` what peers do with barriers.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, kernel_list, read, same};

/// The documents' `split_arrive_wait`: a value goes around its block, through two arrays that take turns.
#[cluster_kernel]
fn split_arrive_wait(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let even = shared_array::<u32, 1024>();
    let odd = shared_array::<u32, 1024>();
    let i = block.thread_rank();
    if i == 0 {
        bar.init(block.num_threads());
    }
    block.sync();
    let next = (i + 1) % block.num_threads();
    let mut value = i;
    let mut work = 0;
    for round in 0..rounds {
        if round % 2 == 0 {
            even[i] = value;
        } else {
            odd[i] = value;
        }
        let token = bar.arrive();
        work += i * round;
        bar.wait(token);
        value = if round % 2 == 0 { even[next] } else { odd[next] };
    }
    out[this_grid().thread_rank()] = value + work * 10_000;
}

/// A value goes around its block, with one call for arrival and wait.
#[cluster_kernel]
fn arrive_and_wait(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let values = shared_array::<u32, 1024>();
    bar.init_collective(&block, block.num_threads());
    let i = block.thread_rank();
    let next = (i + 1) % block.num_threads();
    let mut value = i;
    for _ in 0..rounds {
        values[i] = value;
        bar.arrive_and_wait();
        value = values[next];
        bar.arrive_and_wait();
    }
    out[this_grid().thread_rank()] = value;
}

const SIZES: [(u32, u32, u32); 6] = [(1, 1, 1), (7, 1, 1), (33, 1, 1), (5, 4, 3), (255, 1, 1), (1024, 1, 1)];

fn blocks_of_all_sizes(device: &Device) -> Outcome {
    for (x, y, z) in SIZES {
        let threads = x * y * z;
        for rounds in [1, 2, 21] {
            let what = |i: usize| format!("{threads} threads, {rounds} rounds, thread {i}");
            let round = (0..3 * threads).map(|t| t % threads).map(|i| (i, (i + rounds) % threads));
            let got =
                read!(device, 3 * threads as usize, |out| split_arrive_wait(out, rounds).grid(3).block((x, y, z)));
            let work = |i: u32| (0..rounds).map(|round| i * round).sum::<u32>().wrapping_mul(10_000);
            let want: Vec<u32> = round.clone().map(|(i, value)| value.wrapping_add(work(i))).collect();
            same(&got, &want, what)?;
            let got = read!(device, 3 * threads as usize, |out| arrive_and_wait(out, rounds).grid(3).block((x, y, z)));
            same(&got, &round.map(|(_, value)| value).collect::<Vec<u32>>(), what)?;
        }
    }
    Ok(())
}

/// The guide's producers and consumers: two buffers, each with a barrier that says it is full and one that says it is
/// free, at which all threads arrive.
#[cluster_kernel(block = 128)]
fn by_tokens(input: &[f32], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let free = shared_barriers::<2>();
    let buffers = shared_array::<[f32; 64], 2>();
    let i = block.thread_rank();
    if i < 4 {
        let count = block.num_threads();
        if i < 2 { full[i].init(count) } else { free[i - 2].init(count) }
    }
    block.sync();
    if i < 64 {
        for round in 0..rounds {
            let buffer = round % 2;
            free[buffer].arrive_and_wait();
            buffers[buffer][i] = input[round * 64 + i];
            let _ = full[buffer].arrive();
        }
    } else {
        let lane = i - 64;
        let _ = free[0].arrive();
        let _ = free[1].arrive();
        let mut sum = 0.0;
        for round in 0..rounds {
            let buffer = round % 2;
            full[buffer].arrive_and_wait();
            sum = sum * 0.5 + buffers[buffer][63 - lane];
            let _ = free[buffer].arrive();
        }
        out[lane] = sum;
    }
}

/// Producers and consumers as pipelines are deployed: one warp fills four stages, three empty them; phases by parity,
/// one arrival for a warp.
#[cluster_kernel(block = 128)]
fn by_parity(input: &[f32], out: &mut [f32], rounds: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    let stages = shared_array::<[f32; 96], 4>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 3);
    let lane = warp.thread_rank();
    if warp.meta_group_rank() == 0 {
        for round in 0..rounds {
            let stage = round % 4;
            empty[stage].wait_parity(round / 4 % 2 == 0);
            for part in 0..3 {
                stages[stage][part * 32 + lane] = input[round * 96 + part * 32 + lane];
            }
            let _ = full[stage].arrive();
        }
    } else {
        let own = block.thread_rank() - 32;
        let mut sum = 0.0;
        for round in 0..rounds {
            let stage = round % 4;
            while !full[stage].try_wait_parity(round / 4 % 2 == 1) {}
            sum = sum * 0.5 + stages[stage][(own + round) % 96];
            warp.sync();
            if lane == 0 {
                let _ = empty[stage].arrive();
            }
        }
        out[own] = sum;
    }
}

fn producers_and_consumers(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..96 * 67).map(|i| (i % 97) as f32 - 48.0).collect();
    let input = device.upload(&values)?;
    for rounds in [0, 1, 2, 5, 67] {
        let got = read!(device, 64, |out| by_tokens(&input, out, rounds).grid(1));
        let value = |round: u32, lane: u32| values[(round * 64 + 63 - lane) as usize];
        let want = (0..64).map(|lane| (0..rounds).fold(0.0, |sum, round| sum * 0.5 + value(round, lane)));
        same(&got, &want.collect::<Vec<f32>>(), |i| format!("{rounds} rounds by tokens, {i}"))?;
        let got = read!(device, 96, |out| by_parity(&input, out, rounds).grid(1));
        let value = |round: u32, own: u32| values[(round * 96 + (own + round) % 96) as usize];
        let want = (0..96).map(|own| (0..rounds).fold(0.0, |sum, round| sum * 0.5 + value(round, own)));
        same(&got, &want.collect::<Vec<f32>>(), |i| format!("{rounds} rounds by parity, {i}"))?;
    }
    Ok(())
}

/// One lane of each warp arrives for all of it; the last warp arrives late, and polls before.
#[cluster_kernel(block = 128)]
fn for_a_warp(out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let bar = shared_barrier();
    let values = shared_array::<u32, 128>();
    bar.init_collective(&block, 128);
    let i = block.thread_rank();
    values[i] = i * i;
    warp.sync();
    let mut asked = 0;
    if warp.meta_group_rank() == 3 {
        if warp.thread_rank() == 0 {
            let early = bar.arrive_n(31);
            if bar.try_wait(&early) {
                asked += 1;
            }
            if bar.try_wait_for(&early, 2000) {
                asked += 1;
            }
            if bar.try_wait_parity(false) {
                asked += 1;
            }
            let late = bar.arrive();
            while !bar.try_wait_for(&late, 1000) {}
            if bar.try_wait(&early) && bar.try_wait(&late) && bar.try_wait_parity(false) {
                asked += 1000;
            }
        }
    } else if warp.thread_rank() == 0 {
        let _ = bar.arrive_n(32);
    }
    bar.wait_parity(false);
    out[i] = values[127 - i] + asked;
}

fn one_arrives_for_many(device: &Device) -> Outcome {
    let got = read!(device, 128, |out| for_a_warp(out).grid(1));
    let want = |i: u32| (127 - i) * (127 - i) + if i == 96 { 1000 } else { 0 };
    equal(&got, &(0..128).map(want).collect::<Vec<u32>>())
}

/// The guide's early exit: a thread that is done drops out, and the others continue without it.
#[cluster_kernel]
fn drop_out(counts: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let total = shared_array::<u32, 1>();
    let i = block.thread_rank();
    if i == 0 {
        bar.init(block.num_threads());
        total[0] = 0;
    }
    block.sync();
    let mut seen = 0;
    let mut round = 0;
    let mut left = false;
    while round < rounds && !left {
        if round == counts[i] {
            bar.arrive_and_drop();
            left = true;
        } else {
            let _ = total.atomic(0).fetch_add(1, Relaxed);
            let token = bar.arrive();
            bar.wait(token);
            seen = total.atomic(0).load(Relaxed);
            bar.arrive_and_wait();
        }
        round += 1;
    }
    if !left {
        bar.arrive_and_drop();
    }
    out[i] = seen;
}

fn threads_drop_out(device: &Device) -> Outcome {
    for threads in [1u32, 2, 40, 256] {
        let counts: Vec<u32> = (0..threads).map(|i| i * 7 % 13).collect();
        let input = device.upload(&counts)?;
        let got = read!(device, threads as usize, |out| drop_out(&input, out, 9).grid(1).block(threads));
        let total = |rounds: u32| counts.iter().map(|count| (*count).min(rounds)).sum::<u32>();
        let want: Vec<u32> = counts.iter().map(|count| if *count == 0 { 0 } else { total((*count).min(9)) }).collect();
        same(&got, &want, |i| format!("{threads} threads, thread {i}"))?;
    }
    Ok(())
}

/// A barrier's memory is reused, for another number of threads.
#[cluster_kernel(block = 64)]
fn again(out: &mut [u32]) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let values = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let mut sum = 0;
    for round in 0..4u32 {
        let count = 64 >> round;
        bar.init_collective(&block, count);
        if i < count {
            values[i] = i + round;
            bar.arrive_and_wait();
            sum += values[count - 1 - i];
        }
        block.sync();
        if i == 0 {
            bar.invalidate();
        }
        block.sync();
    }
    out[i] = sum;
}

fn used_again(device: &Device) -> Outcome {
    let got = read!(device, 64, |out| again(out).grid(1));
    let of = |i: u32| (0..4).filter(|round| i < 64 >> round).map(|round| (64 >> round) - 1 - i + round).sum();
    equal(&got, &(0..64).map(of).collect::<Vec<u32>>())
}

/// Uses the maximal number of barriers, beside arrays that do not fit into static shared memory.
#[cluster_kernel(block = 64)]
fn beside_large_arrays(out: &mut [u32]) {
    let block = this_thread_block();
    let words = shared_array::<u32, 16_384>();
    let bars = shared_barriers::<100>();
    let bar = shared_barrier();
    bars.init_collective(&block, 64);
    bar.init_collective(&block, 64);
    let i = block.thread_rank();
    for round in 0..100u32 {
        words[round * 64 + i] = round + i;
        bars[round].arrive_and_wait();
        words[round * 64 + i + 8192] = words[round * 64 + 63 - i];
    }
    bar.arrive_and_wait();
    let mut sum = 0;
    for round in 0..100u32 {
        sum += words[round * 64 + (i + 1) % 64 + 8192];
    }
    out[this_grid().thread_rank()] = sum;
}

fn many_beside_large_arrays(device: &Device) -> Outcome {
    let got = read!(device, 128, |out| beside_large_arrays(out).grid(2));
    let want = (0..128).map(|i: u32| (0..100).map(|round| round + 63 - (i + 1) % 64).sum::<u32>());
    equal(&got, &want.collect::<Vec<u32>>())
}

/// A thread fails before its arrival, or between arrival and wait; the others wait in each possible way.
#[cluster_kernel]
fn one_fails(out: &mut [u32], stage: u32, who: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let i = block.thread_rank();
    bar.init_collective(&block, block.num_threads());
    let fails = this_grid().block_rank() == 2 && i == who;
    for round in 0..4u32 {
        assert!(!fails || stage != 2 * round, "stage {stage}");
        let token = bar.arrive();
        assert!(!fails || stage != 2 * round + 1, "stage {stage}");
        match round {
            0 => bar.wait(token),
            1 => bar.wait_parity(true),
            2 => while !bar.try_wait(&token) {},
            _ => while !bar.try_wait_for(&token, 10_000) {},
        }
    }
    out[this_grid().thread_rank()] = i;
}

fn nobody_waits_for_who_failed(device: &Device) -> Outcome {
    for threads in [1, 40, 256] {
        for stage in 0..8 {
            for who in [0, threads - 1] {
                let mut out = device.zeros(4 * threads as usize)?;
                let failure = failure(one_fails(&mut out, stage, who).grid(4).block(threads).launch(device))?;
                let right = failure.cause.to_string() == format!("stage {stage}");
                if !right || failure.block.x != 2 || failure.thread.x != who {
                    return Err(format!("stage {stage} of thread {who} of {threads}: {failure}").into());
                }
            }
        }
        let got = read!(device, 4 * threads as usize, |out| one_fails(out, 9, 0).grid(4).block(threads));
        equal(&got, &(0..4 * threads).map(|t| t % threads).collect::<Vec<u32>>())?;
    }
    Ok(())
}

#[cluster_kernel(block = 32)]
fn expects(count: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    if block.thread_rank() == 5 {
        bar.init(count);
    }
    block.sync();
}

/// A count that would be undefined on the chip is checked before.
fn a_count_is_in_range(device: &Device) -> Outcome {
    for count in [0, 1 << 20, u32::MAX] {
        let failure = failure(expects(count).grid(1).launch(device))?;
        let want = format!("a phase cannot expect {count} arrivals: the count must be 1 to 1048575");
        if failure.cause.to_string() != want || failure.thread.x != 5 || failure.location.is_none() {
            return Err(format!("{failure}").into());
        }
    }
    for count in [1, (1 << 20) - 1] {
        expects(count).grid(1).launch(device)?;
    }
    Ok(())
}

#[cluster_kernel(block = 32)]
fn one_of(index: u32) {
    let block = this_thread_block();
    let bars = shared_barriers::<3>();
    bars.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        bars[index].arrive_and_wait();
    }
}

fn an_index_is_in_range(device: &Device) -> Outcome {
    one_of(2).grid(1).launch(device)?;
    let failure = failure(one_of(3).grid(1).launch(device))?;
    match failure.cause.to_string().as_str() {
        "index 3 out of bounds for length 3" => Ok(()),
        _ => Err(format!("{failure}").into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "phase_barriers",
        checks: check_list![
            blocks_of_all_sizes,
            producers_and_consumers,
            one_arrives_for_many,
            threads_drop_out,
            used_again,
            many_beside_large_arrays,
            nobody_waits_for_who_failed,
            a_count_is_in_range,
            an_index_is_in_range,
        ],
        kernels: kernel_list![
            split_arrive_wait,
            arrive_and_wait,
            by_tokens,
            by_parity,
            for_a_warp,
            drop_out,
            again,
            beside_large_arrays,
            one_fails,
            expects,
            one_of,
        ],
    }]
}
