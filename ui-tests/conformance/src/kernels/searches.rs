//! Binary searches, whose elements in the middle one test before the loop shows to be within bounds, and such as go beyond them. A comment
//! with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list, read};

const SOURCE: &str = include_str!("searches.rs");

/// Returns the number of elements that are less than `x`.
#[device]
fn number_below(sorted: &[u32], x: u32) -> usize {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = (low + high) / 2;
        if sorted[middle] < x {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns where an element is that is equal to `x`.
#[device]
fn place_of(sorted: &[u32], x: u32) -> Option<u32> {
    let (mut first, mut last) = (0, sorted.len() as u32);
    while last > first {
        let middle = first + ((last - first) >> 1);
        if sorted[middle] == x {
            return Some(middle);
        }
        if sorted[middle] < x {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    None
}

/// Searches in a slice, a part of one and shared memory.
#[cluster_kernel(block = 64)]
fn found(sorted: &[u32], keys: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let squares = shared_array::<u32, 64>();
    squares[i] = i * i;
    this_thread_block().sync();
    let key = keys[i];
    let (mut low, mut high) = (0u8, 64u8);
    while low < high {
        let middle = (low + high) / 2;
        if squares[middle] < key && sorted[middle] < 3 * key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let below = number_below(sorted, key) * 1000 + number_below(&sorted[10..50], key);
    let place = place_of(sorted, key).unwrap_or(999);
    out[i] = below as u32 * 1000 + place + low as u32 * 7;
}

fn searches_find(device: &Device) -> Outcome {
    let sorted: Vec<u32> = (0..70).map(|i| i * 13 / 3).collect();
    let keys: Vec<u32> = (0..64).map(|i| i * 29 % 320).collect();
    let want: Vec<u32> = keys
        .iter()
        .map(|&key| {
            let below = sorted.partition_point(|&x| x < key) * 1000 + sorted[10..50].partition_point(|&x| x < key);
            let place = sorted.binary_search(&key).map_or(999, |place| place as u32);
            let places: Vec<u32> = (0..64).collect();
            let low = places.partition_point(|&k| k * k < key && sorted[k as usize] < 3 * key);
            below as u32 * 1000 + place + low as u32 * 7
        })
        .collect();
    let (sorted, keys) = (device.upload(&sorted)?, device.upload(&keys)?);
    equal(&read!(device, 64, |out| found(&sorted, &keys, out).grid(1)), &want)?;
    // A slice without elements: the loops do not begin.
    let none = device.upload::<u32>(&[])?;
    equal(&read!(device, 64, |out| number_of_none(&none, out).grid(1)), &[0; 64])
}

/// Searches in a slice that has no elements.
#[cluster_kernel(block = 64)]
fn number_of_none(none: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    out[i] = number_below(none, i) as u32;
}

/// Searches up to an end that is the caller's, in one thread.
#[cluster_kernel(block = 32)]
fn beyond(sorted: &[u32], end: u32, out: &mut [u32]) {
    let key = this_thread_block().thread_rank();
    let (mut low, mut high) = (0, if key == 9 { end } else { 20 });
    while low < high {
        let middle = (low + high) / 2;
        if
        /* beyond */
        sorted[middle] < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out[key] = low;
}

/// Searches with numbers that have a sign.
#[cluster_kernel(block = 32)]
fn signed(sorted: &[u32], from: i32, out: &mut [u32]) {
    let key = this_thread_block().thread_rank();
    let (mut low, mut high) = (from, sorted.len() as i32);
    while low < high {
        let middle = (low + high) / 2;
        if sorted[middle as usize] < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    out[key] = low as u32;
}

fn searches_end_within_bounds(device: &Device) -> Outcome {
    let sorted = device.upload(&(0..20).collect::<Vec<u32>>())?;
    let want: Vec<u32> = (0..32).map(|key| key.min(20)).collect();
    equal(&read!(device, 32, |out| signed(&sorted, 0, out).grid(1)), &want)?;
    // An end that is too large, beyond which the search does not come: its middles are 10, 5, 8, 9.
    for end in [20, 21] {
        equal(&read!(device, 32, |out| beyond(&sorted, end, out).grid(1)), &want)?;
    }
    // The first middle is 20.
    let mut out = device.zeros(32)?;
    let launched = beyond(&sorted, 40, &mut out).grid(1).launch(device);
    fails(launched, "index 20 out of bounds for length 20", &find(file!(), SOURCE, "beyond"), (0, 0, 0), (9, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "searches",
        checks: check_list![searches_find, searches_end_within_bounds],
        kernels: kernel_list![found, number_of_none, beyond, signed],
    }]
}
