//! Running sums of rows of `u32`: each row belongs to a cluster, whose blocks exchange their totals and then scan what
//! they hold in shared memory.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS};
use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "scan", about: "running sums of rows of `u32`, a row for each cluster", cases };

/// Running sums of rows of `C * PART` columns.
#[cluster_kernel(cluster = C, block = 512)]
fn scan<const C: usize, const PART: usize>(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let warps = tiled_partition::<16>(&block); // as many threads as the block has warps
    let part = shared_array::<u32, PART>();
    let of_warps = shared_array::<[u32; WARPS], 2>();
    let of_block = shared_array::<u32, 1>();
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let (input, out) = (&input[start..start + PART], &mut out[start..start + PART]);

    // The block's total, while its part goes into shared memory.
    let mut own = 0;
    for column in (i * 4..PART).step_by(BLOCK * 4) {
        let v = input.load_vec::<4>(column);
        part.store_vec(column, v);
        own += v[0] + v[1] + (v[2] + v[3]);
    }
    let sum = warp.reduce(own, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[0][warp.meta_group_rank()] = sum;
    }
    block.sync();
    let total = warps.reduce(of_warps[0][warps.thread_rank()], op::Plus);
    if i == 0 {
        of_block[0] = total;
    }
    cluster.sync();
    let mut before = 0;
    for rank in 0..C as u32 {
        let total = cluster.map_shared_rank(&of_block, rank)[0];
        before += if rank < cluster.block_rank() { total } else { 0 };
    }
    let read = cluster.barrier_arrive();

    // A tile at a time: within each thread, over the warp, over the block.
    for tile in 1..=PART / BLOCK / 4 {
        let column = ((tile - 1) * BLOCK + i) * 4;
        let mut v = part.load_vec::<4>(column);
        v[1] += v[0];
        v[2] += v[1];
        v[3] += v[2];
        let sums = warp.inclusive_scan(v[3], op::Plus);
        if warp.thread_rank() == 31 {
            of_warps[tile % 2][warp.meta_group_rank()] = sums;
        }
        block.sync(); // the other half is written only after the next one
        let totals = warps.inclusive_scan(of_warps[tile % 2][warps.thread_rank()], op::Plus);
        let preceding = warps.shfl(totals, warp.meta_group_rank() + 15); // that of rank 0 is not used
        let mut offset = before + sums - v[3];
        if warp.meta_group_rank() > 0 {
            offset += preceding;
        }
        for k in 0..4 {
            v[k] += offset;
        }
        out.store_vec(column, v);
        before += warps.shfl(totals, 15);
    }
    cluster.barrier_wait(read); // no block exits while a peer reads its total
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![case(scale, 32_768, 2, scan::<2, 16_384>), case(scale, 131_072, 8, scan::<8, 16_384>)]
}

type Kernel = for<'a> fn(&'a Buffer<u32>, &'a mut Buffer<u32>) -> Launch<'a>;

fn case(scale: Scale, columns: usize, cluster: u32, kernel: Kernel) -> Case {
    let rows = scale.pick((1 << 28) / columns, 2);
    let part = columns / cluster as usize;
    let grid = rows as u32 * cluster;
    Case {
        version: format!("plain, cluster of {cluster}"),
        size: columns as u64,
        unit: "columns",
        bytes: 8 * (rows * columns) as u64,
        twin: Twin::new("scan", include_str!("../../twins/scan.cu")).with("C", cluster).with("PART", part),
        library: Some(json!({ "operation": "scan", "rows": rows, "columns": columns })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                Call::new(grid, BLOCK, [input, out].map(Argument::Word)).cluster(cluster).shared_bytes(4 * part)
            };
            let ours = move |device: &Device, input: &_, out: &mut _| kernel(input, out).grid(grid).enqueue(device);
            let values = data::below(9, rows * columns, 1 << 12);
            Map::prepared(device, values, rows * columns, Before::Spoiled, ours, call, move |input, read| {
                for row in data::sample(rows, 8) {
                    let part = row * columns..(row + 1) * columns;
                    let mut sum = 0;
                    let sums = input[part.clone()].iter().map(|&x| {
                        sum += x;
                        sum
                    });
                    compare::equal(&format!("row {row}"), &read(part)?, &sums.collect::<Vec<u32>>())?;
                }
                Ok(())
            })
        }),
    }
}
