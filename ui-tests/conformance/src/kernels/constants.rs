//! Constants: arrays, nested and of structs, in constant memory; structs and enums; statics; those of other modules,
//! crates, types and traits. `literals` has scalars of every type.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

const TABLE: [f32; 8] = [0.5, -0.0, f32::INFINITY, f32::MIN_POSITIVE, 1e-45, 3.4028235e38, 0.1, -7.25];
static SQUARES: [u64; 64] = squares();
const NESTED: [[i16; 3]; 2] = [[1, -2, 3], [i16::MIN, 0, i16::MAX]];
const WIDE: [i128; 2] = [i128::MIN, 1 << 100];
const SAME: [f32; 8] = TABLE;
const FLAGS: [bool; 3] = [true, false, true];
static ORIGIN: Point = Point { x: 0.25, y: -1.5, kind: Kind::Far };
const POINTS: [Point; 2] = [ORIGIN_COPY, Point { x: f32::NAN, y: 3.0, kind: Kind::Near }];
const ORIGIN_COPY: Point = Point { x: 0.25, y: -1.5, kind: Kind::Far };
const FILTER: Filter = Filter { weights: [[1.0, 2.0], [3.0, 4.0]], scale: 0.5, kinds: [Kind::Near, Kind::Far] };

const fn squares() -> [u64; 64] {
    let (mut all, mut i) = ([0; 64], 0);
    while i < 64 {
        all[i] = (i * i) as u64 + 5_000_000_000;
        i += 1;
    }
    all
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(i32)]
enum Kind {
    Near,
    Far = -3,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    kind: Kind,
}

impl Point {
    const UNIT: Point = Point { x: 1.0, y: 1.0, kind: Kind::Near };
    const STEPS: [u32; 4] = [1, 10, 100, 1000];
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Filter {
    weights: [[f32; 2]; 2],
    scale: f32,
    kinds: [Kind; 2],
}

mod elsewhere {
    pub(super) static TABLE: [u8; 3] = [7, 8, 255];
}

trait Weights {
    const WEIGHTS: [f32; 2];
}

impl Weights for f32 {
    const WEIGHTS: [f32; 2] = [0.5, 0.25];
}

impl Weights for u32 {
    const WEIGHTS: [f32; 2] = [4.0, 8.0];
}

#[cluster_kernel(block = 8)]
fn tables(floats: &mut [f32], numbers: &mut [u64], wide: &mut [i128]) {
    const LOCAL: [u32; 3] = [3, 5, 7];
    let i = this_thread_block().thread_rank();
    floats[i] = TABLE[i] + SAME[7 - i] * 0.0;
    floats[8 + i] = FILTER.weights[i % 2][i / 2 % 2] * FILTER.scale;
    let mut copy = TABLE;
    copy[i] = 9.0;
    floats[16 + i] = copy[(i + 1) % 8];
    numbers[i] = SQUARES[i * 8] + NESTED[i % 2][i % 3] as u64;
    numbers[8 + i] = elsewhere::TABLE[i % 3] as u64 + LOCAL[i % 3] as u64 + Point::STEPS[i % 4] as u64;
    if FLAGS[i % 3] && FILTER.kinds[i % 2] == Kind::Far {
        numbers[8 + i] += TABLE.len() as u64;
    }
    wide[i] = WIDE[i % 2];
}

fn arrays(device: &Device) -> Outcome {
    let (mut numbers, mut wide) = (device.zeros(16)?, device.zeros(8)?);
    let floats = read!(device, 24, |floats| tables(floats, &mut numbers, &mut wide).grid(1));
    let mut want: Vec<f32> = (0..8).map(|i| TABLE[i] + SAME[7 - i] * 0.0).collect();
    want.extend((0..8).map(|i| FILTER.weights[i % 2][i / 2 % 2] * 0.5));
    want.extend((0..8).map(|i| TABLE[(i + 1) % 8]));
    crate::same(&floats, &want, |i| i.to_string())?;
    let mut want: Vec<u64> = (0..8).map(|i| SQUARES[i * 8].wrapping_add(NESTED[i % 2][i % 3] as u64)).collect();
    want.extend((0..8).map(|i| {
        let more = if i % 3 != 1 && i % 2 == 1 { 8 } else { 0 };
        u64::from(elsewhere::TABLE[i % 3]) + [3, 5, 7][i % 3] + [1, 10, 100, 1000][i % 4] + more
    }));
    equal(&numbers.read()?, &want)?;
    equal(&wide.read()?, &(0..8).map(|i| WIDE[i % 2]).collect::<Vec<_>>())
}

#[device]
fn looked_up(table: [f32; 8], i: u32) -> f32 {
    table[i]
}

#[cluster_kernel(block = 2)]
fn values(out: &mut [Point], floats: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    out[i] = ORIGIN;
    out[i].y += Point::UNIT.y;
    out[2 + i] = POINTS[i];
    out[4 + i] = Point { x: 2.0, ..Point::UNIT };
    out[4 + i].kind = if i == 0 { Kind::Far } else { Point::UNIT.kind };
    floats[i] = looked_up(TABLE, 6 + i) + std::f32::consts::PI;
    floats[2 + i] = (Kind::Far as i32) as f32;
}

fn structs(device: &Device) -> Outcome {
    let mut out = device.zeros(6)?;
    let floats = read!(device, 4, |floats| values(&mut out, floats).grid(1));
    let pi = std::f32::consts::PI;
    crate::same(&floats, &[0.1 + pi, -7.25 + pi, -3.0, -3.0], |i| i.to_string())?;
    let out = out.read()?;
    let moved = Point { y: -0.5, ..ORIGIN };
    equal(&out[..3], &[moved, moved, ORIGIN])?;
    equal(&[out[3].x.is_nan()], &[true])?;
    let unit = Point { x: 2.0, y: 1.0, kind: Kind::Near };
    equal(&out[4..], &[Point { kind: Kind::Far, ..unit }, unit])
}

#[cluster_kernel(block = 2)]
fn weighted<T: Weights + Number>(input: &[T], out: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    out[i] = T::WEIGHTS[i];
    if input[i] > input[0] {
        out[i] += <u32 as Weights>::WEIGHTS[0];
    }
}

fn of_traits(device: &Device) -> Outcome {
    let input = device.upload(&[1.0f32, 2.0])?;
    equal(&read!(device, 2, |out| weighted(&input, out).grid(1)), &[0.5, 4.25])?;
    let input = device.upload(&[3u32, 3])?;
    equal(&read!(device, 2, |out| weighted(&input, out).grid(1)), &[4.0, 8.0])
}

/// A constant larger than constant memory.
static LARGE: [u32; 20_000] = [7; 20_000];

#[cluster_kernel(block = 2)]
fn from_large(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    out[i] = LARGE[i * 19_999] + Point::STEPS[i];
}

fn beyond_constant_memory(device: &Device) -> Outcome {
    equal(&read!(device, 2, |out| from_large(out).grid(1)), &[8, 17])
}

/// Reads at an index that is not below a constant's length.
#[cluster_kernel(block = 1)]
fn outside(out: &mut [u32], i: u32) {
    out[0] = Point::STEPS[i];
}

fn bounds(device: &Device) -> Outcome {
    let mut out = device.zeros(1)?;
    let failure = crate::failure(outside(&mut out, 4).grid(1).launch(device))?;
    equal(&[failure.cause.to_string()], &["index 4 out of bounds for length 4".to_string()])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "constants",
        checks: check_list![arrays, structs, of_traits, beyond_constant_memory, bounds],
        kernels: kernel_list![tables, values, weighted<f32>, weighted<u32>, from_large, outside],
    }]
}
