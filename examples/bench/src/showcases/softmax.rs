//! Softmax of rows: each row belongs to a cluster, which holds it in shared memory between its two passes.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS, block_joined, joined};
use super::softmax_bulk as in_flight;
use super::softmax_registers::softmax_registers;
use super::{Before, Map, ReadPart};
use crate::case::{Case, Prepared, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{Result, compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "softmax", about: "`f32`, a row for each block or cluster", cases };

// ANCHOR: kernel
/// Softmax of rows of `C * PART` columns, one for each cluster.
#[cluster_kernel(cluster = C, block = 512, non_portable)]
fn softmax<const C: usize, const PART: usize>(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let part = shared_array::<f32, PART>();
    let of_warps = shared_array::<[f32; 2], WARPS>();
    let of_block = shared_array::<[f32; 2], 1>();
    let i = block.thread_rank();
    let start = this_grid().block_rank() * PART;
    let (input, out) = (&input[start..start + PART], &mut out[start..start + PART]);

    // Pass one: the maximum and the sum, while the row goes into shared memory.
    let mut own = (f32::NEG_INFINITY, 0.0);
    for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
        let v = input.load_vec::<4>(column);
        part.store_vec(column, v);
        let max = v[0].max(v[1]).max(v[2].max(v[3]));
        let sum = fast::exp(v[0] - max) + fast::exp(v[1] - max) + (fast::exp(v[2] - max) + fast::exp(v[3] - max));
        own = joined(own, (max, sum));
    }
    let (max, sum) = block_joined(&block, &of_warps, own);
    if i == 0 {
        of_block[0] = [max, sum];
    }
    cluster.sync();
    let mut all = (f32::NEG_INFINITY, 0.0);
    for rank in 0..C as u32 {
        let [max, sum] = cluster.map_shared_rank(&of_block, rank)[0];
        all = joined(all, (max, sum));
    }
    let read = cluster.barrier_arrive();

    // Pass two: each thread reads what it wrote itself.
    let (max, sum) = all;
    let scale = 1.0 / sum;
    for column in (i as usize * 4..PART).step_by(BLOCK * 4) {
        let mut v = part.load_vec::<4>(column);
        for k in 0..4 {
            v[k] = fast::exp(v[k] - max) * scale;
        }
        out.store_vec(column, v);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its sum
}
// ANCHOR_END: kernel

fn cases(scale: Scale) -> Vec<Case> {
    vec![
        plain(scale, 8_192, 1, softmax::<1, 8_192>),
        plain(scale, 32_768, 2, softmax::<2, 16_384>),
        plain(scale, 131_072, 8, softmax::<8, 16_384>),
        plain(scale, 262_144, 16, softmax::<16, 16_384>),
        registers(scale, 8_192, 1, softmax_registers::<1, 4>),
        registers(scale, 32_768, 2, softmax_registers::<2, 8>),
        registers(scale, 131_072, 8, softmax_registers::<8, 8>),
        registers(scale, 262_144, 16, softmax_registers::<16, 8>),
        bulk(scale, 32_768, 2, in_flight::softmax_bulk::<2, 16_384>),
        bulk(scale, 131_072, 8, in_flight::softmax_bulk::<8, 16_384>),
        bulk(scale, 262_144, 16, in_flight::softmax_bulk::<16, 16_384>),
    ]
}

type Plain = for<'a> fn(&'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a>;

fn plain(scale: Scale, columns: usize, cluster: u32, kernel: Plain) -> Case {
    let twin = Twin::new("softmax", include_str!("../../twins/softmax.cu"));
    in_one_go("plain", scale, columns, cluster, 4 * columns / cluster as usize, twin, kernel)
}

fn registers(scale: Scale, columns: usize, cluster: u32, kernel: Plain) -> Case {
    let twin = Twin::new("softmax_registers", include_str!("../../twins/softmax_registers.cu"));
    in_one_go("registers", scale, columns, cluster, 0, twin, kernel)
}

/// A kernel with a cluster for each row.
fn in_one_go(
    version: &str,
    scale: Scale,
    columns: usize,
    cluster: u32,
    shared_bytes: usize,
    twin: Twin,
    kernel: Plain,
) -> Case {
    let rows = scale.pick((1 << 28) / columns, 2);
    let grid = rows as u32 * cluster;
    let twin = twin.with("C", cluster).with("PART", columns / cluster as usize);
    case(version, rows, columns, cluster, twin, move |device| {
        let call = move |input, out| {
            let call = Call::new(grid, BLOCK, [input, out].map(Argument::Word)).cluster(cluster);
            call.shared_bytes(shared_bytes)
        };
        let ours = move |device: &Device, input: &_, out: &mut _| kernel(input, out).grid(grid).enqueue(device);
        Map::prepared(device, values(rows * columns), rows * columns, Before::Spoiled, ours, call, check(rows, columns))
    })
}

type Bulk = for<'a> fn(&'a Buffer<f32>, &'a mut Buffer<f32>, u32) -> Launch<'a>;

fn bulk(scale: Scale, columns: usize, cluster: u32, kernel: Bulk) -> Case {
    let rows = scale.pick((1 << 28) / columns, 5);
    let part = columns / cluster as usize;
    let twin = Twin::new("softmax_bulk", include_str!("../../twins/softmax_bulk.cu"));
    let twin = twin.with("C", cluster).with("PART", part);
    case("bulk copies", rows, columns, cluster, twin, move |device| {
        let (input, mut out) = (device.zeros(1)?, device.zeros(1)?);
        let resident = kernel(&input, &mut out, 1).occupancy(device)?.clusters.min(rows);
        let (grid, rows_32) = (resident as u32 * cluster, rows as u32);
        let call = move |input, out| {
            let arguments = [Argument::Word(input), Argument::Word(out), Argument::Number(rows_32)];
            let call = Call::new(grid, in_flight::BLOCK, arguments).cluster(cluster);
            call.shared_bytes(4 * part * in_flight::STAGES)
        };
        let ours =
            move |device: &Device, input: &_, out: &mut _| kernel(input, out, rows_32).grid(grid).enqueue(device);
        Map::prepared(device, values(rows * columns), rows * columns, Before::Spoiled, ours, call, check(rows, columns))
    })
}

fn case(
    version: &str,
    rows: usize,
    columns: usize,
    cluster: u32,
    twin: Twin,
    prepare: impl Fn(&Device) -> Result<Box<dyn Prepared>> + 'static,
) -> Case {
    Case {
        version: format!("{version}, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 8 * (rows * columns) as u64,
        twin,
        library: Some(json!({ "operation": "softmax", "rows": rows, "columns": columns })),
        prepare: Box::new(prepare),
    }
}

fn values(len: usize) -> Vec<f32> {
    data::random(2, len, |bits| data::real(bits) * 8.0)
}

/// Compares some of the rows.
fn check(rows: usize, columns: usize) -> impl Fn(&[f32], &ReadPart<'_, f32>) -> Result<()> {
    move |input, read| {
        for row in data::sample(rows, 8) {
            let part = row * columns..(row + 1) * columns;
            let got = read(part.clone())?;
            let want = softmax_of(&input[part]);
            let unit = 1.0 / columns as f64;
            compare::close_to(&format!("row {row}"), got.into_iter().map(f64::from), want, 2e-5, unit)?;
        }
        Ok(())
    }
}

fn softmax_of(row: &[f32]) -> Vec<f64> {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponentials: Vec<f64> = row.iter().map(|&x| (f64::from(x) - f64::from(max)).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|x| x / sum).collect()
}
