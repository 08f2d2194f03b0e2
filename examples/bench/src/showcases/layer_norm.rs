//! Layer norm of rows of `f32`: each row belongs to a cluster, which holds it in shared memory between its two passes.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS};
use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::memory::Memory;
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "layer_norm", about: "`f32`, a row for each block or cluster", cases };

const EPSILON: f32 = 1e-5;

/// Adds two pairs of a sum and a sum of squares.
#[device]
fn added(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    (a.0 + b.0, a.1 + b.1)
}

/// Layer norm of rows of `C * PART` columns, one for each cluster. Three blocks fit an SM's shared memory, and so must their
/// registers.
#[cluster_kernel(cluster = C, block = 512, min_blocks = 3, non_portable)]
fn layer_norm<const C: usize, const PART: usize>(input: &[f32], weight: &[f32], bias: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let part = shared_array::<f32, PART>();
    let of_warps = shared_array::<[f32; 2], WARPS>();
    let of_block = shared_array::<[f32; 2], 1>();
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let first = cluster.block_rank() as usize * PART;
    let (input, out) = (&input[start..start + PART], &mut out[start..start + PART]);
    let (weight, bias) = (&weight[first..first + PART], &bias[first..first + PART]);

    let (mut sum, mut squares) = (0.0, 0.0);
    #[unroll(4)]
    for column in (i * 4..PART).step_by(BLOCK * 4) {
        let v = input.load_vec::<4>(column);
        part.store_vec(column, v);
        for k in 0..4 {
            sum += v[k];
            squares = v[k].mul_add(v[k], squares);
        }
    }
    let (sum, squares) = warp.reduce((sum, squares), |a, b| added(a, b));
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = [sum, squares];
    }
    block.sync();
    let warps = tiled_partition::<16>(&block); // as many threads as the block has warps
    let [sum, squares] = of_warps[warps.thread_rank()];
    let (sum, squares) = warps.reduce((sum, squares), |a, b| added(a, b));
    if i == 0 {
        of_block[0] = [sum, squares];
    }
    cluster.sync();
    let mut all = (0.0, 0.0);
    for rank in 0..C as u32 {
        let [sum, squares] = cluster.map_shared_rank(&of_block, rank)[0];
        all = added(all, (sum, squares));
    }
    let read = cluster.barrier_arrive();

    let (sum, squares) = all;
    let columns = (C * PART) as f32;
    let mean = sum / columns;
    let scale = fast::rsqrt(squares / columns - mean * mean + EPSILON);
    #[unroll(2)]
    for column in (i * 4..PART).step_by(BLOCK * 4) {
        let mut v = part.load_vec::<4>(column);
        let w = weight.load_vec::<4>(column);
        let b = bias.load_vec::<4>(column);
        for k in 0..4 {
            v[k] = ((v[k] - mean) * scale).mul_add(w[k], b[k]);
        }
        out.store_vec(column, v);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sums
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        case(scale, 8_192, 1, layer_norm::<1, 8_192>),
        case(scale, 65_536, 4, layer_norm::<4, 16_384>),
        case(scale, 262_144, 16, layer_norm::<16, 16_384>),
    ]
}

type Kernel = for<'a> fn(&'a Buffer<f32>, &'a Buffer<f32>, &'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a>;

fn case(scale: Scale, columns: usize, cluster: u32, kernel: Kernel) -> Case {
    let rows = scale.pick((1 << 28) / columns, 2);
    let part = columns / cluster as usize;
    let grid = rows as u32 * cluster;
    let twin = Twin::new("layer_norm", include_str!("../../twins/layer_norm.cu"));
    Case {
        version: format!("plain, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 8 * (rows * columns) as u64,
        twin: twin.with("C", cluster).with("PART", part),
        library: Some(json!({ "operation": "layer_norm", "rows": rows, "columns": columns })),
        prepare: Box::new(move |device| {
            let (weights, biases) = (data::reals(4, columns), data::reals(5, columns));
            let (weight, bias) = (Memory::upload(device, &weights)?, Memory::upload(device, &biases)?);
            let (weight_address, bias_address) = (weight.address(), bias.address());
            let call = move |input, out| {
                let arguments = [input, weight_address, bias_address, out].map(Argument::Word);
                Call::new(grid, BLOCK, arguments).cluster(cluster).shared_bytes(4 * part)
            };
            let ours = move |device: &Device, input: &_, out: &mut _| {
                kernel(input, &weight.buffer, &bias.buffer, out).grid(grid).enqueue(device)
            };
            let values = data::random(6, rows * columns, |bits| data::real(bits) * 4.0 + 0.5);
            Map::prepared(device, values, rows * columns, Before::Spoiled, ours, call, move |input, read| {
                for row in data::sample(rows, 8) {
                    let part = row * columns..(row + 1) * columns;
                    let got = read(part.clone())?;
                    let want = norm_of(&input[part], &weights, &biases);
                    compare::close(&format!("row {row}"), got.into_iter().map(f64::from), want, 1e-5)?;
                }
                Ok(())
            })
        }),
    }
}

fn norm_of(row: &[f32], weights: &[f32], biases: &[f32]) -> Vec<f64> {
    let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / row.len() as f64;
    let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / row.len() as f64;
    let scale = 1.0 / (variance + f64::from(EPSILON)).sqrt();
    let scaled = row.iter().map(|&x| (f64::from(x) - mean) * scale);
    scaled.zip(weights).zip(biases).map(|((x, &weight), &bias)| x * f64::from(weight) + f64::from(bias)).collect()
}
