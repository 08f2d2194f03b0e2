//! A sum of all elements: threads, blocks and clusters reduce, and one thread of each cluster adds to the result.

use phalanx::prelude::*;
use serde_json::json;

use super::blocks::{BLOCK, WARPS, block_sum};
use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "reduce", about: "the sum of `f32`s over clusters, in one launch", cases };

const CLUSTER: usize = 4;
/// The number of elements that a block adds, in 8 rounds. Blocks that stay for the whole launch drift apart, and the memory serves them more
/// slowly: 528 blocks take 1.14 times as long.
const PART: usize = 1 << 14;

#[cluster_kernel(cluster = 4, block = 512)]
fn reduce(input: &[f32], out: &mut [f32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let of_warps = shared_array::<f32, WARPS>();
    let of_block = shared_array::<f32, 1>();
    let mut sums = [0.0; 4];
    for at in (grid.thread_rank() * 4..input.len()).step_by(grid.num_threads() * 4) {
        let v = input.load_vec::<4>(at);
        for k in 0..4 {
            sums[k] += v[k];
        }
    }
    let sum = block_sum(&block, &of_warps, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    if block.thread_rank() == 0 {
        of_block[0] = sum;
    }
    cluster.sync();
    if cluster.thread_rank() == 0 {
        let mut sum = 0.0;
        for rank in 0..CLUSTER as u32 {
            sum += cluster.map_shared_rank(&of_block, rank)[0];
        }
        out.atomic(0).fetch_add(sum, Relaxed);
    }
    cluster.sync(); // no block exits while that thread reads its sum
}

fn cases(scale: Scale) -> Vec<Case> {
    let len: usize = scale.pick(1 << 28, 1 << 13);
    let grid = scale.pick(len / PART, CLUSTER) as u32;
    vec![Case {
        version: format!("cluster of {CLUSTER}"),
        size: len as u64,
        unit: "elements",
        bytes: 4 * len as u64,
        twin: Twin::new("reduce", include_str!("../../twins/reduce.cu")).with("C", CLUSTER),
        library: Some(json!({ "operation": "reduce", "len": len })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                let arguments = [Argument::Word(input), Argument::Word(out), Argument::Word(len as u64)];
                Call::new(grid, BLOCK, arguments).cluster(CLUSTER as u32)
            };
            let ours = move |device: &Device, input: &_, out: &mut _| reduce(input, out).grid(grid).enqueue(device);
            let values = data::random(7, len, |bits| data::real(bits) + 0.25);
            Map::prepared(device, values, 1, Before::Zeros, ours, call, |input, read| {
                let want: f64 = input.iter().map(|&x| f64::from(x)).sum();
                compare::close("the sum", [f64::from(read(0..1)?[0])], [want], 1e-4)
            })
        }),
    }]
}
