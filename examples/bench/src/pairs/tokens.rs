//! Tokens, their states, and other sequences: likely tokens, norms that quantize, alignments within a band, keyed hashes.

use std::hash::Hasher;

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "tokens", about: "likely tokens, norms, alignments, hashes", cases };

/// The tokens of a thread and of a vocabulary, for which four blocks of 256 threads come together.
const TOKENS: usize = 32;
const VOCABULARY: usize = 4 * 256 * TOKENS;

/// One, in the fixed point in which probabilities are added, so that their order does not matter.
const ONE: f32 = (1 << 30) as f32;

/// The logarithms of the probabilities of the likeliest tokens that have so much of the probability together (Holtzman et al.,
/// "The curious case of neural text degeneration", 2020), and the least number for other tokens: a row for each cluster.
#[cluster_kernel(cluster = 4, block = 256)]
fn nucleus(probabilities: &[f32], out: &mut [f32], share: f32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<[u32; 8], 2>();
    let lane = warp.thread_rank();
    let first = this_grid().cluster_rank() * VOCABULARY + cluster.thread_rank() as usize;
    let own: [u32; TOKENS] = std::array::from_fn(|k| (probabilities[first + k * 1024] * ONE) as u32);

    // The largest number such that the tokens which have no less are enough, bit by bit.
    let (mut least, mut kept) = (0, 0);
    for bit in (0..30).rev() {
        let next = least | 1 << bit;
        let mass = warp.reduce(own.iter().filter(|mass| **mass >= next).sum::<u32>(), op::Plus);
        if lane == 0 {
            of_warps[bit % 2][warp.meta_group_rank()] = mass;
        }
        cluster.sync();
        let of_peer = cluster.map_shared_rank(&of_warps, lane / 8);
        let mass = warp.reduce(of_peer[bit % 2][lane % 8], op::Plus);
        if mass as f32 >= share * ONE {
            (least, kept) = (next, mass);
        }
    }
    for (k, &mass) in own.iter().enumerate() {
        out[first + k * 1024] = if mass >= least { fast::ln(mass as f32 / kept as f32) } else { f32::MIN };
    }
    cluster.sync();
}

/// The numbers of a state.
const HIDDEN: usize = 4096;

/// Joins what all threads of a block have.
#[device]
fn of_block(block: &ThreadBlock, parts: &SharedSlice<f32>, own: f32, joined: impl Fn(f32, f32) -> f32) -> f32 {
    let warp = tiled_partition::<32>(block);
    let part = warp.reduce(own, |a, b| joined(a, b));
    if warp.thread_rank() == 0 {
        parts[warp.meta_group_rank()] = part;
    }
    block.sync();
    parts.iter().copied().reduce(|a, b| joined(a, b)).unwrap()
}

#[device]
fn root_mean_square(block: &ThreadBlock, parts: &SharedSlice<f32>, own: &[[f32; 8]; 2]) -> f32 {
    let squares = own.iter().map(|eight| eight.iter().map(|x| x * x).sum::<f32>()).sum::<f32>();
    let all = of_block(block, parts, squares, |a, b| a + b);
    (all / HIDDEN as f32 + 1e-6).sqrt()
}

#[device]
fn largest(block: &ThreadBlock, parts: &SharedSlice<f32>, own: &[[f32; 8]; 2]) -> f32 {
    let most = own.iter().map(|eight| eight.iter().map(|x| x.abs()).fold(0.0, f32::max)).fold(0.0, f32::max);
    of_block(block, parts, most, |a, b| a.max(b))
}

/// Adds an update to states, and divides the sums by their root mean square; what that gives has eight bits. A block for each state.
#[cluster_kernel(block = 256)]
fn normed(states: &[f16], updates: &[f16], weights: &[f16], sums: &mut [f16], out: &mut [i8], steps: &mut [f32]) {
    let block = this_thread_block();
    let of_warps = shared_array::<[f32; 8], 2>();
    let (state, i) = (this_grid().block_rank(), block.thread_rank() as usize);
    let column = |k: usize| (k * 256 + i) * 8;

    let mut own = [[0.0; 8]; 2];
    for (k, eight) in own.iter_mut().enumerate() {
        let at = state * HIDDEN + column(k);
        let (old, update) = (states.load_vec::<8>(at), updates.load_vec::<8>(at));
        let sum = f16x8::new(std::array::from_fn(|lane| old[lane] + update[lane]));
        sums.store_vec(at, sum);
        *eight = std::array::from_fn(|lane| sum[lane].to_f32());
    }
    let root = root_mean_square(&block, &of_warps[0], &own);
    for (k, eight) in own.iter_mut().enumerate() {
        let weight = weights.load_vec::<8>(column(k));
        for (lane, x) in eight.iter_mut().enumerate() {
            *x = *x / root * weight[lane].to_f32();
        }
    }
    let step = largest(&block, &of_warps[1], &own) / 127.0;
    for (k, eight) in own.iter().enumerate() {
        let narrow = std::array::from_fn(|lane| (eight[lane] / step).round_ties_even() as i8);
        out.store_vec(state * HIDDEN + column(k), i8x8::new(narrow));
    }
    if i == 0 {
        steps[state] = step;
    }
}

/// The bases of a sequence, sixteen in a word, and those of the other sequence with which each is compared.
const BASES: usize = 128;
const BAND: usize = 16;

/// The points of a pair of bases that are alike, of one that is not, and of a gap.
const ALIKE: i32 = 2;
const OTHER: i32 = -3;
const GAP: i32 = -4;
/// Fewer points than any alignment has.
const NONE: i32 = -10_000;

/// The scores of a row, from those of the row above it, for a base and the sixteen bases beside it.
#[device]
fn next_row(scores: &mut [i32; BAND], base: u32, beside: u32) {
    let mut left = NONE;
    for k in 0..BAND {
        let pair = if (beside >> (2 * k)) & 3 == base { ALIKE } else { OTHER };
        let above = if k + 1 < BAND { scores[k + 1] } else { NONE };
        left = (scores[k] + pair).max(above + GAP).max(left + GAP);
        scores[k] = left;
    }
}

/// The scores of pairs of sequences of 128 bases (Needleman and Wunsch, 1970), whose gaps are few: a thread for each.
#[cluster_kernel(block = 128)]
fn aligned(queries: &[[u32; BASES / 16]], references: &[[u32; BASES / 16]], out: &mut [i32]) {
    let i = this_grid().thread_rank();
    let (query, reference) = (queries[i], references[i]);
    // In the first row, the first eight places lie before the reference.
    let mut scores: [i32; BAND] = std::array::from_fn(|k| if k < 8 { NONE } else { GAP * (k as i32 - 8) });
    let mut beside = reference[0] << 16;
    for (word, &bases) in query.iter().enumerate() {
        let further = reference.get(word + 1).copied().unwrap_or(0);
        let ahead = cuda::funnelshift_r(reference[word], further, 16);
        for k in 0..16 {
            next_row(&mut scores, (bases >> (2 * k)) & 3, beside);
            beside = beside >> 2 | (ahead >> (2 * k)) << 30;
        }
    }
    out[i] = scores[8];
}

/// The state of SipHash (Aumasson and Bernstein, 2012).
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Sip {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

#[device]
impl Sip {
    fn new([low, high]: [u64; 2]) -> Sip {
        Sip {
            a: low ^ 0x736f_6d65_7073_6575,
            b: high ^ 0x646f_7261_6e64_6f6d,
            c: low ^ 0x6c79_6765_6e65_7261,
            d: high ^ 0x7465_6462_7974_6573,
        }
    }

    fn mix(&mut self) {
        self.a = self.a.wrapping_add(self.b);
        self.b = self.b.rotate_left(13) ^ self.a;
        self.a = self.a.rotate_left(32);
        self.c = self.c.wrapping_add(self.d);
        self.d = self.d.rotate_left(16) ^ self.c;
        self.a = self.a.wrapping_add(self.d);
        self.d = self.d.rotate_left(21) ^ self.a;
        self.c = self.c.wrapping_add(self.b);
        self.b = self.b.rotate_left(17) ^ self.c;
        self.c = self.c.rotate_left(32);
    }

    fn absorb(&mut self, word: u64) {
        self.d ^= word;
        for _ in 0..2 {
            self.mix();
        }
        self.a ^= word;
    }

    fn finish(mut self) -> u64 {
        self.c ^= 0xff;
        for _ in 0..4 {
            self.mix();
        }
        self.a ^ self.b ^ self.c ^ self.d
    }
}

/// SipHash-2-4 of messages of 64 bytes: a thread for each.
#[cluster_kernel(block = 256)]
fn siphash(messages: &[[u64; 8]], key: [u64; 2], out: &mut [[u32; 2]]) {
    let i = this_grid().thread_rank();
    let mut state = Sip::new(key);
    for &word in &messages[i] {
        state.absorb(word);
    }
    state.absorb(64 << 56);
    let hash = state.finish();
    out[i] = [hash as u32, (hash >> 32) as u32];
}

const TWINS: &str = include_str!("../../twins/tokens.cu");

fn halves(seed: u64, len: usize) -> Vec<f16> {
    data::random(seed, len, |bits| f16::from_f32(data::real(bits)))
}

/// Probabilities of tokens: softmax of random logits, a row after the other.
fn likely(rows: usize) -> Vec<f32> {
    let logits = data::random(340, rows * VOCABULARY, |bits| (10.0 * data::real(bits)).exp());
    let row = |row: &[f32]| {
        let sum: f32 = row.iter().sum();
        row.iter().map(|x| x / sum).collect::<Vec<f32>>()
    };
    logits.chunks(VOCABULARY).flat_map(row).collect()
}

/// The logarithms of the likeliest tokens' probabilities, by sorting.
fn likeliest(row: &[f32], share: f32) -> Vec<f64> {
    let masses: Vec<u64> = row.iter().map(|&p| (f64::from(p) * f64::from(ONE)) as u64).collect();
    let mut sorted = masses.clone();
    sorted.sort_by(|a, b| b.cmp(a));
    let mut sum = 0;
    let least = sorted.into_iter().find(|mass| {
        sum += mass;
        sum as f32 >= share * ONE
    });
    let least = least.unwrap_or(0);
    let kept: u64 = masses.iter().filter(|&&mass| mass >= least).sum();
    let one = |mass: u64| if mass >= least { (mass as f64 / kept as f64).ln() } else { f32::MIN.into() };
    masses.into_iter().map(one).collect()
}

/// A state and an update as eight bits.
fn quantized(state: &[f16], update: &[f16], weights: &[f16]) -> Vec<f64> {
    let sums = state.iter().zip(update).map(|(a, b)| f64::from(f16::from_f32(a.to_f32() + b.to_f32())));
    let sums: Vec<f64> = sums.collect();
    let root = (sums.iter().map(|x| x * x).sum::<f64>() / HIDDEN as f64 + 1e-6).sqrt();
    let normed: Vec<f64> = sums.iter().zip(weights).map(|(x, &weight)| x / root * f64::from(weight)).collect();
    let most = normed.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    normed.into_iter().map(|x| (x / most * 127.0).round_ties_even()).collect()
}

/// The score of a pair of sequences, by the whole table without what lies outside of the band.
fn scored(query: [u32; BASES / 16], reference: [u32; BASES / 16]) -> i32 {
    let base = |words: [u32; BASES / 16], i: usize| (words[i / 16] >> (i % 16 * 2)) & 3;
    let mut table = vec![[NONE; BASES + 1]; BASES + 1];
    for i in 0..=BASES {
        for j in (0..=BASES).filter(|&j| j + 8 >= i && j < i + 8) {
            let gap = |score: i32| score + GAP;
            let up = if i > 0 { gap(table[i - 1][j]) } else { NONE };
            let left = if j > 0 { gap(table[i][j - 1]) } else { NONE };
            table[i][j] = match (i, j) {
                (0, 0) => 0,
                (0, _) | (_, 0) => up.max(left),
                _ if base(query, i - 1) == base(reference, j - 1) => up.max(left).max(table[i - 1][j - 1] + ALIKE),
                _ => up.max(left).max(table[i - 1][j - 1] + OTHER),
            };
        }
    }
    table[BASES][BASES]
}

/// The standard library's SipHash-2-4.
#[expect(deprecated, reason = "its successor does not say which hash it is")]
fn hashed(message: &[u64; 8], [low, high]: [u64; 2]) -> [u32; 2] {
    let mut hasher = std::hash::SipHasher::new_with_keys(low, high);
    message.iter().for_each(|word| hasher.write(&word.to_le_bytes()));
    let hash = hasher.finish();
    [hash as u32, (hash >> 32) as u32]
}

fn cases(scale: Scale) -> Vec<Case> {
    let (rows, share): (usize, f32) = (scale.pick(1 << 10, 1), 0.9);
    let states: usize = scale.pick(1 << 13, 2);
    let pairs: usize = scale.pick(1 << 19, 128);
    let messages: usize = scale.pick(1 << 21, 256);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("nucleus", rows, "rows", 4 * rows, 256).cluster(4).bytes(8 * rows * VOCABULARY).case(
            move || likely(rows),
            rows * VOCABULARY,
            move |_| {
                launch([Argument::Real(share)], move |device, input, out| {
                    nucleus(input, out, share).grid(4 * rows as u32).enqueue(device)
                })?
                .like(move |rows| rows.chunks(VOCABULARY).flat_map(|row| likeliest(row, share)).collect::<Vec<f64>>())
            },
        ),
        pair("normed", states, "states", states, 256).bytes(7 * states * HIDDEN).case(
            move || halves(341, states * HIDDEN),
            states * HIDDEN,
            move |device| {
                let (updates, weights) = (halves(342, states * HIDDEN), halves(343, HIDDEN));
                let (u, w) = (Memory::upload(device, &updates)?, Memory::upload(device, &weights)?);
                let mut sums = Memory::<f16>::zeros(device, states * HIDDEN)?;
                let mut steps = Memory::zeros(device, states)?;
                let words = [u.address(), w.address(), sums.address(), steps.address()];
                launch(words.map(Argument::Word), move |device, input, out| {
                    let call = normed(input, &u.buffer, &w.buffer, &mut sums.buffer, out, &mut steps.buffer);
                    call.grid(states as u32).enqueue(device)
                })?
                .like(move |states| {
                    let rows = states.chunks(HIDDEN).zip(updates.chunks(HIDDEN));
                    rows.flat_map(|(state, update)| quantized(state, update, &weights)).collect::<Vec<f64>>()
                })
            },
        ),
        pair("aligned", pairs, "pairs", pairs / 128, 128).bytes(pairs * (BASES / 2 + 4)).case(
            move || data::random(344, pairs * BASES / 16, |bits| bits as u32).as_chunks().0.to_vec(),
            pairs,
            move |device| {
                // Each reference is its query with one base of eight replaced, and a gap after half of them.
                let queries = data::random(344, pairs * BASES / 16, |bits| bits as u32);
                let noise = data::random(345, pairs * BASES / 16, |bits| (bits & bits >> 7 & bits >> 19) as u32);
                let words: Vec<u32> = queries.iter().zip(&noise).map(|(word, noise)| word ^ noise).collect();
                let mut references: Vec<[u32; BASES / 16]> = words.as_chunks().0.to_vec();
                for reference in references.iter_mut().step_by(3) {
                    for word in 4..BASES / 16 {
                        reference[word] = reference[word] >> 4 | reference.get(word + 1).unwrap_or(&0) << 28;
                    }
                }
                let memory = Memory::upload(device, &references)?;
                launch([Argument::Word(memory.address())], move |device, input, out| {
                    aligned(input, &memory.buffer, out).grid((pairs / 128) as u32).enqueue(device)
                })?
                .like(move |queries| {
                    queries.iter().zip(&references).map(|(&query, &reference)| scored(query, reference)).collect()
                })
            },
        ),
        pair("siphash", messages, "messages", messages / 256, 256).bytes(72 * messages).case(
            move || data::random(346, 8 * messages, |bits| bits).as_chunks().0.to_vec(),
            2 * messages,
            move |_| {
                let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
                launch(key.map(Argument::Word), move |device, input, out| {
                    siphash(input, key, &mut *out.as_chunks_mut()?).grid((messages / 256) as u32).enqueue(device)
                })?
                .like(move |messages| messages.iter().flat_map(|message| hashed(message, key)).collect())
            },
        ),
    ]
}
