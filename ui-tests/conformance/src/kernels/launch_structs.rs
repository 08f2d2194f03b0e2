//! Accesses that the host checks before a launch (`launch_checks`), whose indexes come from structs and tuples that the program makes, gives to functions
//! and gets from them. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, failure, find, kernel_list};

const SOURCE: &str = include_str!("launch_structs.rs");

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Sides {
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Volume {
    of_layer: Sides,
    layers: usize,
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Cell {
    x: usize,
    y: usize,
    z: usize,
}

#[device]
impl Volume {
    fn len(&self) -> usize {
        self.of_layer.width * self.of_layer.height * self.layers
    }

    fn cell(&self, number: usize) -> Cell {
        let Sides { width, height } = self.of_layer;
        Cell { x: number % width, y: number / width % height, z: number / (width * height) % self.layers }
    }

    /// The number of the cell behind another one in a direction, round to the first one.
    fn behind(&self, cell: Cell, by: (usize, usize, usize)) -> usize {
        let (dx, dy, dz) = by;
        let next = Cell {
            x: (cell.x + dx) % self.of_layer.width,
            y: (cell.y + dy) % self.of_layer.height,
            z: (cell.z + dz) % self.layers,
        };
        number_of(self, (next.x, next.y, next.z))
    }
}

#[device]
fn number_of(volume: &Volume, at: (usize, usize, usize)) -> usize {
    let (x, y, z) = at;
    (z * volume.of_layer.height + y) * volume.of_layer.width + x
}

#[device]
fn volume(width: usize, height: usize, layers: usize) -> Volume {
    Volume { of_layer: Sides { width, height }, layers }
}

/// Adds to each cell those behind it.
#[cluster_kernel(block = 64)]
fn smeared(x: &[u32], out: &mut [u32], width: usize, height: usize, layers: usize) {
    let volume = volume(width, height, layers);
    let i = this_grid().thread_rank();
    if i < volume.len() {
        let cell = volume.cell(i);
        let mut sum = 0u32;
        for at in [volume.behind(cell, (1, 0, 0)), volume.behind(cell, (0, 1, 0)), volume.behind(cell, (0, 0, 1))] {
            sum = sum.wrapping_mul(3) + /* smeared */ x[at];
        }
        out[i] = sum;
    }
}

/// The middle of a span, and how many elements it has, from both of its ends.
#[device]
fn middle(ends: (usize, usize)) -> (usize, usize) {
    let length = ends.1 - ends.0;
    (ends.0 + length / 2, length)
}

#[cluster_kernel(block = 32)]
fn middles(x: &[u32], out: &mut [u32], step: usize) {
    let i = this_grid().thread_rank();
    if i < out.len() {
        let span = (i * step, (i + 1) * step);
        let (at, length) = middle(span);
        out[i] = /* middles */ x[at] + length as u32;
    }
}

fn fails_at(failed: phalanx::Result<()>, kernel: &str) -> Outcome {
    let failed = failure(failed)?;
    match failed.location == Some(find(file!(), SOURCE, kernel)) {
        true => Ok(()),
        false => Err(failed.to_string().into()),
    }
}

fn volumes(device: &Device) -> Outcome {
    let (width, height, layers) = (7, 5, 4);
    let x: Vec<u32> = (0..140).map(|i| i * i % 97).collect();
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(140)?);
    smeared(&input, &mut out, width, height, layers).grid(3).launch(device)?;
    let of = |i: usize| {
        let (column, row, layer) = (i % width, i / width % height, i / (width * height));
        let number = |x: usize, y: usize, z: usize| ((z % layers) * height + y % height) * width + x % width;
        let near = [number(column + 1, row, layer), number(column, row + 1, layer), number(column, row, layer + 1)];
        near.into_iter().fold(0u32, |sum, at| sum.wrapping_mul(3) + x[at])
    };
    equal(&out.read()?, &(0..140).map(of).collect::<Vec<u32>>())?;
    let short = device.upload(&x[..139])?;
    fails_at(smeared(&short, &mut out, width, height, layers).grid(3).launch(device), "smeared")
}

fn tuples(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..100).map(|i| 3 * i + 1).collect();
    let (input, mut out) = (device.upload(&x)?, device.zeros::<u32>(20)?);
    middles(&input, &mut out, 5).grid(1).launch(device)?;
    equal(&out.read()?, &(0..20).map(|i| x[i * 5 + 2] + 5).collect::<Vec<u32>>())?;
    fails_at(middles(&input, &mut out, 6).grid(1).launch(device), "middles")
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "launch_structs",
        checks: check_list![volumes, tuples],
        kernels: kernel_list![smeared, middles],
    }]
}
