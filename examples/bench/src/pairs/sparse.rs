//! Indexes that come from memory: gathers, scatters by atomics, sparse matrices.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "sparse", about: "gathers and scatters, with indexes from memory", cases };

/// Adds the gradients of rows to the rows of a table that they belong to.
#[cluster_kernel(block = 256)]
fn scatter(gradients: &[f32], ids: &[u32], table: &mut [f32], width: u32) {
    let grid = this_grid();
    for i in (grid.thread_rank()..gradients.len()).step_by(grid.num_threads()) {
        let (row, column) = (i as u32 / width, i as u32 % width);
        table.atomic(ids[row] * width + column).fetch_add(gradients[i], Relaxed);
    }
}

/// The sum of the products of a sparse matrix in coordinates and a vector, by atomics.
#[cluster_kernel(block = 256)]
fn coordinates(values: &[f32], rows: &[u32], columns: &[u32], x: &[f32], y: &mut [f32]) {
    let i = this_grid().thread_rank();
    if i < values.len() {
        y.atomic(rows[i]).fetch_add(values[i] * x[columns[i]], Relaxed);
    }
}

/// The mean of the rows of a table that a bag names; a block takes a bag, a thread four columns.
#[cluster_kernel(block = 64)]
fn bags(table: &[f32], offsets: &[u32], ids: &[u32], out: &mut [f32]) {
    let block = this_thread_block();
    let bag = this_grid().block_rank();
    let column = block.thread_rank() as usize * 4;
    let (start, end) = (offsets[bag], offsets[bag + 1]);
    let mut sums = Vector::<f32, 4>::splat(0.0);
    for at in start..end {
        let row = table.load_vec::<4>(ids[at] as usize * 256 + column);
        for k in 0..4 {
            sums[k] += row[k];
        }
    }
    let count = (end - start).max(1) as f32;
    for k in 0..4 {
        sums[k] /= count;
    }
    out.store_vec(bag * 256 + column, sums);
}

/// A sparse matrix whose rows have as many places, column by column (ELLPACK), times a vector: a thread for each row.
#[cluster_kernel(block = 256)]
fn ellpack(values: &[f32], columns: &[i32], x: &[f32], y: &mut [f32], rows: u32, places: u32) {
    let row = this_grid().thread_rank() as u32;
    if row < rows {
        let mut sum = 0.0;
        for place in 0..places {
            let column = columns[place * rows + row];
            if column >= 0 {
                sum = values[place * rows + row].mul_add(x[column as usize], sum);
            }
        }
        y[row] = sum;
    }
}

/// The best label among the neighbours of each vertex: one step of label propagation on a graph.
#[cluster_kernel(block = 256)]
fn labels(before: &[u32], starts: &[u32], neighbours: &[u32], after: &mut [u32]) {
    let vertex = this_grid().thread_rank();
    if vertex + 1 < starts.len() {
        let mut least = before[vertex];
        for edge in starts[vertex]..starts[vertex + 1] {
            least = least.min(before[neighbours[edge]]);
        }
        after[vertex] = least;
    }
}

/// Permutes rows: `out[i]` is the row `order[i]`.
#[cluster_kernel(block = 256)]
fn permuted(input: &[f32], order: &[u32], out: &mut [f32], width: u32) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().thread_rank() as u32 / 32;
    let from = order[row] * width;
    for column in (warp.thread_rank()..width).step_by(32) {
        out[row * width + column] = input[from + column];
    }
}

const TWINS: &str = include_str!("../../twins/sparse.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let rows: usize = scale.pick(1 << 18, 1 << 6);
    let width = 256;
    let len = rows * width;
    let (vertices, edges): (usize, usize) = scale.pick((1 << 21, 1 << 25), (256, 2048));
    let places = 16;
    let pair = |entry, size, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let ids = move |seed| data::below(seed, rows, rows as u32);
    // Each vertex has from 0 to 31 edges, 16 in the mean.
    let starts = move || {
        let mut end = 0;
        let lengths = data::below(61, vertices, 2 * (edges / vertices) as u32);
        std::iter::once(0)
            .chain(lengths.into_iter().map(|length| {
                end += length;
                end
            }))
            .collect::<Vec<u32>>()
    };
    vec![
        pair("scatter", rows, "rows", scale.pick(132 * 8, 4), 256).bytes(12 * len).adds().case(
            move || data::reals(60, len),
            len,
            move |device| {
                let ids = Memory::upload(device, &ids(62))?;
                let twin =
                    vec![Argument::Word(ids.address()), Argument::Word(len as u64), Argument::Number(width as u32)];
                launch(twin, move |device, input, out| {
                    scatter(input, &ids.buffer, out, width as u32).grid(scale.pick(132 * 8, 4)).enqueue(device)
                })
            },
        ),
        pair("coordinates", edges, "values", edges / 256, 256).bytes(12 * edges).adds().case(
            move || data::reals(63, edges),
            vertices,
            move |device| {
                let of = |seed| Memory::upload(device, &data::below(seed, edges, vertices as u32));
                let (r, c, x) = (of(64)?, of(65)?, Memory::upload(device, &data::reals(66, vertices))?);
                let words = [r.address(), c.address(), x.address(), edges as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    let grid = (edges / 256) as u32;
                    coordinates(input, &r.buffer, &c.buffer, &x.buffer, out).grid(grid).enqueue(device)
                })
            },
        ),
        pair("bags", rows, "rows", rows / 16, 64).bytes(4 * len).case(
            move || data::reals(67, len),
            rows / 16 * width,
            move |device| {
                let offsets: Vec<u32> = (0..=rows as u32 / 16).map(|bag| bag * 16).collect();
                let (o, ids) = (Memory::upload(device, &offsets)?, Memory::upload(device, &ids(68))?);
                let words = [o.address(), ids.address()].map(Argument::Word);
                launch(words, move |device, input, out| {
                    bags(input, &o.buffer, &ids.buffer, out).grid(rows as u32 / 16).enqueue(device)
                })
            },
        ),
        pair("ellpack", vertices, "rows", vertices / 256, 256).bytes(8 * places * vertices).case(
            move || data::reals(69, places * vertices),
            vertices,
            move |device| {
                let columns = data::random(70, places * vertices, |bits| {
                    if bits % 8 == 0 { -1 } else { ((bits >> 32) % vertices as u64) as i32 }
                });
                let (c, x) = (Memory::upload(device, &columns)?, Memory::upload(device, &data::reals(71, vertices))?);
                let words = [c.address(), x.address()].map(Argument::Word);
                let numbers = [Argument::Number(vertices as u32), Argument::Number(places as u32)];
                launch([words, numbers].concat(), move |device, input, out| {
                    let call = ellpack(input, &c.buffer, &x.buffer, out, vertices as u32, places as u32);
                    call.grid(vertices as u32 / 256).enqueue(device)
                })
            },
        ),
        pair("labels", vertices, "vertices", vertices / 256, 256).bytes(4 * edges).case(
            move || data::below(72, vertices, 1 << 20),
            vertices,
            move |device| {
                let starts = starts();
                let neighbours = data::below(73, starts[vertices] as usize, vertices as u32);
                let (s, n) = (Memory::upload(device, &starts)?, Memory::upload(device, &neighbours)?);
                let words = [s.address(), n.address(), vertices as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    labels(input, &s.buffer, &n.buffer, out).grid(vertices as u32 / 256).enqueue(device)
                })
            },
        ),
        pair("permuted", rows, "rows", rows / 8, 256).bytes(8 * len).case(
            move || data::reals(74, len),
            len,
            move |device| {
                let order = Memory::upload(device, &ids(75))?;
                let twin = vec![Argument::Word(order.address()), Argument::Number(width as u32)];
                launch(twin, move |device, input, out| {
                    permuted(input, &order.buffer, out, width as u32).grid(rows as u32 / 8).enqueue(device)
                })
            },
        ),
    ]
}
