//! The order in which the parts of a struct literal and of a place are evaluated; several instances of a generic struct
//! in one program.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Pair<T> {
    first: T,
    second: T,
}

// The order of fields is the source's; that of the declaration is another.

#[device]
pub(super) fn step(counter: &mut u32) -> u32 {
    *counter = *counter * 10 + 1;
    *counter
}

#[cluster_kernel(block = 1)]
fn order(out: &mut [u32], scratch: &mut [u32]) {
    let mut counter = 0;
    let pair = Pair { second: step(&mut counter), first: step(&mut counter) };
    out[0] = pair.first;
    out[1] = pair.second;
    let mut base = Pair { first: 1, second: 2 };
    let mixed = Pair {
        second: {
            base.first = 9;
            base.second = 8;
            counter
        },
        ..base
    };
    out[2] = mixed.first;
    out[3] = mixed.second;
    scratch[0] = 5;
    let read = Pair {
        second: scratch[0],
        first: {
            scratch[0] = 6;
            3
        },
    };
    out[4] = read.second;
    let nested =
        Pair { first: Pair { first: step(&mut counter), second: 2 }, second: Pair { first: 3, second: counter } };
    out[5] = nested.first.first;
    out[6] = nested.second.second;
    let chosen = if out[0] > 3 { Pair { first: 1, second: 2 } } else { base };
    out[7] = chosen.second;
    out[8] = (if out[1] > 3 { base } else { chosen }).first;
    let mut rows = [Pair { first: 0u32, second: 1 }; 4];
    let mut k = 0;
    rows[{
        k += 1;
        k
    }]
    .first = {
        k += 1;
        k
    };
    rows[{
        k += 1;
        k
    } % 4]
        .second += k * {
        k += 1;
        k
    };
    for row in 0..4 {
        out[9 + row] = rows[row].first * 100 + rows[row].second;
    }
}

fn orders(device: &Device) -> Outcome {
    let mut scratch = device.zeros(1)?;
    let out = read!(device, 13, |out| order(out, &mut scratch).grid(1));
    // For the last two statements, Rust evaluates the right sides first: 1 goes to row 2, and 2 * 3 to row 0.
    let want = [11, 1, 9, 11, 5, 111, 111, 2, 1, 7, 1, 101, 1];
    equal(&out, &want)
}

// Generic kernels, several instances of a generic struct in one program.

#[cluster_kernel(block = 8)]
fn pairs<T: Number>(input: &[T], out: &mut [Pair<T>], sums: &mut [Pair<f32>]) {
    let i = this_thread_block().thread_rank();
    let pair = Pair { first: input[i], second: input[7 - i] };
    out[i] = pair;
    out[i].first += pair.second;
    sums[i] = Pair { first: 1.5, second: 2.5 };
    sums[i].second -= sums[i].first;
}

fn generic(device: &Device) -> Outcome {
    let numbers: Vec<u64> = (0..8).map(|i| i << 33).collect();
    let input = device.upload(&numbers)?;
    let mut sums = device.zeros(8)?;
    let out = read!(device, 8, |out| pairs(&input, out, &mut sums).grid(1));
    let want: Vec<Pair<u64>> =
        (0..8).map(|i| Pair { first: numbers[i] + numbers[7 - i], second: numbers[7 - i] }).collect();
    equal(&out, &want)?;
    equal(&sums.read()?, &[Pair { first: 1.5, second: 1.0 }; 8])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "struct_order",
        checks: check_list![orders, generic],
        kernels: kernel_list![order, pairs<u64>, pairs<f32>],
    }]
}
