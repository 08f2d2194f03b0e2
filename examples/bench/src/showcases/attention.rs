//! Attention of one query for each head, as decoding does it: the blocks of a cluster take parts of the keys and values
//! and combine their results in distributed shared memory, in one launch.

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::memory::Memory;
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase = Showcase {
    name: "attention",
    about: "one query for each head over a split cache of `bf16` keys and values",
    cases,
};

const BLOCK: usize = 512;
/// The width of a head.
const WIDTH: usize = 128;
/// The threads of a key: 16 bytes each.
const LANES: usize = 16;
/// The keys that a block reads at once, `KEYS` for each group of threads.
const GROUPS: usize = BLOCK / LANES;
const KEYS: usize = 4;

/// Decodes one token: `C` blocks share the keys of a head (Flash-Decoding, Dao and others 2023, with distributed shared
/// memory in place of a second kernel), whose number is a multiple of `C * GROUPS * KEYS`.
#[cluster_kernel(cluster = C, block = 512)]
fn decode<const C: usize>(query: &[bf16], keys: &[bf16], values: &[bf16], out: &mut [f32], count: u32, scale: f32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let lanes = tiled_partition::<16>(&block);
    let maxima = shared_array::<f32, GROUPS>();
    let sums = shared_array::<f32, GROUPS>();
    let results = shared_array::<[f32; WIDTH], GROUPS>();
    let of_block = shared_array::<f32, WIDTH>();
    let max_and_sum = shared_array::<f32, 2>();
    let i = block.thread_rank() as usize;
    let (lane, group) = (lanes.thread_rank() as usize, lanes.meta_group_rank() as usize);
    let head = this_grid().cluster_rank();

    let q = query.load_vec::<8>(head * WIDTH + lane * 8);
    let mut scaled = [0.0; 8];
    for d in 0..8 {
        scaled[d] = q[d].to_f32() * scale;
    }
    let (mut max, mut sum, mut result) = (f32::NEG_INFINITY, 0.0, [0.0; 8]);
    let rounds = count as usize / (C * GROUPS * KEYS);
    let first = head * count as usize + cluster.block_rank() as usize * rounds * GROUPS * KEYS + group;
    for round in 0..rounds {
        let start = (first + round * GROUPS * KEYS) * WIDTH + lane * 8;
        let mut k = [bf16x8::splat(bf16::ZERO); KEYS];
        let mut v = [bf16x8::splat(bf16::ZERO); KEYS];
        for key in 0..KEYS {
            k[key] = keys.load_vec::<8>(start + key * GROUPS * WIDTH);
            v[key] = values.load_vec::<8>(start + key * GROUPS * WIDTH);
        }
        let mut scores = [0.0; KEYS];
        let mut new_max = max;
        for key in 0..KEYS {
            let mut product = 0.0;
            for d in 0..8 {
                product = scaled[d].mul_add(k[key][d].to_f32(), product);
            }
            scores[key] = lanes.reduce(product, op::Plus);
            new_max = new_max.max(scores[key]);
        }
        let correction = fast::exp2(max - new_max);
        max = new_max;
        sum *= correction;
        for d in 0..8 {
            result[d] *= correction;
        }
        for key in 0..KEYS {
            let weight = fast::exp2(scores[key] - max);
            sum += weight;
            for d in 0..8 {
                result[d] = weight.mul_add(v[key][d].to_f32(), result[d]);
            }
        }
    }

    // The block: a thread for each element of the result.
    if lane == 0 {
        maxima[group] = max;
        sums[group] = sum;
    }
    for d in 0..8 {
        results[group][lane * 8 + d] = result[d];
    }
    block.sync();
    if i < WIDTH {
        let mut max = f32::NEG_INFINITY;
        for group in 0..GROUPS {
            max = max.max(maxima[group]);
        }
        let (mut sum, mut result) = (0.0, 0.0);
        for group in 0..GROUPS {
            let weight = fast::exp2(maxima[group] - max);
            sum = weight.mul_add(sums[group], sum);
            result = weight.mul_add(results[group][i], result);
        }
        of_block[i] = result;
        if i == 0 {
            max_and_sum[0] = max;
            max_and_sum[1] = sum;
        }
    }
    cluster.sync();

    // The cluster: the first block.
    if cluster.block_rank() == 0 && i < WIDTH {
        let mut max = f32::NEG_INFINITY;
        for rank in 0..C as u32 {
            max = max.max(cluster.map_shared_rank(&max_and_sum, rank)[0]);
        }
        let (mut sum, mut result) = (0.0, 0.0);
        for rank in 0..C as u32 {
            let theirs = cluster.map_shared_rank(&max_and_sum, rank);
            let weight = fast::exp2(theirs[0] - max);
            sum = weight.mul_add(theirs[1], sum);
            result = weight.mul_add(cluster.map_shared_rank(&of_block, rank)[i], result);
        }
        out[head * WIDTH + i] = result / sum;
    }
    cluster.sync(); // no block exits while the first reads its result
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![case(scale, 8_192, 256, 4, decode::<4>), case(scale, 65_536, 32, 8, decode::<8>)]
}

type Kernel =
    for<'a> fn(&'a Buffer<bf16>, &'a Buffer<bf16>, &'a Buffer<bf16>, &'a mut Buffer<f32>, u32, f32) -> Launch<'a>;

fn case(scale: Scale, count: usize, heads: usize, cluster: u32, kernel: Kernel) -> Case {
    let (heads, keys) = scale.pick((heads, count), (1, count / 8));
    let factor = std::f32::consts::LOG2_E / (WIDTH as f32).sqrt();
    let grid = heads as u32 * cluster;
    let twin = Twin::new("decode", include_str!("../../twins/attention.cu"));
    Case {
        version: format!("split cache, {heads} heads, cluster of {cluster}"),
        size: keys as u64,
        unit: "keys",
        bytes: (4 * heads * keys * WIDTH) as u64,
        twin: twin.with("C", cluster),
        library: Some(json!({ "operation": "attention", "heads": heads, "keys": keys, "width": WIDTH })),
        prepare: Box::new(move |device| {
            let queries = bf16s(17, heads * WIDTH);
            let values = bf16s(18, heads * keys * WIDTH);
            let (q, v) = (Memory::upload(device, &queries)?, Memory::upload(device, &values)?);
            let (q_at, v_at) = (q.address(), v.address());
            let call = move |k, out| {
                let pointers = [q_at, k, v_at, out].map(Argument::Word);
                let numbers = [Argument::Number(keys as u32), Argument::Real(factor)];
                Call::new(grid, BLOCK, [&pointers[..], &numbers].concat()).cluster(cluster)
            };
            let ours = move |device: &Device, k: &_, out: &mut _| {
                kernel(&q.buffer, k, &v.buffer, out, keys as u32, factor).grid(grid).enqueue(device)
            };
            let (input, len) = (bf16s(19, heads * keys * WIDTH), heads * WIDTH);
            Map::prepared(device, input, len, Before::Spoiled, ours, call, move |input, read| {
                for head in data::sample(heads, 8) {
                    let part = head * keys * WIDTH..(head + 1) * keys * WIDTH;
                    let query = head * WIDTH..(head + 1) * WIDTH;
                    let want = attended(&queries[query.clone()], &input[part.clone()], &values[part]);
                    compare::close_to(
                        &format!("head {head}"),
                        read(query)?.into_iter().map(f64::from),
                        want,
                        1e-4,
                        0.1,
                    )?;
                }
                Ok(())
            })
        }),
    }
}

fn bf16s(seed: u64, len: usize) -> Vec<bf16> {
    data::random(seed, len, |bits| bf16::from_f32(data::real(bits)))
}

fn attended(query: &[bf16], keys: &[bf16], values: &[bf16]) -> Vec<f64> {
    let score = |key: &[bf16]| {
        let product: f64 = query.iter().zip(key).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum();
        (product / (WIDTH as f64).sqrt()).exp()
    };
    let scores: Vec<f64> = keys.chunks(WIDTH).map(score).collect();
    let sum: f64 = scores.iter().sum();
    let element = |d: usize| values[d..].iter().step_by(WIDTH).zip(&scores).map(|(v, score)| f64::from(*v) * score);
    (0..WIDTH).map(|d| element(d).sum::<f64>() / sum).collect()
}
