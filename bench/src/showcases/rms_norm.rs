//! RMS norm of rows of `f32` and `bf16`: each row belongs to a cluster, which holds it in shared memory between its two
//! passes.

use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS, block_sum};
use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::memory::Memory;
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "rms_norm", about: "`f32` and `bf16`, a row for each block or cluster", cases };

const EPSILON: f32 = 1e-6;

/// RMS norm of rows of `C * PART` columns, one for each cluster.
#[cluster_kernel(cluster = C, block = 512, non_portable)]
fn rms_norm<const C: usize, const PART: usize>(input: &[f32], weight: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let part = shared_array::<f32, PART>();
    let of_warps = shared_array::<f32, WARPS>();
    let of_block = shared_array::<f32, 1>();
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let first = cluster.block_rank() as usize * PART;

    let mut own = 0.0;
    for column in (i * 4..PART).step_by(BLOCK * 4) {
        let v = input.load_vec::<4>(start + column);
        part.store_vec(column, v);
        for k in 0..4 {
            own = v[k].mul_add(v[k], own);
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
    for column in (i * 4..PART).step_by(BLOCK * 4) {
        let mut v = part.load_vec::<4>(column);
        let w = weight.load_vec::<4>(first + column);
        for k in 0..4 {
            v[k] = v[k] * scale * w[k];
        }
        out.store_vec(start + column, v);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sum
}

/// The same of `bf16`, computed in `f32`.
#[cluster_kernel(cluster = C, block = 512, non_portable)]
fn rms_norm_bf16<const C: usize, const PART: usize>(input: &[bf16], weight: &[bf16], out: &mut [bf16]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let part = shared_array::<bf16, PART>();
    let of_warps = shared_array::<f32, WARPS>();
    let of_block = shared_array::<f32, 1>();
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let first = cluster.block_rank() as usize * PART;

    let mut own = 0.0;
    for column in (i * 8..PART).step_by(BLOCK * 8) {
        let v = input.load_vec::<8>(start + column);
        part.store_vec(column, v);
        for k in 0..8 {
            let x = v[k].to_f32();
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
    for column in (i * 8..PART).step_by(BLOCK * 8) {
        let mut v = part.load_vec::<8>(column);
        let w = weight.load_vec::<8>(first + column);
        for k in 0..8 {
            v[k] = bf16::from_f32(v[k].to_f32() * scale * w[k].to_f32());
        }
        out.store_vec(start + column, v);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sum
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        case("f32", 1e-5, scale, 8_192, 1, rms_norm::<1, 8_192>),
        case("f32", 1e-5, scale, 65_536, 4, rms_norm::<4, 16_384>),
        case("f32", 1e-5, scale, 262_144, 16, rms_norm::<16, 16_384>),
        case("bf16", 5e-3, scale, 8_192, 1, rms_norm_bf16::<1, 8_192>),
        case("bf16", 5e-3, scale, 65_536, 2, rms_norm_bf16::<2, 32_768>),
        case("bf16", 5e-3, scale, 262_144, 8, rms_norm_bf16::<8, 32_768>),
    ]
}

type Kernel<T> = for<'a> fn(&'a Buffer<T>, &'a Buffer<T>, &'a mut Buffer<T>) -> phalanx::Launch<'a>;

fn case<T>(ty: &'static str, bound: f64, scale: Scale, columns: usize, cluster: u32, kernel: Kernel<T>) -> Case
where
    T: DeviceCopy + Default + Copy + Into<f64> + Real + Send,
{
    let rows = scale.pick((1 << 30) / size_of::<T>() / columns, 2);
    let part = columns / cluster as usize;
    let (len, grid) = (rows * columns, rows as u32 * cluster);
    let entry = if ty == "f32" { "rms_norm" } else { "rms_norm_bf16" };
    let twin = Twin::new(entry, include_str!("../../twins/rms_norm.cu"));
    Case {
        version: format!("{ty}, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 2 * (len * size_of::<T>()) as u64,
        twin: twin.with("C", cluster).with("PART", part as u32),
        library: Some(json!({ "operation": "rms_norm", "type": ty, "rows": rows, "columns": columns })),
        prepare: Box::new(move |device| {
            let weights = data::random(4, columns, |bits| T::of(data::real(bits)));
            let weight = Memory::upload(device, &weights)?;
            let weight_address = weight.address();
            Map::prepared(
                device,
                data::random(3, len, |bits| T::of(data::real(bits) * 4.0)),
                len,
                Before::Spoiled,
                move |device, input, out| kernel(input, &weight.buffer, out).grid(grid).enqueue(device),
                move |input, out| Call {
                    grid,
                    block: BLOCK as u32,
                    cluster,
                    shared_bytes: (size_of::<T>() * part) as u32,
                    arguments: [input, weight_address, out].map(Argument::Word).into(),
                },
                move |input, read| {
                    for row in data::sample(rows, 8) {
                        let part = row * columns..(row + 1) * columns;
                        let got = read(part.clone())?;
                        let want = norm_of(&input[part], &weights);
                        compare::close(&format!("row {row}"), got.into_iter().map(Into::into), want, bound)?;
                    }
                    Ok(())
                },
            )
        }),
    }
}

/// A type of floats that the kernel is written for.
trait Real {
    fn of(x: f32) -> Self;
}

impl Real for f32 {
    fn of(x: f32) -> Self {
        x
    }
}

impl Real for bf16 {
    fn of(x: f32) -> Self {
        bf16::from_f32(x)
    }
}

fn norm_of<T: Copy + Into<f64>>(row: &[T], weights: &[T]) -> Vec<f64> {
    let squares: f64 = row.iter().map(|&x| x.into() * x.into()).sum();
    let scale = 1.0 / (squares / row.len() as f64 + f64::from(EPSILON)).sqrt();
    row.iter().zip(weights).map(|(&x, &weight)| x.into() * scale * weight.into()).collect()
}
