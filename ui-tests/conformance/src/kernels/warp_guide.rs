//! Whole programs with tiles and coalesced groups. Their texts are kept in `golden/`, which names lines of this file: new
//! kernels go to its end.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Adds up each block: each warp first, then the warps' sums.
#[cluster_kernel(block = 256)]
fn sum_by_warps(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<f32, 8>();

    let sum = warp.reduce(input[this_grid().thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        sums[warp.meta_group_rank()] = sum;
    }
    block.sync();

    if warp.meta_group_rank() == 0 {
        let tile = tiled_partition::<8>(&warp);
        let total = tile.reduce(sums[tile.thread_rank()], op::Plus);
        if block.thread_rank() == 0 {
            out[this_grid().block_rank()] = total;
        }
    }
}

/// Reserves a slot for each thread of the group: one atomic for all of them.
#[device]
fn places(group: &CoalescedGroup, count: &mut [u32]) -> u32 {
    let mut first = 0;
    if group.thread_rank() == 0 {
        first = count.atomic(0).fetch_add(group.num_threads(), Relaxed);
    }
    group.shfl(first, 0) + group.thread_rank()
}

/// Keeps the values above a limit, in any order.
#[cluster_kernel]
fn above(input: &[i32], limit: i32, kept: &mut [i32], count: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i < input.len() && input[i] > limit {
        let group = coalesced_threads();
        kept[places(&group, count)] = input[i];
    }
}

/// Counts per warp how often each digit occurs: the first thread that has it writes it.
#[cluster_kernel(block = 64)]
fn digits(input: &[u32], counts: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let digit = input[this_grid().thread_rank()] % 10;
    let peers = labeled_partition(&warp, digit);
    if peers.thread_rank() == 0 {
        counts[warp.meta_group_rank() * 10 + digit] = peers.num_threads();
    }
}

/// Returns what the butterfly of `reduce` computes: neighbours first.
fn tree(values: &[f32]) -> f32 {
    match values {
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            tree(left) + tree(right)
        }
    }
}

fn sums(device: &Device) -> Outcome {
    let values: Vec<f32> = (0..1024).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 4, |out| sum_by_warps(&input, out).grid(4));
    same(&got, &values.chunks(256).map(tree).collect::<Vec<f32>>(), |i| format!("block {i}"))
}

fn values_above(device: &Device) -> Outcome {
    let values: Vec<i32> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let (mut kept, mut count) = (device.zeros(1000)?, device.zeros(1)?);
    above(&device.upload(&values)?, 700, &mut kept, &mut count).grid(8).block(128).launch(device)?;
    let mut want: Vec<i32> = values.into_iter().filter(|value| *value > 700).collect();
    let mut got = kept.read()?;
    same(&count.read()?, &[want.len() as u32], |_| "how many".into())?;
    got.truncate(want.len());
    got.sort_unstable();
    want.sort_unstable();
    same(&got, &want, |i| format!("the {i}th smallest"))
}

fn digits_of_warps(device: &Device) -> Outcome {
    let values: Vec<u32> = (0..64).map(|i| i * i).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 20, |counts| digits(&input, counts).grid(1));
    let count = |i: usize| values[i / 10 * 32..][..32].iter().filter(|value| **value as usize % 10 == i % 10).count();
    same(&got, &(0..20).map(|i| count(i) as u32).collect::<Vec<u32>>(), |i| {
        format!("warp {}, digit {}", i / 10, i % 10)
    })
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "guide",
        checks: check_list![sums, values_above, digits_of_warps],
        kernels: kernel_list![sum_by_warps, above, digits],
    }]
}
