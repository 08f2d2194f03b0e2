//! RMS norm of rows of `f32` and `bf16`: each row belongs to a cluster, which holds it in shared memory between its two
//! passes.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS, block_sum};
use super::rms_norm_bulk as in_flight;
use super::{Before, Map, ReadPart};
use crate::case::{Case, Prepared, Scale, Showcase};
use crate::memory::Memory;
use crate::twin::{Argument, Call, Twin};
use crate::{Result, compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "rms_norm", about: "`f32` and `bf16`, a row for each block or cluster", cases };

const EPSILON: f32 = 1e-6;

/// A float that is stored in memory, and computed with in `f32`.
#[device]
pub(super) trait Stored: Number {
    /// The size of a value.
    const BYTES: u32;

    /// Returns the value as an `f32`.
    fn wide(self) -> f32;

    /// Rounds to this type.
    fn narrow(x: f32) -> Self;
}

#[device]
impl Stored for f32 {
    const BYTES: u32 = 4;

    fn wide(self) -> f32 {
        self
    }

    fn narrow(x: f32) -> f32 {
        x
    }
}

#[device]
impl Stored for bf16 {
    const BYTES: u32 = 2;

    fn wide(self) -> f32 {
        self.to_f32()
    }

    fn narrow(x: f32) -> bf16 {
        bf16::from_f32(x)
    }
}

/// RMS norm of rows of `C * PART` columns, one for each cluster, by vectors of `LANES` values.
#[cluster_kernel(cluster = C, block = 512, non_portable)]
fn rms_norm<T: Stored + VectorElement<LANES>, const LANES: usize, const C: usize, const PART: usize>(
    input: &[T],
    weight: &[T],
    out: &mut [T],
) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let part = shared_array::<T, PART>();
    let of_warps = shared_array::<f32, WARPS>();
    let of_block = shared_array::<f32, 1>();
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let first = cluster.block_rank() as usize * PART;

    let mut own = 0.0;
    for column in (i * LANES..PART).step_by(BLOCK * LANES) {
        let v = input.load_vec::<LANES>(start + column);
        part.store_vec(column, v);
        for k in 0..LANES {
            let x = v[k].wide();
            own = x.mul_add(x, own);
        }
    }
    let sum = block_sum(&block, &of_warps, own);
    if i == 0 {
        of_block[0] = sum;
    }
    cluster.sync();
    let mut squares = 0.0;
    for rank in 0..C as u32 {
        squares += cluster.map_shared_rank(&of_block, rank)[0];
    }
    let read = cluster.barrier_arrive();
    let scale = fast::rsqrt(squares / (C * PART) as f32 + EPSILON);
    #[unroll(4)]
    for column in (i * LANES..PART).step_by(BLOCK * LANES) {
        let mut v = part.load_vec::<LANES>(column);
        let w = weight.load_vec::<LANES>(first + column);
        for k in 0..LANES {
            v[k] = T::narrow(v[k].wide() * scale * w[k].wide());
        }
        out.store_vec(start + column, v);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sum
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        plain("f32", scale, 8_192, 1, rms_norm::<f32, 4, 1, 8_192>),
        plain("f32", scale, 65_536, 4, rms_norm::<f32, 4, 4, 16_384>),
        plain("f32", scale, 262_144, 16, rms_norm::<f32, 4, 16, 16_384>),
        plain("bf16", scale, 8_192, 1, rms_norm::<bf16, 8, 1, 8_192>),
        plain("bf16", scale, 65_536, 2, rms_norm::<bf16, 8, 2, 32_768>),
        plain("bf16", scale, 262_144, 8, rms_norm::<bf16, 8, 8, 32_768>),
        bulk("f32", scale, 65_536, 4, in_flight::rms_norm_bulk::<f32, 4, 4, 16_384>),
        bulk("f32", scale, 262_144, 16, in_flight::rms_norm_bulk::<f32, 4, 16, 16_384>),
        bulk("bf16", scale, 65_536, 2, in_flight::rms_norm_bulk::<bf16, 8, 2, 32_768>),
        bulk("bf16", scale, 262_144, 8, in_flight::rms_norm_bulk::<bf16, 8, 8, 32_768>),
    ]
}

type Plain<T> = for<'a> fn(&'a Buffer<T>, &'a Buffer<T>, &'a mut Buffer<T>) -> Launch<'a>;

fn plain<T: Real>(ty: &'static str, scale: Scale, columns: usize, cluster: u32, kernel: Plain<T>) -> Case {
    let rows = scale.pick((1 << 30) / size_of::<T>() / columns, 2);
    let part = columns / cluster as usize;
    let grid = rows as u32 * cluster;
    let entry = if ty == "f32" { "rms_norm" } else { "rms_norm_bf16" };
    let twin = Twin::new(entry, include_str!("../../twins/rms_norm.cu")).with("C", cluster).with("PART", part);
    case::<T>("plain", ty, rows, columns, cluster, twin, move |device| {
        let weights = weights::<T>(columns);
        let weight = Memory::upload(device, &weights)?;
        let weight_address = weight.address();
        let call = move |input, out| {
            let call = Call::new(grid, BLOCK, [input, weight_address, out].map(Argument::Word)).cluster(cluster);
            call.shared_bytes(size_of::<T>() * part)
        };
        let ours = move |device: &Device, input: &_, out: &mut _| {
            kernel(input, &weight.buffer, out).grid(grid).enqueue(device)
        };
        let (values, len) = (values::<T>(rows * columns), rows * columns);
        Map::prepared(device, values, len, Before::Spoiled, ours, call, check(rows, weights))
    })
}

type Bulk<T> = for<'a> fn(&'a Buffer<T>, &'a Buffer<T>, &'a mut Buffer<T>, u32, f32) -> Launch<'a>;

fn bulk<T: Real>(ty: &'static str, scale: Scale, columns: usize, cluster: u32, kernel: Bulk<T>) -> Case {
    let rows = scale.pick((1 << 30) / size_of::<T>() / columns, 5);
    let part = columns / cluster as usize;
    let entry = if ty == "f32" { "rms_norm_bulk" } else { "rms_norm_bulk_bf16" };
    let twin = Twin::new(entry, include_str!("../../twins/rms_norm_bulk.cu"));
    let twin = twin.with("C", cluster).with("PART", part);
    case::<T>("bulk copies", ty, rows, columns, cluster, twin, move |device| {
        let (input, mut out) = (device.zeros(1)?, device.zeros(1)?);
        let resident = kernel(&input, &input, &mut out, 1, EPSILON).occupancy(device)?.clusters.min(rows);
        let (grid, rows_32) = (resident as u32 * cluster, rows as u32);
        let weights = weights::<T>(columns);
        let weight = Memory::upload(device, &weights)?;
        let weight_address = weight.address();
        let call = move |input, out| {
            let pointers = [input, weight_address, out].map(Argument::Word);
            let arguments = [&pointers[..], &[Argument::Number(rows_32), Argument::Real(EPSILON)]].concat();
            let call = Call::new(grid, in_flight::BLOCK, arguments).cluster(cluster);
            call.shared_bytes(size_of::<T>() * part * in_flight::STAGES)
        };
        let ours = move |device: &Device, input: &_, out: &mut _| {
            kernel(input, &weight.buffer, out, rows_32, EPSILON).grid(grid).enqueue(device)
        };
        let (values, len) = (values::<T>(rows * columns), rows * columns);
        Map::prepared(device, values, len, Before::Spoiled, ours, call, check(rows, weights))
    })
}

fn case<T>(
    version: &str,
    ty: &'static str,
    rows: usize,
    columns: usize,
    cluster: u32,
    twin: Twin,
    prepare: impl Fn(&Device) -> Result<Box<dyn Prepared>> + 'static,
) -> Case {
    Case {
        version: format!("{ty} {version}, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 2 * (rows * columns * size_of::<T>()) as u64,
        twin,
        library: Some(json!({ "operation": "rms_norm", "type": ty, "rows": rows, "columns": columns })),
        prepare: Box::new(prepare),
    }
}

fn weights<T: Real>(columns: usize) -> Vec<T> {
    data::random(4, columns, |bits| T::of(data::real(bits)))
}

fn values<T: Real>(len: usize) -> Vec<T> {
    data::random(3, len, |bits| T::of(data::real(bits) * 4.0))
}

/// Compares some of the rows.
fn check<T: Real>(rows: usize, weights: Vec<T>) -> impl Fn(&[T], &ReadPart<'_, T>) -> Result<()> {
    move |input, read| {
        for row in data::sample(rows, 8) {
            let part = row * weights.len()..(row + 1) * weights.len();
            let got = read(part.clone())?;
            let want = norm_of(&input[part], &weights);
            compare::close(&format!("row {row}"), got.into_iter().map(Into::into), want, T::BOUND)?;
        }
        Ok(())
    }
}

/// A type of floats that the kernel is written for.
trait Real: DeviceCopy + Default + Copy + Into<f64> + Send + 'static {
    /// The largest error of a result, relative to results larger than one.
    const BOUND: f64;

    fn of(x: f32) -> Self;
}

impl Real for f32 {
    const BOUND: f64 = 1e-5;

    fn of(x: f32) -> Self {
        x
    }
}

impl Real for bf16 {
    const BOUND: f64 = 5e-3;

    fn of(x: f32) -> Self {
        bf16::from_f32(x)
    }
}

fn norm_of<T: Copy + Into<f64>>(row: &[T], weights: &[T]) -> Vec<f64> {
    let squares: f64 = row.iter().map(|&x| x.into() * x.into()).sum();
    let scale = 1.0 / (squares / row.len() as f64 + f64::from(EPSILON)).sqrt();
    row.iter().zip(weights).map(|(&x, &weight)| x.into() * scale * weight.into()).collect()
}
