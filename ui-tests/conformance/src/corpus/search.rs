//! Searches and merges of sorted sequences.

use phalanx::prelude::*;

use super::{below, random};
use crate::{Bits, Module, Outcome, check_list, kernel_list, read, same};

/// Returns the first index from `low` to `high` at which `holds` no longer holds.
#[device]
fn partition_point(from: u32, to: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Finds where each needle would be inserted (Thrust's vectorized `lower_bound`).
#[cluster_kernel(block = 128)]
pub(super) fn lower_bound<T: Number>(sorted: &[T], needles: &[T], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i < needles.len() {
        let needle = needles[i];
        out[i] = partition_point(0, sorted.len() as u32, |at| sorted[at] < needle);
    }
}

const ITEMS: usize = 7;

/// Merges two sorted sequences, `ITEMS` results a thread, whose parts it finds on a diagonal (Green, McColl and Bader,
/// "GPU Merge Path", 2012; moderngpu).
#[cluster_kernel(block = 64)]
pub(super) fn merge(a: &[i32], b: &[i32], out: &mut [i32]) {
    let start = this_grid().thread_rank() as u32 * ITEMS as u32;
    let (a_len, b_len) = (a.len() as u32, b.len() as u32);
    let total = a_len + b_len;
    if start >= total {
        return;
    }
    let lowest = if start > b_len { start - b_len } else { 0 };
    let mut i = partition_point(lowest, start.min(a_len), |at| a[at] <= b[start - 1 - at]);
    let mut j = start - i;
    for k in start..(start + ITEMS as u32).min(total) {
        let from_a = j >= b_len || i < a_len && a[i] <= b[j];
        out[k] = if from_a { a[i] } else { b[j] };
        if from_a {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// Finds the rectangle of a cascade of sorted tables that holds each point: a search in a search, as in binned lookups
/// of physics codes (Geant4's and OpenMC's cross sections on unionised grids).
#[cluster_kernel(block = 64)]
fn interpolate(energies: &[f64], tables: &[f64], at: &[f64], out: &mut [f64], nuclides: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= at.len() as u32 {
        return;
    }
    let points = energies.len() as u32;
    let energy = at[i];
    let found = match partition_point(0, points, |k| energies[k] <= energy) {
        0 => None,
        k if k >= points => None,
        k => Some((k - 1, (energy - energies[k - 1]) / (energies[k] - energies[k - 1]))),
    };
    let Some((low, fraction)) = found else {
        out[i] = -1.0;
        return;
    };
    let mut total = 0.0;
    for nuclide in 0..nuclides {
        let base = nuclide * points + low;
        total += (tables[base + 1] - tables[base]).mul_add(fraction, tables[base]);
    }
    out[i] = total;
}

fn found<T: phalanx::Number + Bits>(device: &Device, mut sorted: Vec<T>, needles: &[T]) -> Outcome {
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
    let (input, wanted) = (device.upload(&sorted)?, device.upload(needles)?);
    let got = read!(device, needles.len(), |out| {
        lower_bound(&input, &wanted, out).grid(needles.len().div_ceil(128) as u32)
    });
    let want: Vec<u32> = needles.iter().map(|needle| sorted.partition_point(|x| x < needle) as u32).collect();
    same(&got, &want, |i| format!("{:?}", needles[i]))
}

fn searches(device: &Device) -> Outcome {
    found(device, below(500, 121, 1000), &below(502, 122, 300))?;
    found(device, super::reals(123, 77), &super::reals(124, 129))?;
    found(device, vec![5u64], &[4, 5, 6])
}

fn merges(device: &Device) -> Outcome {
    for (m, n) in [(500, 300), (1, 700), (333, 1)] {
        let sorted = |seed, len| {
            let mut values: Vec<i32> = below(400, seed, len).into_iter().map(|x| x as i32 - 200).collect();
            values.sort_unstable();
            values
        };
        let (a, b) = (sorted(125, m), sorted(126, n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let got = read!(device, m + n, |out| merge(&x, &y, out).grid((m + n).div_ceil(64 * ITEMS) as u32));
        let mut want = [a, b].concat();
        want.sort_unstable();
        same(&got, &want, |i| format!("{m} and {n}, {i}"))?;
    }
    Ok(())
}

fn cross_sections(device: &Device) -> Outcome {
    let (points, nuclides) = (50, 4);
    let mut energies: Vec<f64> = random(127, points).into_iter().map(f64::from).collect();
    energies.sort_by(f64::total_cmp);
    let tables: Vec<f64> = super::reals(128, points * nuclides).into_iter().map(f64::from).collect();
    let mut at: Vec<f64> = random(129, 150).into_iter().map(f64::from).collect();
    at.extend([-1.0, energies[0], energies[points - 1], 1e10]);
    let (a, b, c) = (device.upload(&energies)?, device.upload(&tables)?, device.upload(&at)?);
    let got = read!(device, at.len(), |out| interpolate(&a, &b, &c, out, nuclides as u32).grid(3));
    let value = |energy: &f64| {
        let k = energies.partition_point(|e| e <= energy);
        if k == 0 || k >= points {
            return -1.0;
        }
        let fraction = (energy - energies[k - 1]) / (energies[k] - energies[k - 1]);
        let of = |nuclide: usize| {
            (tables[nuclide * points + k] - tables[nuclide * points + k - 1])
                .mul_add(fraction, tables[nuclide * points + k - 1])
        };
        (0..nuclides).fold(0.0, |total, nuclide| total + of(nuclide))
    };
    same(&got, &at.iter().map(value).collect::<Vec<_>>(), |i| format!("{}", at[i]))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::search",
        checks: check_list![searches, merges, cross_sections],
        kernels: kernel_list![lower_bound<u32>, lower_bound<f32>, lower_bound<u64>, merge, interpolate],
    }
}
