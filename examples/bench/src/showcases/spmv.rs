//! A sparse matrix in compressed rows times a vector: eight threads for each row.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::memory::Memory;
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "spmv", about: "a sparse `f32` matrix in compressed rows times a vector", cases };

const BLOCK: usize = 256;
const LANES: usize = 8;
/// Rows have from `LEAST` to `LEAST + SPREAD - 1` values.
const LEAST: u32 = 16;
const SPREAD: u32 = 33;

/// Multiplies; eight threads take a row (Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on
/// Throughput-Oriented Processors", 2009: the vector kernel).
#[cluster_kernel(block = 256)]
fn spmv(values: &[f32], columns: &[u32], starts: &[u32], x: &[f32], y: &mut [f32]) {
    let lanes = tiled_partition::<8>(&this_thread_block());
    let row = this_grid().thread_rank() / LANES;
    let mut sum = 0.0;
    for at in (starts[row] + lanes.thread_rank()..starts[row + 1]).step_by(LANES) {
        sum = values[at].mul_add(x[columns[at]], sum);
    }
    let sum = lanes.reduce(sum, op::Plus);
    if lanes.thread_rank() == 0 {
        y[row] = sum;
    }
}

fn cases(scale: Scale) -> Vec<Case> {
    let rows: usize = scale.pick(1 << 21, 1 << 8);
    let lengths = data::below(12, rows, SPREAD);
    let mut starts = vec![0];
    let mut end = 0;
    for length in lengths {
        end += LEAST + length;
        starts.push(end);
    }
    let len = end as usize;
    let grid = (rows * LANES / BLOCK) as u32;
    vec![Case {
        version: format!("{LANES} threads a row, {} values a row", LEAST + SPREAD / 2),
        size: rows as u64,
        unit: "rows",
        bytes: (8 * len + 12 * rows) as u64,
        twin: Twin::new("spmv", include_str!("../../twins/spmv.cu")),
        library: Some(json!({ "operation": "spmv", "rows": rows, "least": LEAST, "spread": SPREAD })),
        prepare: Box::new(move |device| {
            let starts = starts.clone();
            let (columns, vector) = (data::below(13, len, rows as u32), data::reals(14, rows));
            let (c, s) = (Memory::upload(device, &columns)?, Memory::upload(device, &starts)?);
            let x = Memory::upload(device, &vector)?;
            let [c_at, s_at, x_at] = [c.address(), s.address(), x.address()];
            let call = move |values, y| Call::new(grid, BLOCK, [values, c_at, s_at, x_at, y].map(Argument::Word));
            let ours = move |device: &Device, values: &_, y: &mut _| {
                spmv(values, &c.buffer, &s.buffer, &x.buffer, y).grid(grid).enqueue(device)
            };
            Map::prepared(device, data::reals(15, len), rows, Before::Spoiled, ours, call, move |values, read| {
                let want = starts.windows(2).map(|row| {
                    let part = row[0] as usize..row[1] as usize;
                    let product = |at: usize| f64::from(values[at]) * f64::from(vector[columns[at] as usize]);
                    part.map(product).sum::<f64>()
                });
                compare::close("the product", read(0..rows)?.into_iter().map(f64::from), want, 1e-5)
            })
        }),
    }]
}
