//! Shuffles and matches: of every scalar, of every size of tile, and of coalesced groups of random threads.

use phalanx::prelude::*;

use super::warps::{Numbers, Random, grouped, sources, values};
use crate::{Kernel, Module, Outcome, check_list, same};

/// The number of values that a thread of a tile gets, and finds to match.
const MOVES: usize = 4;

#[cluster_kernel]
fn of_tiles<T: DeviceCopy, const N: u32>(input: &[T], by: &[u32], moved: &mut [T], matched: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<N>(&block);
    let i = this_grid().thread_rank();
    let at = i * MOVES;
    let value = input[i];
    moved[at] = tile.shfl(value, by[i]);
    moved[at + 1] = tile.shfl_up(value, by[i]);
    moved[at + 2] = tile.shfl_down(value, by[i]);
    moved[at + 3] = tile.shfl_xor(value, by[i]);
    matched[i * 2] = tile.match_any(value);
    matched[i * 2 + 1] = tile.match_all(value);
}

/// Shuffles among the threads with one label; a coalesced group has no `shfl_xor`.
#[cluster_kernel]
fn of_groups<T: DeviceCopy>(input: &[T], labels: &[i32], by: &[u32], moved: &mut [T], matched: &mut [u32]) {
    let block = this_thread_block();
    let i = this_grid().thread_rank();
    let group = labeled_partition(&tiled_partition::<32>(&block), labels[i]);
    let at = i * MOVES;
    let value = input[i];
    moved[at] = group.shfl(value, by[i]);
    moved[at + 1] = group.shfl_up(value, by[i]);
    moved[at + 2] = group.shfl_down(value, by[i]);
    moved[at + 3] = value;
    matched[i * 2] = group.match_any(value);
    matched[i * 2 + 1] = group.match_all(value);
}

const THREADS: usize = 256;

/// Returns values, some of them equal, so that there is something to match, and distances, some of them too large.
fn inputs<T: Random>(seed: u64) -> (Vec<T>, Vec<u32>) {
    let mut numbers = Numbers(!seed);
    let distinct = values::<T>(seed, 64);
    // The threads of warp 1 all have the same value.
    let mut value =
        |thread: usize| distinct[if thread / 32 == 1 { 0 } else { numbers.below(64_u64 >> (thread / 64)) as usize }];
    let input = (0..THREADS).map(&mut value).collect();
    let by = (0..THREADS).map(|_| match numbers.below(8) {
        0 => numbers.draw() as u32,
        _ => numbers.below(40) as u32,
    });
    (input, by.collect())
}

/// Returns what the threads of the groups get, and find to match.
fn expected<T: Random>(groups: &[Vec<usize>], xor: bool, input: &[T], by: &[u32]) -> (Vec<T>, Vec<u32>) {
    let mut moved = vec![input[0]; THREADS * MOVES];
    let mut matched = vec![0; THREADS * 2];
    for group in groups {
        let count = group.len();
        for (rank, &thread) in group.iter().enumerate() {
            let of_rank = |rank: usize| input[group[rank]];
            for (kind, source) in sources(rank, count, by[thread]).into_iter().enumerate() {
                moved[thread * MOVES + kind] = of_rank(source);
            }
            let other = if xor { rank ^ (by[thread] as usize % count) } else { rank };
            moved[thread * MOVES + 3] = of_rank(other);
            let same = (0..count).filter(|other| of_rank(*other).same(input[thread]));
            let mask = same.fold(0_u32, |mask, other| mask | 1 << other);
            matched[thread * 2] = mask;
            matched[thread * 2 + 1] = if mask.count_ones() as usize == count { mask } else { 0 };
        }
    }
    (moved, matched)
}

fn check_tiles<T: Random, const N: u32>(device: &Device) -> Outcome {
    let (input, by) = inputs::<T>(u64::from(N));
    let (mut moved, mut matched) = (device.upload(&[input[0]; THREADS * MOVES])?, device.zeros(THREADS * 2)?);
    of_tiles::<T, N>(&device.upload(&input)?, &device.upload(&by)?, &mut moved, &mut matched)
        .grid(2)
        .block(THREADS as u32 / 2)
        .launch(device)?;
    let groups = grouped(THREADS, |thread| thread / N as usize);
    let (want_moved, want_matched) = expected(&groups, true, &input, &by);
    let name = std::any::type_name::<T>();
    same(&moved.read()?, &want_moved, |i| format!("{name} in tiles of {N}, thread {}, {}", i / MOVES, i % MOVES))?;
    same(&matched.read()?, &want_matched, |i| format!("matches of {name} in tiles of {N}, thread {}", i / 2))
}

fn check_groups<T: Random>(device: &Device) -> Outcome {
    for count in [1, 2, 3, 7, 40] {
        let (input, by) = inputs::<T>(count);
        let labels = Numbers(count).list(THREADS, |draw| (draw % count) as i32 - 3);
        let (mut moved, mut matched) = (device.upload(&[input[0]; THREADS * MOVES])?, device.zeros(THREADS * 2)?);
        let (values, distances) = (device.upload(&input)?, device.upload(&by)?);
        of_groups::<T>(&values, &device.upload(&labels)?, &distances, &mut moved, &mut matched)
            .grid(2)
            .block(THREADS as u32 / 2)
            .launch(device)?;
        let groups = grouped(THREADS, |thread| labels[thread]);
        let (want_moved, want_matched) = expected(&groups, false, &input, &by);
        let name = std::any::type_name::<T>();
        let place = |i: usize| format!("{name} by {count} labels, thread {}, {}", i / MOVES, i % MOVES);
        same(&moved.read()?, &want_moved, place)?;
        same(&matched.read()?, &want_matched, |i| format!("matches of {name} by {count} labels, thread {}", i / 2))?;
    }
    Ok(())
}

/// Makes every size for one type, and some for every type.
macro_rules! table {
    (tiles { $($name:ident: $t:ident, $($n:literal)*;)* } groups { $($groups:ident: $g:ident;)* }) => {
        $(fn $name(device: &Device) -> Outcome {
            $(check_tiles::<$t, $n>(device)?;)*
            Ok(())
        })*
        $(fn $groups(device: &Device) -> Outcome {
            check_groups::<$g>(device)
        })*

        pub(super) fn modules() -> Vec<Module> {
            let kernels = vec![
                $($(Kernel::of::<of_tiles<$t, $n>>(concat!("of_tiles<", stringify!($t), ", ", $n, ">")),)*)*
                $(Kernel::of::<of_groups<$g>>(concat!("of_groups<", stringify!($g), ">")),)*
            ];
            vec![Module { name: "shuffles", checks: check_list![$($name,)* $($groups),*], kernels }]
        }
    };
}

table! {
    tiles {
        bools: bool, 32 4;
        bytes: u8, 8;
        signed_bytes: i8, 32;
        halves: u16, 32;
        signed_halves: i16, 16;
        words: u32, 1 2 4 8 16 32;
        signed_words: i32, 32;
        floats: f32, 32;
        half_floats: f16, 32 2;
        brain_floats: bf16, 16;
        long_words: u64, 2;
        signed_long_words: i64, 32;
        sizes: usize, 32;
        signed_sizes: isize, 4;
        doubles: f64, 32;
        longest: u128, 32;
        signed_longest: i128, 4;
    }
    groups {
        bools_of_groups: bool;
        bytes_of_groups: u8;
        words_of_groups: u32;
        doubles_of_groups: f64;
        half_floats_of_groups: f16;
        brain_floats_of_groups: bf16;
        signed_long_words_of_groups: i64;
        longest_of_groups: i128;
    }
}
