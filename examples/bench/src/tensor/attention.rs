//! Attention of many queries, heads of 128 elements in `bf16`: one thread loads keys and values into rings by tensor maps, and each of two
//! warpgroups works on 64 queries. The scores of the next keys are multiplied while the weights of these ones are, and the exponentials
//! are computed meanwhile (FlashAttention-3, Shah and others 2024).

use phalanx::Launch;
use phalanx::prelude::*;
use serde_json::json;

use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

/// The queries of a warpgroup.
const ROWS: usize = 64;
/// The warpgroups that multiply.
const CONSUMERS: usize = 2;
/// The queries of a block, and the keys of a stage.
const KEYS: usize = 128;
/// The elements of a head.
const WIDTH: usize = 128;
const STAGES: usize = 2;

/// Rows of a head, as two tiles of 64 columns side by side.
type Queries = [[[Swizzled<bf16, 64>; ROWS]; 2]; 1];
type Keys = [[[Swizzled<bf16, 64>; KEYS]; 2]; 1];
/// The rows and columns of the result that a warp stores at once.
type Part = [[Swizzled<bf16, 64>; 16]; 1];

/// The sums of a warpgroup, of whose rows each thread has two.
type Scores = Accumulator<f32, ROWS, KEYS>;

/// The largest scores of the thread's rows.
#[device]
fn largest(scores: &Scores, before: [f32; 2]) -> [f32; 2] {
    let mut largest = before;
    #[unroll]
    for i in 0..scores.len() {
        largest[i / 2 % 2] = largest[i / 2 % 2].max(scores[i]);
    }
    largest
}

/// Makes weights of scores, relative to the largest ones, and returns their sums.
#[device]
fn weigh(scores: &mut Scores, largest: [f32; 2], scale: f32) -> [f32; 2] {
    let mut sums = [0.0; 2];
    #[unroll]
    for i in 0..scores.len() {
        scores[i] = fast::exp2(scores[i].mul_add(scale, -(largest[i / 2 % 2] * scale)));
        sums[i / 2 % 2] += scores[i];
    }
    sums
}

/// The scores of keys behind a query are left out, where the first key is that of the warpgroup's block.
#[device]
fn mask(scores: &mut Scores, rank: u32, above: u32) {
    #[unroll]
    for i in 0..scores.len() as u32 {
        if scores.column(rank, i) > scores.row(rank, i) + above {
            scores[i] = f32::NEG_INFINITY;
        }
    }
}

/// Each block computes 128 queries of a head, whose keys and values it reads from the last ones to the first: all of them, or, if the
/// attention is `CAUSAL`, those that are not behind the query. A head has `count` times 128 of them. `scale` is that of the scores, times the binary logarithm of e.
#[cluster_kernel(block = 384, fast_math)]
fn attention<const CAUSAL: bool>(
    queries: &TensorMap<Queries>,
    keys: &TensorMap<Keys>,
    values: &TensorMap<Keys>,
    out: &mut TensorMap<Part>,
    count: u32,
    scale: f32,
) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let warp = tiled_partition::<32>(&block);
    let quad = tiled_partition::<4>(&block);
    let q = shared_array::<Queries, CONSUMERS>();
    let k = shared_array::<Keys, STAGES>();
    let v = shared_array::<Keys, STAGES>();
    let parts = shared_array::<Part, 8>();
    let q_full = shared_barrier();
    let (k_full, k_empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    let (v_full, v_empty) = (shared_barriers::<STAGES>(), shared_barriers::<STAGES>());
    q_full.init_collective(&block, 1);
    k_full.init_collective(&block, 1);
    v_full.init_collective(&block, 1);
    k_empty.init_collective(&block, 4 * CONSUMERS as u32);
    v_empty.init_collective(&block, 4 * CONSUMERS as u32);
    let (which, rank) = (warpgroup.meta_group_rank(), warpgroup.thread_rank());
    let head = block.group_index().y as i32;
    // Where keys are left out, the blocks with the most of them begin first.
    let number = if CAUSAL { count - 1 - block.group_index().x } else { block.group_index().x };
    let top = number * KEYS as u32;
    let tiles = if CAUSAL { number + 1 } else { count };
    assert!(tiles > 0, "no keys");
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        if rank == 0 {
            for part in 0..CONSUMERS as u32 {
                queries.load_async([head, 0, (top + part * ROWS as u32) as i32, 0], &q[part], &q_full);
            }
            let _ = q_full.arrive();
            for step in 0..tiles {
                let stage = step % STAGES as u32;
                let first = ((tiles - 1 - step) * KEYS as u32) as i32;
                k_empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                keys.load_async([head, 0, first, 0], &k[stage], &k_full[stage]);
                let _ = k_full[stage].arrive();
                v_empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                values.load_async([head, 0, first, 0], &v[stage], &v_full[stage]);
                let _ = v_full[stage].arrive();
            }
        }
    } else {
        warpgroup.increase_registers::<232>();
        q_full.wait_parity(false);
        k_full[0].wait_parity(false);
        let first = warpgroup.mma_async(Accumulator::<f32, ROWS, KEYS>::splat(0.0), &q[which][0][0], &k[0][0][0]);
        let both = warpgroup.mma_async(first, &q[which][0][1], &k[0][0][1]);
        let mut scores = warpgroup.wait_mma(both);
        if rank % 32 == 0 {
            let _ = k_empty[0].arrive();
        }
        if CAUSAL {
            mask(&mut scores, rank, which * ROWS as u32);
        }
        let mut max = largest(&scores, [f32::NEG_INFINITY; 2]);
        max = [quad.reduce(max[0], op::Max), quad.reduce(max[1], op::Max)];
        let mut sum = weigh(&mut scores, max, scale);
        let mut weights = MatrixA::<bf16, ROWS, KEYS>::from_accumulator(scores.to_bf16());
        let mut result = Accumulator::<f32, ROWS, WIDTH>::splat(0.0);
        for step in 1..tiles {
            let (stage, before) = (step % STAGES as u32, (step - 1) % STAGES as u32);
            k_full[stage].wait_parity(step / STAGES as u32 % 2 == 1);
            let first =
                warpgroup.mma_async(Accumulator::<f32, ROWS, KEYS>::splat(0.0), &q[which][0][0], &k[stage][0][0]);
            let both = warpgroup.mma_async(first, &q[which][0][1], &k[stage][0][1]);
            v_full[before].wait_parity((step - 1) / STAGES as u32 % 2 == 1);
            let weighted = warpgroup.mma_async(result, weights, v[before][0].transposed());
            let mut scores = warpgroup.wait_mma_except_last(both);
            if rank % 32 == 0 {
                let _ = k_empty[stage].arrive();
            }
            let next = largest(&scores, max);
            let next = [quad.reduce(next[0], op::Max), quad.reduce(next[1], op::Max)];
            let factor = [fast::exp2((max[0] - next[0]) * scale), fast::exp2((max[1] - next[1]) * scale)];
            max = next;
            let added = weigh(&mut scores, max, scale);
            sum = [sum[0] * factor[0] + added[0], sum[1] * factor[1] + added[1]];
            result = warpgroup.wait_mma(weighted);
            if rank % 32 == 0 {
                let _ = v_empty[before].arrive();
            }
            weights = MatrixA::<bf16, ROWS, KEYS>::from_accumulator(scores.to_bf16());
            #[unroll]
            for i in 0..result.len() {
                result[i] *= factor[i / 2 % 2];
            }
        }
        let last = (tiles - 1) % STAGES as u32;
        v_full[last].wait_parity((tiles - 1) / STAGES as u32 % 2 == 1);
        let weighted = warpgroup.mma_async(result, weights, v[last][0].transposed());
        result = warpgroup.wait_mma(weighted);
        sum = [quad.reduce(sum[0], op::Plus), quad.reduce(sum[1], op::Plus)];
        let part = &parts[warp.meta_group_rank()];
        #[unroll]
        for half in 0..2 {
            if warp.thread_rank() == 0 {
                bulk_wait_group_read::<0>(); // the part's last store has read it
            }
            warp.sync();
            #[unroll]
            for piece in 0..4 {
                let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
                #[unroll]
                for i in 0..8 {
                    elements[i] = bf16::from_f32(result[half * 32 + piece * 8 + i] / sum[i / 2 % 2]);
                }
                warp.store_matrix(&part[0], 0, piece * 16, elements);
            }
            warp.sync(); // the part is complete
            if warp.thread_rank() == 0 {
                out.store_async([head, (top + warp.meta_group_rank() * 16) as i32, half * 64], part);
            }
        }
        if warp.thread_rank() == 0 {
            bulk_wait_group_read::<0>(); // the block exits after its memory has been read
        }
    }
}

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let (heads, [full, causal]) = scale.pick((16, [8_192, 16_384]), (2, [384, 384]));
    vec![case(heads, full, false), case(heads, causal, true)]
}

fn case(heads: usize, len: usize, causal: bool) -> Case {
    Case {
        kernel: if causal { "causal attention" } else { "attention" },
        size: format!("{heads} heads, {len} keys"),
        // Products of queries with keys and of weights with values; half of them where keys are left out.
        operations: (4 * heads * len * len * WIDTH) as u64 / if causal { 2 } else { 1 },
        element: size_of::<bf16>(),
        problem: json!({ "operation": "flash_attention", "heads": heads, "len": len, "width": WIDTH, "causal": causal }),
        prepare: Box::new(move |device| {
            let operands = [33, 34, 35].map(|seed| super::bf16s(seed, heads * len * WIDTH));
            let sets = memory::sets(device, 8 * heads * len * WIDTH);
            let set = |_| {
                let [q, k, v] = [0, 1, 2].map(|i| device.upload(&operands[i]));
                Ok(([q?, k?, v?], device.zeros::<bf16>(heads * len * WIDTH)?))
            };
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            Ok(Box::new(Heads { sets, heads, len, causal, operands }))
        }),
    }
}

struct Heads {
    sets: Vec<([Buffer<bf16>; 3], Buffer<bf16>)>,
    heads: usize,
    len: usize,
    causal: bool,
    operands: [Vec<bf16>; 3],
}

impl Prepared for Heads {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let Heads { heads, len, causal, .. } = *self;
        let ([q, k, v], out) = &mut self.sets[set];
        // The columns of a head in two parts, as the tiles have them.
        let (dims, strides) = ([heads, 2, len, 64], [len * WIDTH, 64, WIDTH, 1]);
        let [q, k, v] = [q, k, v].map(|operand| operand.tensor_with_strides(dims, strides));
        let (q, k, v) = (q?, k?, v?);
        let mut out = out.tensor_mut([heads, len, WIDTH])?;
        let (count, scale) = ((len / KEYS) as u32, std::f32::consts::LOG2_E / (WIDTH as f32).sqrt());
        let launch: Launch<'_> = match causal {
            true => attention::<true>(&q, &k, &v, &mut out, count, scale),
            false => attention::<false>(&q, &k, &v, &mut out, count, scale),
        };
        launch.grid((count, heads as u32)).enqueue(device)
    }

    fn check(&self) -> Result<()> {
        let (got, len) = (self.sets[0].1.read()?, self.len);
        for head in data::sample(self.heads, 4) {
            let row = |operand: usize, i: usize| &self.operands[operand][(head * len + i) * WIDTH..][..WIDTH];
            for i in data::sample(len, 8) {
                let product =
                    |j| row(0, i).iter().zip(row(1, j)).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum::<f64>();
                let keys = if self.causal { i + 1 } else { len };
                let weights: Vec<f64> = (0..keys).map(|j| (product(j) / (WIDTH as f64).sqrt()).exp()).collect();
                let sum: f64 = weights.iter().sum();
                let element =
                    |d: usize| weights.iter().enumerate().map(|(j, w)| w * f64::from(row(2, j)[d])).sum::<f64>();
                let got = got[(head * len + i) * WIDTH..][..WIDTH].iter().map(|x| f64::from(*x));
                compare::close_to(
                    &format!("head {head}, query {i}"),
                    got,
                    (0..WIDTH).map(|d| element(d) / sum),
                    2e-2,
                    0.1,
                )?;
            }
        }
        Ok(())
    }
}
