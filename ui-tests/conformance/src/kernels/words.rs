//! Operations on integers of 64 bits that are ones of 32 in a launch whose numbers are words, and in others are not.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

/// The place of a cell in a box, and what else an index is computed by.
#[cluster_kernel(block = 32)]
fn places(loaded: &[u32], out: &mut [[u64; 8]], depth: usize, height: usize, width: u64) {
    let i = this_grid().thread_rank();
    if i >= out.len() || i >= loaded.len() {
        return;
    }
    let (z, wide) = (depth - 1 - i, width as usize);
    let plane = z * height + i;
    let cell = plane * wide + 3;
    out[i] = [
        cell as u64,
        (cell / depth) as u64,
        (cell % height) as u64,
        (plane / 7 + plane % 11) as u64,
        plane.min(wide).max(z) as u64,
        (height.saturating_sub(plane) + plane.saturating_sub(height)) as u64,
        plane.clamp(height.min(wide), height.max(wide)) as u64,
        (loaded[i] as usize / depth + loaded[i] as usize % depth) as u64,
    ];
}

/// Conversions between floats and integers that the caller's numbers bound.
#[cluster_kernel(block = 32)]
fn conversions(x: &[f32], out: &mut [[f64; 4]], most: f32, step: usize) {
    let i = this_grid().thread_rank();
    if i >= out.len() || i >= x.len() {
        return;
    }
    let whole = x[i].clamp(0.0, most) as usize;
    let far = (x[i] as f64).max(0.0).min(most as f64) as u64;
    let back = (whole * step + i) as f32;
    out[i] = [whole as f64, far as f64, f64::from(back), (i * step / 3) as f64];
}

/// The corners of the cell around a point of a box, each of which is found by its own index.
#[cluster_kernel(block = 32)]
fn corners(cells: &[u32], points: &[[f32; 2]], out: &mut [u32], height: usize, width: usize) {
    let i = this_grid().thread_rank();
    if i >= out.len() || i >= points.len() {
        return;
    }
    let [y, x] = points[i];
    let y = y.max(0.0).min((height - 1) as f32) as usize;
    let x = x.max(0.0).min((width - 1) as f32) as usize;
    let (below, right) = ((y + 1).min(height - 1), (x + 1).min(width - 1));
    let at = |y: usize, x: usize| cells[y * width + x];
    out[i] = at(y, x) + at(below, x) * 10 + at(y, right) * 100 + at(below, right) * 1000 + cells[below * width + right];
}

fn boxes(device: &Device) -> Outcome {
    let points: Vec<[f32; 2]> = (0..70)
        .map(|i| match i % 10 {
            0 => [f32::NAN, f32::INFINITY],
            1 => [-3.5, 1e9],
            _ => [(i * 7 % 23) as f32 * 0.75, (i * 5 % 29) as f32 * 0.5],
        })
        .collect();
    for (height, width) in [(17, 15), (1, 1), (2, 40)] {
        let cells: Vec<u32> = (0..height * width).map(|cell: usize| cell as u32 * 3 % 101).collect();
        let (input, places) = (device.upload(&cells)?, device.upload(&points)?);
        let got = read!(device, 70, |out| corners(&input, &places, out, height, width).grid(3));
        let want = |[y, x]: [f32; 2]| {
            let (y, x) = (y.max(0.0).min((height - 1) as f32) as usize, x.max(0.0).min((width - 1) as f32) as usize);
            let (below, right) = ((y + 1).min(height - 1), (x + 1).min(width - 1));
            let at = |y: usize, x: usize| cells[y * width + x];
            at(y, x) + at(below, x) * 10 + at(y, right) * 100 + at(below, right) * 1001
        };
        equal(&got, &points.iter().copied().map(want).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn integers(device: &Device) -> Outcome {
    let loaded: Vec<u32> = (0..40).map(|i: u32| i.wrapping_mul(2_654_435_761) | 1 << 31).collect();
    let input = device.upload(&loaded)?;
    let sizes = [
        (41, 50, 60),
        (1000, 2000, 2100),
        // The last product does not fit a word, then not even the first one, then no number of its own.
        (1000, 2000, 3000),
        (70_000, 80_000, 9),
        (1 << 33, 3, (1 << 32) + 5),
        (100, (1 << 40) + 7, 1 << 35),
    ];
    for (depth, height, width) in sizes {
        let mut out = device.zeros::<[u64; 8]>(40)?;
        places(&input, &mut out, depth, height, width).grid(2).launch(device)?;
        let (deep, high) = (depth as u64, height as u64);
        let of = |i: u64| {
            let z = deep - 1 - i;
            let plane = z.wrapping_mul(high).wrapping_add(i);
            let cell = plane.wrapping_mul(width).wrapping_add(3);
            let number = u64::from(loaded[i as usize]);
            [
                cell,
                cell / deep,
                cell % high,
                plane / 7 + plane % 11,
                plane.min(width).max(z),
                high.saturating_sub(plane) + plane.saturating_sub(high),
                plane.clamp(high.min(width), high.max(width)),
                number / deep + number % deep,
            ]
        };
        equal(&out.read()?, &(0..40).map(of).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn floats(device: &Device) -> Outcome {
    let x: Vec<f32> = (0..40)
        .map(|i| match i % 8 {
            0 => f32::NAN,
            1 => -5.5,
            2 => f32::INFINITY,
            3 => 4_294_967_040.0,
            4 => 4_294_967_296.0,
            5 => 1e18,
            _ => i as f32 * 1.75,
        })
        .collect();
    let input = device.upload(&x)?;
    for (most, step) in [(100.0, 3), (4e9, 1), (4_294_967_296.0, 1), (1e17, 1 << 20), (7.0, usize::MAX / 64)] {
        let mut out = device.zeros::<[f64; 4]>(40)?;
        conversions(&input, &mut out, most, step).grid(2).launch(device)?;
        let of = |i: usize| {
            let whole = x[i].clamp(0.0, most) as u64;
            let far = f64::from(x[i]).max(0.0).min(f64::from(most)) as u64;
            let back = whole.wrapping_mul(step as u64).wrapping_add(i as u64) as f32;
            [whole as f64, far as f64, f64::from(back), ((i as u64).wrapping_mul(step as u64) / 3) as f64]
        };
        let bits = |all: Vec<[f64; 4]>| all.into_iter().flatten().map(f64::to_bits).collect::<Vec<u64>>();
        equal(&bits(out.read()?), &bits((0..40).map(of).collect()))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "words",
        checks: check_list![integers, floats, boxes],
        kernels: kernel_list![places, conversions, corners],
    }]
}
