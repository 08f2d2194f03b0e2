//! Attention of many queries, heads of 128 elements in `bf16`: one thread loads keys and values into rings by tensor maps, and each of two
//! warpgroups works on 64 queries. The scores of the next keys are multiplied while the weights of these ones are, and the exponentials
//! are computed meanwhile (FlashAttention-3, Shah and others 2024). Several heads of queries may share a head of keys, and sequences of
//! different lengths may lie packed in one buffer.

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
/// The rows and columns of the result that a warp stores at once; rows are padded by 16 bytes, so that eight lie in different banks.
type Part = [[bf16; 64 + 8]; 16];

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

// ANCHOR: tail
/// The scores of what lies behind the `left` keys of a tile are left out.
#[device]
fn mask_tail(scores: &mut Scores, rank: u32, left: u32) {
    #[unroll]
    for i in 0..scores.len() as u32 {
        if scores.column(rank, i) >= left {
            scores[i] = f32::NEG_INFINITY;
        }
    }
}
// ANCHOR_END: tail

// ANCHOR: start
/// Each block computes 128 queries of a head, whose keys and values it reads from the last ones to the first: all of the sequence, or, if
/// the attention is `CAUSAL`, those that are not behind the query. Sequence `z` has the rows from `starts[z]` to `starts[z + 1]` of the
/// operands and of the result, in which the next head and the next row are so many elements away. `sharing` heads of queries have one
/// head of keys and values. `scale` is that of the scores, times the binary logarithm of e.
#[cluster_kernel(block = 384, fast_math)]
fn attention<const CAUSAL: bool>(
    queries: &TensorMap<Queries>,
    keys: &TensorMap<Keys>,
    values: &TensorMap<Keys>,
    out: &mut [bf16],
    head_stride: usize,
    row_stride: usize,
    starts: &[u32],
    sharing: u32,
    scale: f32,
) {
    let at = this_grid().block_index();
    let start = starts[at.z];
    let len = starts[at.z + 1] - start;
    let count = len.div_ceil(KEYS as u32);
    if at.x >= count {
        return; // others have more queries
    }
    // ANCHOR_END: start
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
    let (head, key_head) = (at.y as i32, (at.y / sharing) as i32);
    // Where keys are left out, the blocks with the most of them begin first.
    let number = if CAUSAL { count - 1 - at.x } else { at.x };
    let top = number * KEYS as u32;
    let tiles = if CAUSAL { number + 1 } else { count };
    assert!(tiles > 0, "no keys");
    let first_row = start + top;
    if which == CONSUMERS as u32 {
        warpgroup.decrease_registers::<40>();
        // ANCHOR: load
        if rank == 0 {
            for part in 0..CONSUMERS as u32 {
                queries.load_async([head, 0, (first_row + part * ROWS as u32) as i32, 0], &q[part], &q_full);
            }
            let _ = q_full.arrive();
            for step in 0..tiles {
                let stage = step % STAGES as u32;
                let first = (start + (tiles - 1 - step) * KEYS as u32) as i32;
                k_empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                keys.load_async([key_head, 0, first, 0], &k[stage], &k_full[stage]);
                let _ = k_full[stage].arrive();
                v_empty[stage].wait_parity(step / STAGES as u32 % 2 == 0);
                values.load_async([key_head, 0, first, 0], &v[stage], &v_full[stage]);
                let _ = v_full[stage].arrive();
            }
        }
        // ANCHOR_END: load
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
        } else if len % KEYS as u32 > 0 {
            mask_tail(&mut scores, rank, len % KEYS as u32);
        }
        let mut max = largest(&scores, [f32::NEG_INFINITY; 2]);
        max = [quad.reduce(max[0], op::Max), quad.reduce(max[1], op::Max)];
        let mut sum = weigh(&mut scores, max, scale);
        let mut weights = MatrixA::<bf16, ROWS, KEYS>::from_accumulator(scores.to_bf16());
        let mut result = Accumulator::<f32, ROWS, WIDTH>::splat(0.0);
        // ANCHOR: loop
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
        // ANCHOR_END: loop
        let last = (tiles - 1) % STAGES as u32;
        v_full[last].wait_parity((tiles - 1) / STAGES as u32 % 2 == 1);
        let weighted = warpgroup.mma_async(result, weights, v[last][0].transposed());
        result = warpgroup.wait_mma(weighted);
        sum = [quad.reduce(sum[0], op::Plus), quad.reduce(sum[1], op::Plus)];
        // ANCHOR: store
        // The rows of a sequence end where those of the next one begin, so that each thread looks at the row that it stores.
        let part = &parts[warp.meta_group_rank()];
        let (lane, first) = (warp.thread_rank(), top + warp.meta_group_rank() * 16);
        #[unroll]
        for half in 0..2 {
            warp.sync(); // the part before has been read
            #[unroll]
            for piece in 0..4 {
                let mut elements = Accumulator::<bf16, 16, 16>::splat(bf16::ZERO);
                #[unroll]
                for i in 0..8 {
                    elements[i] = bf16::from_f32(result[half * 32 + piece * 8 + i] / sum[i / 2 % 2]);
                }
                warp.store_matrix(part, 0, piece * 16, elements);
            }
            warp.sync(); // the part is complete
            #[unroll]
            for i in 0..4 {
                let (row, column) = (lane / 8 + i * 4, lane % 8 * 8);
                if first + row < len {
                    let place = at.y as usize * head_stride + (start + first + row) as usize * row_stride;
                    out.store_vec(place + half * 64 + column as usize, part[row].load_vec::<8>(column));
                }
            }
        }
        // ANCHOR_END: store
    }
}

/// The sequences of a problem, and which heads and keys their queries see.
#[derive(Clone)]
struct Problem {
    heads: usize,
    /// The heads of keys and values, of which the number of heads is a multiple.
    key_heads: usize,
    lengths: Vec<usize>,
    /// Whether several sequences lie in one buffer, row after row.
    packed: bool,
    causal: bool,
}

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let one = |heads, key_heads, len, causal| Problem { heads, key_heads, lengths: vec![len], packed: false, causal };
    let [full, causal] = scale
        .pick([one(16, 16, 8_192, false), one(16, 16, 16_384, true)], [one(2, 2, 300, false), one(2, 2, 384, true)]);
    let shared = scale.pick(one(32, 8, 8_192, true), one(4, 2, 200, true));
    let (heads, key_heads) = scale.pick((32, 8), (2, 1));
    let lengths = scale.pick((1..=8).map(|i| i * 1_024 - 40 * (i % 3)).collect(), vec![130, 1, 128, 0, 100]);
    let packed = |causal| Problem { heads, key_heads, lengths: lengths.clone(), packed: true, causal };
    vec![
        case("attention", full),
        case("causal attention", causal),
        case("causal attention, shared keys", shared),
        case("attention, packed", packed(false)),
        case("causal attention, packed", packed(true)),
    ]
}

fn case(kernel: &'static str, problem: Problem) -> Case {
    let Problem { heads, key_heads, ref lengths, packed, causal } = problem;
    let rows: usize = lengths.iter().sum();
    let pairs: usize = lengths.iter().map(|len| len * len).sum();
    let of_heads =
        if heads == key_heads { format!("{heads} heads") } else { format!("{heads} heads over {key_heads}") };
    Case {
        kernel,
        size: match packed {
            true => format!("{of_heads}, {} sequences, {rows} keys", lengths.len()),
            false => format!("{of_heads}, {rows} keys"),
        },
        // Products of queries with keys and of weights with values; half of them where keys are left out.
        operations: (4 * heads * pairs * WIDTH) as u64 / if causal { 2 } else { 1 },
        element: size_of::<bf16>(),
        problem: json!({
            "operation": if packed { "packed_attention" } else { "flash_attention" },
            "heads": heads, "key_heads": key_heads, "lengths": lengths, "width": WIDTH, "causal": causal,
        }),
        prepare: Box::new(move |device| {
            let operands = [(33, heads), (34, key_heads), (35, key_heads)];
            let operands = operands.map(|(seed, heads)| super::bf16s(seed, heads * rows * WIDTH));
            let sets = memory::sets(device, 4 * (heads + key_heads) * rows * WIDTH);
            let mut starts = vec![0];
            starts.extend(problem.lengths.iter().scan(0, |end, len| {
                *end += *len as u32;
                Some(*end)
            }));
            let set = |_| {
                let [q, k, v] = [0, 1, 2].map(|i| device.upload(&operands[i]));
                Ok(([q?, k?, v?], device.zeros::<bf16>(heads * rows * WIDTH)?))
            };
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            Ok(Box::new(Heads { sets, operands, starts: device.upload(&starts)?, problem: problem.clone() }))
        }),
    }
}

struct Heads {
    sets: Vec<([Buffer<bf16>; 3], Buffer<bf16>)>,
    operands: [Vec<bf16>; 3],
    starts: Buffer<u32>,
    problem: Problem,
}

impl Problem {
    fn rows(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Returns the distances of an operand's heads and of its rows, in elements.
    fn strides(&self, heads: usize) -> (usize, usize) {
        if self.packed { (WIDTH, heads * WIDTH) } else { (self.rows() * WIDTH, WIDTH) }
    }
}

impl Prepared for Heads {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let Problem { heads, key_heads, ref lengths, causal, .. } = self.problem;
        let ([q, k, v], out) = &mut self.sets[set];
        // The columns of a head in two parts, as the tiles have them.
        let [q, k, v] = [(q, heads), (k, key_heads), (v, key_heads)].map(|(operand, heads)| {
            let (head, row) = self.problem.strides(heads);
            operand.tensor_with_strides([heads, 2, self.problem.rows(), 64], [head, 64, row, 1])
        });
        let (q, k, v) = (q?, k?, v?);
        let longest = lengths.iter().max().copied().unwrap_or_default();
        let (sharing, (head, row)) = ((heads / key_heads) as u32, self.problem.strides(heads));
        let scale = std::f32::consts::LOG2_E / (WIDTH as f32).sqrt();
        let starts = &self.starts;
        let launch: Launch<'_> = match causal {
            true => attention::<true>(&q, &k, &v, out, head, row, starts, sharing, scale),
            false => attention::<false>(&q, &k, &v, out, head, row, starts, sharing, scale),
        };
        launch.grid((longest.div_ceil(KEYS) as u32, heads as u32, lengths.len() as u32)).enqueue(device)
    }

    fn check(&self) -> Result<()> {
        let Problem { heads, key_heads, lengths, causal, .. } = &self.problem;
        let got = self.sets[0].1.read()?;
        let (mut start, few) = (0, if lengths.len() > 1 { 2 } else { 4 });
        for (number, len) in lengths.iter().enumerate() {
            for head in data::sample(*heads, few) {
                let at = |heads: usize, head, i| {
                    let strides = self.problem.strides(heads);
                    head * strides.0 + (start + i) * strides.1
                };
                let query = |i: usize| &self.operands[0][at(*heads, head, i)..][..WIDTH];
                let key = |operand: usize, i: usize| {
                    &self.operands[operand][at(*key_heads, head / (heads / key_heads), i)..][..WIDTH]
                };
                for i in data::sample(*len, 8) {
                    let product =
                        |j| query(i).iter().zip(key(1, j)).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum::<f64>();
                    let keys = if *causal { i + 1 } else { *len };
                    let weights: Vec<f64> = (0..keys).map(|j| (product(j) / (WIDTH as f64).sqrt()).exp()).collect();
                    let sum: f64 = weights.iter().sum();
                    let element =
                        |d: usize| weights.iter().enumerate().map(|(j, w)| w * f64::from(key(2, j)[d])).sum::<f64>();
                    let got = got[at(*heads, head, i)..][..WIDTH].iter().map(|x| f64::from(*x));
                    compare::close_to(
                        &format!("sequence {number}, head {head}, query {i}"),
                        got,
                        (0..WIDTH).map(|d| element(d) / sum),
                        2e-2,
                        0.1,
                    )?;
                }
            }
            start += len;
        }
        Ok(())
    }
}
