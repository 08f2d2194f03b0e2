//! Reductions and scans with every operator. Those of floats are equal bit for bit, because their order is fixed.

use std::ops::Add;

use phalanx::prelude::*;

use super::warps::{Numbers, Random, grouped, scan, tree, values};
use crate::{Kernel, Module, Outcome, check_list, same};

const THREADS: usize = 128;
/// The number of results: three operators, and a reduction and two scans for each.
const RESULTS: usize = 9;

#[cluster_kernel]
fn of_numbers<T: Number, const N: u32>(input: &[T], out: &mut [T]) {
    let block = this_thread_block();
    let tile = tiled_partition::<N>(&block);
    let i = this_grid().thread_rank();
    let at = i * RESULTS;
    out[at] = tile.reduce(input[i], op::Plus);
    out[at + 1] = tile.inclusive_scan(input[i], op::Plus);
    out[at + 2] = tile.exclusive_scan(input[i], op::Plus);
    out[at + 3] = tile.reduce(input[i], op::Min);
    out[at + 4] = tile.inclusive_scan(input[i], op::Min);
    out[at + 5] = tile.exclusive_scan(input[i], op::Min);
    out[at + 6] = tile.reduce(input[i], op::Max);
    out[at + 7] = tile.inclusive_scan(input[i], op::Max);
    out[at + 8] = tile.exclusive_scan(input[i], op::Max);
}

#[cluster_kernel]
fn of_group_numbers<T: Number>(input: &[T], labels: &[u8], out: &mut [T]) {
    let block = this_thread_block();
    let tile = tiled_partition::<32>(&block);
    let i = this_grid().thread_rank();
    let group = labeled_partition(&tile, labels[i]);
    let at = i * RESULTS;
    out[at] = group.reduce(input[i], op::Plus);
    out[at + 1] = group.inclusive_scan(input[i], op::Plus);
    out[at + 2] = group.exclusive_scan(input[i], op::Plus);
    out[at + 3] = group.reduce(input[i], op::Min);
    out[at + 4] = group.inclusive_scan(input[i], op::Min);
    out[at + 5] = group.exclusive_scan(input[i], op::Min);
    out[at + 6] = group.reduce(input[i], op::Max);
    out[at + 7] = group.inclusive_scan(input[i], op::Max);
    out[at + 8] = group.exclusive_scan(input[i], op::Max);
}

#[cluster_kernel]
fn of_bits<T: Integer, const N: u32>(input: &[T], labels: &[u8], out: &mut [T]) {
    let block = this_thread_block();
    let tile = tiled_partition::<N>(&block);
    let i = this_grid().thread_rank();
    let group = labeled_partition(&tile, labels[i]);
    let at = i * RESULTS;
    out[at] = tile.reduce(input[i], op::And);
    out[at + 1] = group.inclusive_scan(input[i], op::And);
    out[at + 2] = tile.exclusive_scan(input[i], op::And);
    out[at + 3] = tile.reduce(input[i], op::Or);
    out[at + 4] = tile.inclusive_scan(input[i], op::Or);
    out[at + 5] = group.exclusive_scan(input[i], op::Or);
    out[at + 6] = group.reduce(input[i], op::Xor);
    out[at + 7] = tile.inclusive_scan(input[i], op::Xor);
    out[at + 8] = group.exclusive_scan(input[i], op::Xor);
}

#[cluster_kernel]
fn of_bools<const N: u32>(input: &[bool], labels: &[u8], out: &mut [bool]) {
    let block = this_thread_block();
    let tile = tiled_partition::<N>(&block);
    let i = this_grid().thread_rank();
    let group = labeled_partition(&tile, labels[i]);
    let at = i * RESULTS;
    out[at] = tile.reduce(input[i], op::And);
    out[at + 1] = group.inclusive_scan(input[i], op::And);
    out[at + 2] = tile.exclusive_scan(input[i], op::And);
    out[at + 3] = tile.reduce(input[i], op::Or);
    out[at + 4] = tile.inclusive_scan(input[i], op::Or);
    out[at + 5] = group.exclusive_scan(input[i], op::Or);
    out[at + 6] = group.reduce(input[i], op::Xor);
    out[at + 7] = tile.inclusive_scan(input[i], op::Xor);
    out[at + 8] = group.exclusive_scan(input[i], op::Xor);
}

/// Joins in an order that the result reveals: not associative, not commutative.
#[device]
fn joined(tile: &Tile<16>, group: &CoalescedGroup, x: u32, join: impl Fn(u32, u32) -> u32, out: &mut [u32], at: usize) {
    out[at] = tile.reduce(x, join);
    out[at + 1] = tile.inclusive_scan(x, join);
    out[at + 2] = tile.exclusive_scan(x, join);
    out[at + 3] = group.reduce(x, join);
    out[at + 4] = group.inclusive_scan(x, join);
    out[at + 5] = group.exclusive_scan(x, join);
}

#[cluster_kernel]
fn of_closures(input: &[u32], labels: &[u8], factor: u32, out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<16>(&block);
    let i = this_grid().thread_rank();
    let group = labeled_partition(&tile, labels[i]);
    let at = i * RESULTS;
    joined(&tile, &group, input[i], |a, b| a * factor - (b ^ 5), out, at);
    // The largest value, and its position.
    let (most, place) = group.reduce((input[i] % 50, i as u32), |a, b| {
        let ((a_value, _), (b_value, _)) = (a, b);
        if b_value > a_value { b } else { a }
    });
    out[at + 6] = most;
    out[at + 7] = place;
    out[at + 8] = tile.reduce(input[i] as f32, |a, b| a / 2.0 + b) as u32;
}

fn closures(device: &Device) -> Outcome {
    for seed in [0, 2, 9] {
        let (input, labels) = (values::<u32>(seed, THREADS), labels(seed));
        let mut out = device.zeros(THREADS * RESULTS)?;
        of_closures(&device.upload(&input)?, &device.upload(&labels)?, 31, &mut out)
            .grid(1)
            .block(THREADS as u32)
            .launch(device)?;
        let mut want = vec![0; THREADS * RESULTS];
        let join = |a: u32, b: u32| a.wrapping_mul(31).wrapping_sub(b ^ 5);
        let tiles = grouped(THREADS, |thread| thread / 16);
        let groups = grouped(THREADS, |thread| (thread / 16, labels[thread]));
        for (first, groups) in [(0, &tiles), (3, &groups)] {
            fold(groups, &input, join, 0, |thread, results| {
                want[thread * RESULTS + first..][..3].copy_from_slice(&results);
            });
            // A closure has no identity: the first thread keeps its own value.
            for group in groups {
                want[group[0] * RESULTS + first + 2] = input[group[0]];
            }
        }
        for group in &groups {
            let largest = |a: u32, b: u32| if input[b as usize] % 50 > input[a as usize] % 50 { b } else { a };
            let place = group.iter().map(|thread| *thread as u32).reduce(largest).unwrap_or(0);
            for thread in group {
                want[thread * RESULTS + 6..][..2].copy_from_slice(&[input[place as usize] % 50, place]);
            }
        }
        let floats: Vec<f32> = input.iter().map(|value| *value as f32).collect();
        fold(&tiles, &floats, |a, b| a / 2.0 + b, 0.0, |thread, [all, ..]| want[thread * RESULTS + 8] = all as u32);
        same(&out.read()?, &want, |i| format!("labels {seed}, thread {}, {}", i / RESULTS, i % RESULTS))?;
    }
    Ok(())
}

/// Computes a reduction and both scans of the threads of each group, into the results from `first` on.
fn fold<T: Copy>(
    groups: &[Vec<usize>],
    input: &[T],
    op: impl Fn(T, T) -> T + Copy,
    identity: T,
    mut put: impl FnMut(usize, [T; 3]),
) {
    for group in groups {
        let values: Vec<T> = group.iter().map(|thread| input[*thread]).collect();
        let (all, scanned) = (tree(&values, op), scan(&values, op));
        for (rank, thread) in group.iter().enumerate() {
            let below = if rank == 0 { identity } else { scanned[rank - 1] };
            put(*thread, [all, scanned[rank], below]);
        }
    }
}

/// Numbers with what the operators do to them.
trait Operators: Random + Number {
    fn plus(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn most(self, other: Self) -> Self;
    const ENDS: [Self; 3];
}

macro_rules! operators {
    ($plus:ident $zero:expr, $low:ident $high:ident: $($t:ident)*) => {$(
        impl Operators for $t {
            fn plus(self, other: $t) -> $t {
                self.$plus(other)
            }
            fn least(self, other: $t) -> $t {
                if other < self { other } else { self }
            }
            fn most(self, other: $t) -> $t {
                if other > self { other } else { self }
            }
            const ENDS: [$t; 3] = [$zero, $t::$high, $t::$low];
        }
    )*};
}

operators!(wrapping_add 0, MIN MAX: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
operators!(add 0.0, NEG_INFINITY INFINITY: f32 f64);
operators!(add f16::ZERO, NEG_INFINITY INFINITY: f16);
operators!(add bf16::ZERO, NEG_INFINITY INFINITY: bf16);

fn expected<T: Operators>(groups: &[Vec<usize>], input: &[T]) -> Vec<T> {
    let mut want = vec![input[0]; THREADS * RESULTS];
    let operators: [fn(T, T) -> T; 3] = [T::plus, T::least, T::most];
    for (number, op) in operators.into_iter().enumerate() {
        fold(groups, input, op, T::ENDS[number], |thread, results| {
            let at = thread * RESULTS + number * 3;
            want[at..at + 3].copy_from_slice(&results);
        });
    }
    want
}

fn labels(seed: u64) -> Vec<u8> {
    Numbers(seed).list(THREADS, |draw| (draw % (1 + seed)) as u8)
}

fn check_tiles<T: Operators, const N: u32>(device: &Device) -> Outcome {
    let input = values::<T>(N.into(), THREADS);
    let mut out = device.upload(&[input[0]; THREADS * RESULTS])?;
    of_numbers::<T, N>(&device.upload(&input)?, &mut out).grid(1).block(THREADS as u32).launch(device)?;
    let want = expected(&grouped(THREADS, |thread| thread / N as usize), &input);
    let name = std::any::type_name::<T>();
    same(&out.read()?, &want, |i| format!("{name} in tiles of {N}, thread {}, {}", i / RESULTS, i % RESULTS))
}

fn check_groups<T: Operators>(device: &Device) -> Outcome {
    for seed in [0, 1, 2, 6, 30] {
        let (input, labels) = (values::<T>(seed, THREADS), labels(seed));
        let mut out = device.upload(&[input[0]; THREADS * RESULTS])?;
        of_group_numbers::<T>(&device.upload(&input)?, &device.upload(&labels)?, &mut out)
            .grid(1)
            .block(THREADS as u32)
            .launch(device)?;
        let want = expected(&grouped(THREADS, |thread| labels[thread]), &input);
        let name = std::any::type_name::<T>();
        same(&out.read()?, &want, |i| format!("{name} by labels {seed}, thread {}, {}", i / RESULTS, i % RESULTS))?;
    }
    Ok(())
}

/// Whether each result is of the tile or of the labelled group, and which operator's identity is `T`'s.
const OF_TILE: [bool; RESULTS] = [true, false, true, true, true, false, false, true, false];

fn expected_bits<T: Random>(size: usize, labels: &[u8], input: &[T], ops: [fn(T, T) -> T; 3], ends: [T; 3]) -> Vec<T> {
    let mut want = vec![input[0]; THREADS * RESULTS];
    let tiles = grouped(THREADS, |thread| thread / size);
    let groups = grouped(THREADS, |thread| (thread / size, labels[thread]));
    for (number, op) in ops.into_iter().enumerate() {
        for (of_tile, groups) in [(true, &tiles), (false, &groups)] {
            fold(groups, input, op, ends[number], |thread, results| {
                for (kind, result) in results.into_iter().enumerate() {
                    if OF_TILE[number * 3 + kind] == of_tile {
                        want[thread * RESULTS + number * 3 + kind] = result;
                    }
                }
            });
        }
    }
    want
}

fn check_bits<T: Random + Integer, const N: u32>(device: &Device) -> Outcome {
    let (input, labels) = (values::<T>(N.into(), THREADS), labels(3));
    let mut out = device.upload(&[input[0]; THREADS * RESULTS])?;
    of_bits::<T, N>(&device.upload(&input)?, &device.upload(&labels)?, &mut out)
        .grid(1)
        .block(THREADS as u32)
        .launch(device)?;
    let zero = T::default();
    let ops: [fn(T, T) -> T; 3] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b];
    let want = expected_bits(N as usize, &labels, &input, ops, [!zero, zero, zero]);
    let name = std::any::type_name::<T>();
    same(&out.read()?, &want, |i| format!("bits of {name}, tiles of {N}, thread {}, {}", i / RESULTS, i % RESULTS))
}

fn check_bools<const N: u32>(device: &Device) -> Outcome {
    for seed in 0..4 {
        let (input, labels) = (values::<bool>(seed, THREADS), labels(seed));
        let mut out = device.upload(&[false; THREADS * RESULTS])?;
        of_bools::<N>(&device.upload(&input)?, &device.upload(&labels)?, &mut out)
            .grid(1)
            .block(THREADS as u32)
            .launch(device)?;
        let ops: [fn(bool, bool) -> bool; 3] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b];
        let want = expected_bits(N as usize, &labels, &input, ops, [true, false, false]);
        same(&out.read()?, &want, |i| format!("bools, tiles of {N}, thread {}, {}", i / RESULTS, i % RESULTS))?;
    }
    Ok(())
}

fn bools(device: &Device) -> Outcome {
    check_bools::<32>(device)?;
    check_bools::<4>(device)
}

macro_rules! table {
    (
        tiles { $($name:ident: $t:ident, $($n:literal)*;)* }
        groups { $($groups:ident: $g:ident;)* }
        bits { $($bits:ident: $b:ident, $($m:literal)*;)* }
    ) => {
        $(fn $name(device: &Device) -> Outcome {
            $(check_tiles::<$t, $n>(device)?;)*
            Ok(())
        })*
        $(fn $groups(device: &Device) -> Outcome {
            check_groups::<$g>(device)
        })*
        $(fn $bits(device: &Device) -> Outcome {
            $(check_bits::<$b, $m>(device)?;)*
            Ok(())
        })*

        pub(super) fn modules() -> Vec<Module> {
            let kernels = vec![
                $($(Kernel::of::<of_numbers<$t, $n>>(concat!("of_numbers<", stringify!($t), ", ", $n, ">")),)*)*
                $(Kernel::of::<of_group_numbers<$g>>(concat!("of_group_numbers<", stringify!($g), ">")),)*
                $($(Kernel::of::<of_bits<$b, $m>>(concat!("of_bits<", stringify!($b), ", ", $m, ">")),)*)*
                Kernel::of::<of_bools<32>>("of_bools<32>"),
                Kernel::of::<of_bools<4>>("of_bools<4>"),
                Kernel::of::<of_closures>("of_closures"),
            ];
            vec![Module { name: "folds", checks: check_list![$($name,)* $($groups,)* $($bits,)* bools, closures], kernels }]
        }
    };
}

table! {
    tiles {
        bytes: u8, 32;
        signed_bytes: i8, 32 2;
        halves: u16, 16;
        signed_halves: i16, 32;
        words: u32, 1 2 4 8 16 32;
        signed_words: i32, 32;
        floats: f32, 1 2 4 8 16 32;
        half_floats: f16, 32 4;
        brain_floats: bf16, 32;
        long_words: u64, 2;
        signed_long_words: i64, 32;
        doubles: f64, 32;
        sizes: usize, 16;
        signed_sizes: isize, 32;
        longest: i128, 8;
    }
    groups {
        bytes_of_groups: i8;
        words_of_groups: u32;
        floats_of_groups: f32;
        doubles_of_groups: f64;
        half_floats_of_groups: f16;
        brain_floats_of_groups: bf16;
        long_words_of_groups: u64;
        signed_long_words_of_groups: i64;
        longest_of_groups: u128;
    }
    bits {
        bits_of_bytes: i8, 32;
        bits_of_words: u32, 32 8;
        bits_of_signed_words: i32, 32;
        bits_of_long_words: u64, 16;
        bits_of_longest: i128, 32;
    }
}
