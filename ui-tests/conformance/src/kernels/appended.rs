//! Loops that the compiler changes most: those that append what they keep, and those in which warps shuffle or stages take turns. What they
//! compute is the same, and an access out of bounds is the one that is reported. A comment with the kernel's name stands before
//! each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Module, Outcome, check_list, fails, find, kernel_list, same};

const SOURCE: &str = include_str!("appended.rs");

/// The values of a thread.
const VALUES: usize = 9;
/// The room of a thread for what it keeps.
const ROOM: usize = 5;

/// Appends by a condition.
#[cluster_kernel(block = 64)]
fn by_a_condition(input: &[u32], out: &mut [u32], counts: &mut [u32]) {
    let i = this_grid().thread_rank() as usize;
    let mut to = i * ROOM;
    for k in 0..VALUES {
        if input[i * VALUES + k] % 3 == 0 {
            /* by_a_condition */
            out[to] = input[i * VALUES + k];
            to += 1;
        }
    }
    counts[i] = (to - i * ROOM) as u32;
}

/// The same by a truth value as a number, and from the other end.
#[cluster_kernel(block = 64)]
fn by_a_number(input: &[u32], out: &mut [u32], counts: &mut [u32]) {
    let i = this_grid().thread_rank() as usize;
    let mut to = i * ROOM + ROOM - 1;
    let mut count = 0;
    for k in 0..VALUES {
        let value = input[i * VALUES + k];
        let keeps = value % 3 == 0;
        if keeps {
            out[to] = value;
        }
        count += keeps as u32;
        to -= (keeps && count < ROOM as u32) as usize;
    }
    counts[i] = count;
}

/// Merges two sorted halves of a warp's keys: either of two places moves on.
#[cluster_kernel(block = 32)]
fn merge(left: &[u32], right: &[u32], out: &mut [u32]) {
    let i = this_grid().thread_rank() as usize;
    let mut p = i * 4;
    let mut q = i * 4;
    for k in 0..7 {
        if left[p] <= right[q] {
            out[i * 7 + k] = left[p];
            p += 1;
        } else {
            out[i * 7 + k] = /* merge */ right[q];
            q += 1;
        }
        p = p.min(i * 4 + 3);
        q = q.min(i * 4 + 3);
    }
}

/// Merges two runs up to their ends, which conditions keep from being passed: the first ends at `middle`, and the second with the memory, or
/// one later for the last block.
#[cluster_kernel(block = 32)]
fn merge_to_the_end(input: &[u32], out: &mut [u32], middle: usize, beyond: usize) {
    let i = this_thread_block().thread_rank() as usize;
    let end = input.len() + if this_grid().block_rank() == 1 { beyond } else { 0 };
    // How many of the first run come before the values of this thread.
    let before = i * 4;
    let mut low = before.saturating_sub(end - middle);
    let mut high = before.min(middle);
    while low < high {
        let half = (low + high) / 2;
        if input[half] <= input[middle + before - 1 - half] {
            low = half + 1;
        } else {
            high = half;
        }
    }
    let (mut p, mut q) = (low, middle + before - low);
    for k in 0..4 {
        let from_first = q >= end || p < middle && input[p] <= input[q];
        if from_first || q < end {
            let next = if from_first {
                input[p]
            } else {
                /* merge_to_the_end */
                input[q]
            };
            out[this_grid().block_rank() * 128 + i * 4 + k] = next;
        }
        p += from_first as usize;
        q += !from_first as usize;
    }
}

/// Running sums of rows by shuffles, in a loop that is printed twice.
#[cluster_kernel(block = 72)]
fn shuffled(input: &[u32], out: &mut [u32], rounds: usize) {
    let eight = tiled_partition::<8>(&this_thread_block());
    let i = this_grid().thread_rank() as usize;
    let mut before = 0;
    for round in 0..rounds {
        let sum = eight.inclusive_scan(/* shuffled */ input[round * 144 + i], op::Plus);
        out[round * 144 + i] = before + sum;
        before += eight.shfl(sum, 7);
    }
}

/// Stages that take turns, for numbers of rounds that are no multiple of them.
#[cluster_kernel(block = 64)]
fn turns(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 3>();
    let mut sum = 0;
    for round in 0..rounds {
        stages[round % 3][i] = /* turns */ input[round * 64 + i];
        block.sync();
        sum = sum * 5 + stages[round % 3][63 - i];
    }
    out[i] = sum;
}

fn values(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * 7 % 31).collect()
}

/// What each of 128 threads keeps.
fn kept(input: &[u32]) -> Vec<Vec<u32>> {
    input.chunks(VALUES).map(|of| of.iter().copied().filter(|value| value % 3 == 0).collect()).collect()
}

fn appends(device: &Device) -> Outcome {
    let input = values(128 * VALUES);
    let all = kept(&input);
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    if most > ROOM {
        return Err(format!("a thread keeps {most}").into());
    }
    let (values, mut counts) = (device.upload(&input)?, device.zeros(128)?);
    let mut out = device.zeros(128 * ROOM)?;
    by_a_condition(&values, &mut out, &mut counts).grid(2).launch(device)?;
    let want: Vec<u32> =
        all.iter().flat_map(|kept| kept.iter().copied().chain(std::iter::repeat(0)).take(ROOM)).collect();
    same(&out.read()?, &want, |i| format!("out[{i}]"))?;
    same(&counts.read()?, &all.iter().map(|kept| kept.len() as u32).collect::<Vec<_>>(), |i| format!("counts[{i}]"))?;

    let mut reversed = device.zeros(128 * ROOM)?;
    by_a_number(&values, &mut reversed, &mut counts).grid(2).launch(device)?;
    same(&counts.read()?, &all.iter().map(|kept| kept.len() as u32).collect::<Vec<_>>(), |i| format!("counts[{i}]"))?;
    let from_the_end = |i: usize| want[i / ROOM * ROOM + ROOM - 1 - i % ROOM];
    same(&reversed.read()?, &(0..128 * ROOM).map(from_the_end).collect::<Vec<_>>(), |i| format!("reversed[{i}]"))?;

    // The last thread that keeps anything has no room for its last value.
    let last = all.iter().rposition(|kept| !kept.is_empty()).unwrap_or(0);
    let length = last * ROOM + all[last].len() - 1;
    let mut short = device.zeros(length)?;
    let result = by_a_condition(&values, &mut short, &mut counts).grid(2).launch(device);
    let cause = format!("index {length} out of bounds for length {length}");
    let (block, thread) = ((last / 64) as u32, (last % 64) as u32);
    fails(result, &cause, &find(file!(), SOURCE, "by_a_condition"), (block, 0, 0), (thread, 0, 0))?;
    still_works(device)
}

fn merges(device: &Device) -> Outcome {
    let mut left = values(32 * 4);
    let mut right: Vec<u32> = left.iter().map(|value| value * 5 % 23).collect();
    left.chunks_mut(4).chain(right.chunks_mut(4)).for_each(<[u32]>::sort_unstable);
    let mut out = device.zeros(32 * 7)?;
    merge(&device.upload(&left)?, &device.upload(&right)?, &mut out).grid(1).launch(device)?;
    let of = |i: usize| {
        let (mut p, mut q) = (i * 4, i * 4);
        let mut next = || {
            let takes_left = left[p] <= right[q];
            let value = if takes_left { left[p] } else { right[q] };
            (p, q) = if takes_left { ((p + 1).min(i * 4 + 3), q) } else { (p, (q + 1).min(i * 4 + 3)) };
            value
        };
        (0..7).map(|_| next()).collect::<Vec<_>>()
    };
    same(&out.read()?, &(0..32).flat_map(of).collect::<Vec<_>>(), |i| format!("out[{i}]"))
}

fn merges_to_the_end(device: &Device) -> Outcome {
    for middle in [0, 1, 40, 64, 127, 128] {
        let mut input = values(128);
        input[..middle].sort_unstable();
        input[middle..].sort_unstable();
        let mut want = input.clone();
        want.sort_unstable();
        let mut out = device.zeros(256)?;
        merge_to_the_end(&device.upload(&input)?, &mut out, middle, 0).grid(2).launch(device)?;
        same(&out.read()?, &[want.clone(), want].concat(), |i| format!("out[{i}] for {middle}"))?;
    }
    // All of the first run come before the second one, at whose end one value is missing.
    let input: Vec<u32> = (0..127).collect();
    let result = merge_to_the_end(&device.upload(&input)?, &mut device.zeros(256)?, 64, 1).grid(2).launch(device);
    let cause = "index 127 out of bounds for length 127";
    fails(result, cause, &find(file!(), SOURCE, "merge_to_the_end"), (1, 0, 0), (31, 0, 0))?;
    still_works(device)
}

fn shuffles(device: &Device) -> Outcome {
    for rounds in [1, 2, 5] {
        let input = values(rounds * 144);
        let mut out = device.zeros(rounds * 144)?;
        shuffled(&device.upload(&input)?, &mut out, rounds).grid(2).launch(device)?;
        let want = |at: usize| {
            let (round, i) = (at / 144, at % 144);
            let row = |round: usize, upto: usize| (i / 8 * 8..upto).map(|k| input[round * 144 + k]).sum::<u32>();
            (0..round).map(|round| row(round, i / 8 * 8 + 8)).sum::<u32>() + row(round, i + 1)
        };
        same(&out.read()?, &(0..rounds * 144).map(want).collect::<Vec<_>>(), |i| format!("out[{i}]"))?;
        let short = device.upload(&input[..rounds * 144 - 1])?;
        let result = shuffled(&short, &mut out, rounds).grid(2).launch(device);
        let last = rounds * 144 - 1;
        let cause = format!("index {last} out of bounds for length {last}");
        fails(result, &cause, &find(file!(), SOURCE, "shuffled"), (1, 0, 0), (71, 0, 0))?;
    }
    still_works(device)
}

fn takes_turns(device: &Device) -> Outcome {
    for rounds in 0..8usize {
        let input = values(rounds * 64 + 1);
        let mut out = device.zeros(64)?;
        turns(&device.upload(&input)?, &mut out, rounds as u32).grid(1).launch(device)?;
        let want = |i: usize| {
            (0..rounds).fold(0u32, |sum, round| sum.wrapping_mul(5).wrapping_add(input[round * 64 + 63 - i]))
        };
        same(&out.read()?, &(0..64).map(want).collect::<Vec<_>>(), |i| format!("out[{i}], {rounds} rounds"))?;
    }
    let short = device.upload(&values(7 * 64 - 1))?;
    let result = turns(&short, &mut device.zeros(64)?, 7).grid(1).launch(device);
    fails(result, "index 447 out of bounds for length 447", &find(file!(), SOURCE, "turns"), (0, 0, 0), (63, 0, 0))?;
    still_works(device)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "appended",
        checks: check_list![appends, merges, merges_to_the_end, shuffles, takes_turns],
        kernels: kernel_list![by_a_condition, by_a_number, merge, merge_to_the_end, shuffled, turns],
    }]
}
