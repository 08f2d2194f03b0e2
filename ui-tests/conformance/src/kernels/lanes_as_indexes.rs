//! Lanes of vectors as indexes, tuples with halves that are compared, and loops whose number of iterations is a constant: local arrays
//! that they index by their variable, and searches.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("lanes_as_indexes.rs");

/// Looks numbers up that lanes of vectors select.
#[cluster_kernel(block = 32)]
fn looked_up(table: &[u32], places: &[u16], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let rows = shared_array::<[u32; 8], 4>();
    rows[i / 8][i % 8] = table[i] * 3;
    this_thread_block().sync();
    let v = places.load_vec::<8>(i * 8);
    let mut sum = 0u32;
    for half in 0..2 {
        for k in 0..4 {
            let place = v[half * 4 + k];
            sum = sum * 31 + rows[place / 8 % 4][place % 8] + /* looked_up */ table[place];
        }
    }
    out[i] = sum;
}

fn lanes_are_indexes(device: &Device) -> Outcome {
    let table: Vec<u32> = (0..40).map(|i| i * i + 1).collect();
    let mut places: Vec<u16> = (0..256).map(|i| (i * 7 % 40) as u16).collect();
    let want: Vec<u32> = places
        .chunks(8)
        .map(|eight| {
            eight.iter().fold(0u32, |sum, &place| {
                let row = table[usize::from(place / 8 % 4 * 8 + place % 8)] * 3;
                sum.wrapping_mul(31).wrapping_add(row + table[usize::from(place)])
            })
        })
        .collect();
    let (table, all) = (device.upload(&table)?, device.upload(&places)?);
    equal(&read!(device, 32, |out| looked_up(&table, &all, out).grid(1)), &want)?;
    places[77] = 40;
    let beyond = device.upload(&places)?;
    let mut out = device.zeros(32)?;
    let launched = looked_up(&table, &beyond, &mut out).grid(1).launch(device);
    fails(launched, "index 40 out of bounds for length 40", &find(file!(), SOURCE, "looked_up"), (0, 0, 0), (9, 0, 0))
}

/// Compares pairs whose first part is a half.
#[cluster_kernel(block = 32)]
fn pairs(values: &[f16], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let (a, b) = ((values[i], i % 3), (values[(i + 1) % 32], (i + 1) % 3));
    let mut best = [(f16::NEG_INFINITY, 0u8); 2];
    for (k, kept) in best.iter_mut().enumerate() {
        let next = (values[(i + k as u32 * 5) % 32], k as u8);
        if next > *kept {
            *kept = next;
        }
    }
    out[i] = u32::from(a == b)
        + 2 * u32::from(a < b)
        + 4 * u32::from(best[0] == best[1])
        + 8 * u32::from(best[0] >= best[1]);
}

fn pairs_are_compared(device: &Device) -> Outcome {
    let mut values: Vec<f16> = (0..32).map(|i| f16::from_f32((i * 7 % 5) as f32 - 2.0)).collect();
    values[9] = f16::NAN;
    let at = |i: u32, k: u32| values[((i + k * 5) % 32) as usize];
    let want: Vec<u32> = (0..32)
        .map(|i| {
            let (a, b) = ((values[i as usize], i % 3), (values[((i + 1) % 32) as usize], (i + 1) % 3));
            let kept = |k: u32| {
                let (none, next) = ((f16::NEG_INFINITY, 0u8), (at(i, k), k as u8));
                if next > none { next } else { none }
            };
            u32::from(a == b)
                + 2 * u32::from(a < b)
                + 4 * u32::from(kept(0) == kept(1))
                + 8 * u32::from(kept(0) >= kept(1))
        })
        .collect();
    let values = device.upload(&values)?;
    equal(&read!(device, 32, |out| pairs(&values, out).grid(1)), &want)
}

#[device]
fn mixed(message: [u32; 16]) -> u32 {
    let mut words = message;
    let mut sum = 1u32;
    for t in 0..64 {
        if t >= 16 {
            let far = words[(t + 9) % 16];
            words[t % 16] = words[t % 16].rotate_left(7) ^ words[(t + 1) % 16].wrapping_add(far);
        }
        sum = sum.wrapping_mul(31).wrapping_add(words[t % 16]);
    }
    sum
}

/// Rounds that index a local array by their number, and places where two texts differ.
#[cluster_kernel(block = 32)]
fn rounds(input: &[u32], other: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let mut words = [0u32; 16];
    for k in 0..16 {
        words[k] = input[i * 16 + k as u32];
    }
    let sum = mixed(words);
    let mut found = 16;
    for k in 0..16 {
        if input[i * 16 + k] != /* rounds */ other[i * 16 + k] {
            found = k;
            break;
        }
    }
    let are_equal = (0..16).all(|k| input[i * 16 + k] == other[i * 16 + k]);
    out[i] = sum ^ found << 8 ^ u32::from(are_equal);
}

fn rounds_are_rust_s(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..512).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let mut other = input.clone();
    (0..32).filter(|i| i % 3 != 0).for_each(|i| other[i * 16 + i % 16] ^= 1);
    let want: Vec<u32> = (0..32)
        .map(|i| {
            let words: [u32; 16] = input[i * 16..][..16].try_into().unwrap();
            let found = (0..16).find(|k| input[i * 16 + k] != other[i * 16 + k]);
            mixed(words) ^ (found.unwrap_or(16) as u32) << 8 ^ u32::from(found.is_none())
        })
        .collect();
    let (input, short) = (device.upload(&input)?, device.upload(&other[..500])?);
    let other = device.upload(&other)?;
    equal(&read!(device, 32, |out| rounds(&input, &other, out).grid(1)), &want)?;
    let mut out = device.zeros(32)?;
    let launched = rounds(&input, &short, &mut out).grid(1).launch(device);
    fails(launched, "index 500 out of bounds for length 500", &find(file!(), SOURCE, "rounds"), (0, 0, 0), (31, 0, 0))
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "lanes_as_indexes",
        checks: check_list![lanes_are_indexes, pairs_are_compared, rounds_are_rust_s],
        kernels: kernel_list![looked_up, pairs, rounds],
    }]
}
