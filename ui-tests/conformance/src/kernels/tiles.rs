//! The threads of a group, and its votes: tiles of blocks and of tiles, labels, predicates, branches, blocks that end
//! within a warp; what groups are passed to; the order of operands; the tile that cannot exist.

use phalanx::prelude::*;

use super::warps::{Numbers, grouped};
use crate::{Module, Outcome, check_list, failure, find, kernel_list, read, same};

/// The number of queries of a thread to its group.
const ANSWERS: usize = 8;

#[device]
fn ask_tile(tile: &Tile<8>, predicate: bool, out: &mut [u32], at: usize) {
    out[at] = tile.thread_rank();
    out[at + 1] = tile.num_threads();
    out[at + 2] = tile.size();
    out[at + 3] = tile.meta_group_rank();
    out[at + 4] = tile.meta_group_size();
    out[at + 5] = tile.ballot(predicate);
    out[at + 6] = tile.any(predicate) as u32;
    out[at + 7] = tile.all(predicate) as u32;
    tile.sync();
}

#[device]
fn ask_group(group: &CoalescedGroup, predicate: bool, out: &mut [u32], at: usize) {
    out[at] = group.thread_rank();
    out[at + 1] = group.num_threads();
    out[at + 2] = group.size();
    out[at + 3] = group.meta_group_rank();
    out[at + 4] = group.meta_group_size();
    out[at + 5] = group.ballot(predicate);
    out[at + 6] = group.any(predicate) as u32;
    out[at + 7] = group.all(predicate) as u32;
    group.sync();
}

/// Returns the answers to the threads of these groups; `meta` gives the number of groups and the rank among them.
fn answers(
    out: &mut [u32],
    stride: usize,
    offset: usize,
    groups: &[Vec<usize>],
    meta: impl Fn(usize) -> (u32, u32),
    holds: &[bool],
) {
    for group in groups {
        let votes = group.iter().enumerate().fold(0, |votes, (rank, thread)| votes | u32::from(holds[*thread]) << rank);
        let all = group.iter().all(|thread| holds[*thread]);
        for (rank, thread) in group.iter().enumerate() {
            let (count, (meta_rank, meta_size)) = (group.len() as u32, meta(*thread));
            let any = u32::from(votes != 0);
            let answers = [rank as u32, count, count, meta_rank, meta_size, votes, any, all.into()];
            let at = thread * stride + offset;
            out[at..at + ANSWERS].copy_from_slice(&answers);
        }
    }
}

fn predicates(seed: u64, count: usize) -> Vec<bool> {
    // In some warps all hold it, in some none.
    let mut numbers = Numbers(seed);
    let odds: Vec<u64> = numbers.list(count.div_ceil(8), |draw| draw % 5);
    (0..count).map(|thread| numbers.below(4) < odds[thread / 8]).collect()
}

/// Tiles of a block, and of a tile of a block.
#[cluster_kernel]
fn tiles_of_tiles(holds: &[bool], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let tile = tiled_partition::<8>(&block);
    ask_tile(&tile, holds[i], out, i * ANSWERS * 2);
    let half = tiled_partition::<16>(&block);
    let tile = tiled_partition::<8>(&half);
    ask_tile(&tile, holds[i], out, i * ANSWERS * 2 + ANSWERS);
}

fn tiles(device: &Device) -> Outcome {
    // The last has half a warp.
    for block in [16_u32, 64, 256, 112] {
        let threads = block as usize;
        let holds = predicates(block.into(), threads);
        let mut out = device.zeros(threads * ANSWERS * 2)?;
        tiles_of_tiles(&device.upload(&holds)?, &mut out).grid(1).block((block / 8, 2, 4)).launch(device)?;
        let mut want = vec![0; threads * ANSWERS * 2];
        let groups = grouped(threads, |thread| thread / 8);
        answers(&mut want, ANSWERS * 2, 0, &groups, |thread| (thread as u32 / 8, block / 8), &holds);
        answers(&mut want, ANSWERS * 2, ANSWERS, &groups, |thread| (thread as u32 / 8 % 2, 2), &holds);
        same(&out.read()?, &want, |i| format!("block of {block}, thread {}, {}", i / ANSWERS / 2, i % ANSWERS))?;
    }
    Ok(())
}

/// The threads with a label, among them those with a predicate, and among those the ones with another label.
#[cluster_kernel]
fn partitions(labels: &[i64], chosen: &[bool], holds: &[bool], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let at = i * ANSWERS * 3;
    let warp = tiled_partition::<32>(&block);
    let labelled = labeled_partition(&warp, labels[i]);
    ask_group(&labelled, holds[i], out, at);
    let divided = binary_partition(&labelled, chosen[i]);
    ask_group(&divided, holds[i], out, at + ANSWERS);
    let mut group = binary_partition(&warp, chosen[i]);
    group = labeled_partition(&group, labels[i] as u8);
    ask_group(&group, holds[i], out, at + ANSWERS * 2);
}

fn labels_and_predicates(device: &Device) -> Outcome {
    const THREADS: usize = 256;
    for count in [1, 2, 5, 20, 1000] {
        let labels: Vec<i64> = Numbers(count).list(THREADS, |draw| (draw % count) as i64 * 0x1_0000_0001);
        let (chosen, holds) = (predicates(count + 1, THREADS), predicates(count + 2, THREADS));
        let mut out = device.zeros(THREADS * ANSWERS * 3)?;
        let buffers = (device.upload(&labels)?, device.upload(&chosen)?, device.upload(&holds)?);
        partitions(&buffers.0, &buffers.1, &buffers.2, &mut out).grid(1).block(THREADS as u32).launch(device)?;
        let mut want = vec![0; THREADS * ANSWERS * 3];
        // The rank of a thread's label among those of `of`, by their first threads, and how many there are.
        let meta = |thread: usize, of: &dyn Fn(usize) -> bool| {
            let warp = thread / 32 * 32;
            let mut seen: Vec<i64> = Vec::new();
            for other in (warp..warp + 32).filter(|other| of(*other)) {
                if !seen.contains(&labels[other]) {
                    seen.push(labels[other]);
                }
            }
            let rank = seen.iter().position(|label| *label == labels[thread]).unwrap_or(0);
            (rank as u32, seen.len() as u32)
        };
        let stride = ANSWERS * 3;
        let labelled = grouped(THREADS, |thread| labels[thread]);
        answers(&mut want, stride, 0, &labelled, |thread| meta(thread, &|_| true), &holds);
        let divided = grouped(THREADS, |thread| (labels[thread], chosen[thread]));
        answers(&mut want, stride, ANSWERS, &divided, |thread| (chosen[thread].into(), 2), &holds);
        // A label's low byte tells the label, except where there are very many.
        if count < 1000 {
            let same = |thread: usize| meta(thread, &|other| chosen[other] == chosen[thread]);
            answers(&mut want, stride, ANSWERS * 2, &divided, same, &holds);
        } else {
            let got = out.read()?;
            for at in (0..want.len()).filter(|at| at % stride >= ANSWERS * 2) {
                want[at] = got[at];
            }
        }
        same(&out.read()?, &want, |i| format!("{count} labels, thread {}, {}", i / stride, i % stride))?;
    }
    Ok(())
}

/// The threads of a branch, and, behind it, all of them.
#[cluster_kernel]
fn branches(kinds: &[u8], holds: &[bool], out: &mut [u32]) {
    let i = this_thread_block().thread_rank() as usize;
    let at = i * ANSWERS * 2;
    if kinds[i] == 0 {
        let group = coalesced_threads();
        ask_group(&group, holds[i], out, at);
    } else if kinds[i] == 1 {
        let group = coalesced_threads();
        ask_group(&group, holds[i], out, at);
    }
    tiled_partition::<1>(&this_thread_block()).sync();
    if kinds[i] < 3 {
        let group = coalesced_threads();
        ask_group(&group, holds[i], out, at + ANSWERS);
    }
}

fn coalesced(device: &Device) -> Outcome {
    for threads in [1_usize, 20, 32, 77, 256] {
        let kinds = Numbers(threads as u64).list(threads, |draw| (draw % 4) as u8);
        let holds = predicates(7, threads);
        let mut out = device.zeros(threads * ANSWERS * 2)?;
        let (kind, hold) = (device.upload(&kinds)?, device.upload(&holds)?);
        branches(&kind, &hold, &mut out).grid(1).block(threads as u32).launch(device)?;
        let mut want = vec![0; threads * ANSWERS * 2];
        let of = |kinds_: &[u8]| {
            let groups = grouped(threads, |thread| kinds_.contains(&kinds[thread]));
            groups.into_iter().filter(|group| kinds_.contains(&kinds[group[0]])).collect::<Vec<_>>()
        };
        let meta = |_| (0, 1);
        answers(&mut want, ANSWERS * 2, 0, &of(&[0]), meta, &holds);
        answers(&mut want, ANSWERS * 2, 0, &of(&[1]), meta, &holds);
        answers(&mut want, ANSWERS * 2, ANSWERS, &of(&[0, 1, 2]), meta, &holds);
        same(&out.read()?, &want, |i| format!("{threads} threads, thread {}, {}", i / ANSWERS / 2, i % ANSWERS))?;
    }
    Ok(())
}

/// The members of a coalesced group need not be known where it does not matter: one atomic for all converged threads.
#[cluster_kernel]
fn aggregated(values: &[u32], count: &mut [u32], kept: &mut [u32]) {
    let i = this_grid().thread_rank();
    let mut left = values[i] % 5;
    while left > 0 {
        let group = coalesced_threads();
        let mut base = 0;
        if group.thread_rank() == 0 {
            base = count.atomic(0).fetch_add(group.num_threads(), Relaxed);
        }
        kept[group.shfl(base, 0) + group.thread_rank()] = i as u32;
        left -= 1;
    }
}

fn aggregated_atomics(device: &Device) -> Outcome {
    let values = Numbers(5).list(512, |draw| draw as u32);
    let mut want: Vec<u32> = (0..512).flat_map(|i| vec![i; (values[i as usize] % 5) as usize]).collect();
    let (mut count, mut kept) = (device.zeros(1)?, device.zeros(512 * 4)?);
    aggregated(&device.upload(&values)?, &mut count, &mut kept).grid(2).block(256).launch(device)?;
    same(&count.read()?, &[want.len() as u32], |_| "how many".into())?;
    let mut got = kept.read()?[..want.len()].to_vec();
    got.sort_unstable();
    want.sort_unstable();
    same(&got, &want, |i| format!("the {i}th"))
}

/// Operands are evaluated from left to right, each collective once, whatever stands around it.
#[cluster_kernel(block = 64)]
fn nested(out: &mut [u32], logic: &mut [bool]) {
    let block = this_thread_block();
    let tile = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let mut x = i;
    out[i] = tile.shfl(
        {
            x += 1;
            x
        },
        3,
    ) * 1000
        + tile.shfl(x, tile.reduce(1, op::Max))
        - tile.shfl_up(5, 0);
    let a = i % 2 == 0;
    logic[i * 2] = tile.shfl(a & (i < 40), 0) && tile.any(!a) || tile.all(a);
    logic[i * 2 + 1] = tile.match_any(a | false) == 0x5555_5555;
    while tile.any(x < 80) {
        x += 1;
    }
    out[i] += x * 1_000_000;
    let op = tile.reduce(x, op::Min);
    out[i] += op - op;
}

/// Exchanges values other than scalars: of three words, of less than one, of parts.
#[cluster_kernel(block = 32)]
fn compound(out: &mut [u32], whole: &mut [[u32; 3]]) {
    let block = this_thread_block();
    let tile = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let words = [i, i * 10, i * 100];
    whole[i] = tile.shfl_xor(words, 1);
    let bytes = [i as u8, 1, 2, 3, 4];
    let (low, wide) = tile.shfl_down((i as u8, i as f64), 2);
    let found = tile.shfl(if i == 5 { Some(i) } else { None }, 5);
    let group = labeled_partition(&tile, [i % 3, i % 2]);
    out[i] =
        tile.shfl_up(bytes, 3)[0] as u32 + low as u32 * 100 + wide as u32 * 10_000 + found.unwrap_or(0) * 1_000_000;
    out[i] += group.num_threads() * 10_000_000;
}

fn compounds(device: &Device) -> Outcome {
    let (mut out, mut whole) = (device.zeros(32)?, device.upload(&[[0_u32; 3]; 32])?);
    compound(&mut out, &mut whole).grid(1).launch(device)?;
    let want = |i: u32| {
        let (up, down) = (if i < 3 { i } else { i - 3 }, if i < 30 { i + 2 } else { i });
        let peers = (0..32).filter(|other| other % 6 == i % 6).count() as u32;
        up + down * 10_100 + 5_000_000 + peers * 10_000_000
    };
    same(&out.read()?, &(0..32).map(want).collect::<Vec<u32>>(), |i| format!("thread {i}"))?;
    let want = (0..32).flat_map(|i: u32| [i ^ 1, (i ^ 1) * 10, (i ^ 1) * 100]).collect::<Vec<u32>>();
    same(&whole.read()?.concat(), &want, |i| format!("word {i}"))
}

fn expressions(device: &Device) -> Outcome {
    let (mut out, mut logic) = (device.zeros(64)?, device.zeros(128)?);
    nested(&mut out, &mut logic).grid(1).launch(device)?;
    let want = |i: u32| {
        let base = i / 32 * 32;
        (base + 4) * 1000 + (base + 2) - 5 + (i + 1 + (80 - (base + 1))) * 1_000_000
    };
    same(&out.read()?, &(0..64).map(want).collect::<Vec<u32>>(), |i| format!("thread {i}"))?;
    let want = |i: u32| [true, i.is_multiple_of(2)];
    same(&logic.read()?, &(0..64).flat_map(want).collect::<Vec<bool>>(), |i| format!("thread {}", i / 2))
}

#[cluster_kernel(cluster = 2, block = 64)]
fn ones(out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<16>(&block);
    let group = binary_partition(&tile, block.thread_rank() % 16 > 4);
    let i = this_grid().thread_rank();
    tile.invoke_one(|| out[i] += 1);
    group.invoke_one(|| {
        out[i] += 10;
    });
    block.invoke_one(|| {
        out[i] += 100;
    });
    this_cluster().invoke_one(|| {
        out[i] += 1000;
    });
    this_grid().invoke_one(|| {
        out[i] += 10_000;
    });
}

fn invoke_one(device: &Device) -> Outcome {
    let got = read!(device, 256, |out| ones(out).grid(4));
    let if_multiple = |i: u32, of: u32, value: u32| if i.is_multiple_of(of) { value } else { 0 };
    let want = |i| {
        let heads = if_multiple(i, 16, 1) + if_multiple(i, 64, 100) + if_multiple(i, 128, 1000);
        let parts = if i % 16 == 0 || i % 16 == 5 { 10 } else { 0 };
        heads + parts + if_multiple(i, 256, 10_000)
    };
    same(&got, &(0..256).map(want).collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

#[cluster_kernel]
fn whole_warps_only(out: &mut [u32]) {
    let block = this_thread_block();
    let tile = /* partial tile */ tiled_partition::<32>(&block);
    out[block.thread_rank()] = tile.num_threads();
}

fn a_rest(device: &Device) -> Outcome {
    let got = read!(device, 64, |out| whole_warps_only(out).grid(1).block(64));
    same(&got, &[32; 64], |i| format!("thread {i}"))?;
    let mut out = device.zeros(48)?;
    let failure = failure(whole_warps_only(&mut out).grid(1).block(48).launch(device))?;
    let place = find(file!(), include_str!("tiles.rs"), "partial tile");
    let cause = "a block of 48 threads cannot be partitioned into tiles of 32";
    match failure.cause.to_string() == cause && failure.location.as_ref() == Some(&place) {
        true => Ok(()),
        false => Err(format!("got  {failure}\n    want at {place}: {cause}").into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "tiles",
        checks: check_list![
            tiles,
            labels_and_predicates,
            coalesced,
            aggregated_atomics,
            expressions,
            compounds,
            invoke_one,
            a_rest
        ],
        kernels: kernel_list![
            tiles_of_tiles,
            partitions,
            branches,
            aggregated,
            nested,
            compound,
            ones,
            whole_warps_only
        ],
    }]
}
