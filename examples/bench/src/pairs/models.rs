//! Steps of language models beside products and attention: state spaces, four-bit weights, norms of heads, drafts.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "models", about: "selective scans, four-bit weights, norms of heads, drafts", cases };

/// The states of a channel.
const STATES: usize = 16;

/// `ln(1 + exp(x))`, without overflow.
#[device]
fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { fast::ln(1.0 + fast::exp(x)) }
}

/// A selective scan (Gu and Dao, "Mamba", 2023): a thread takes a channel of a sequence through time.
#[cluster_kernel(block = 128)]
fn selective(
    input: &[f32],
    widths: &[f32],
    rates: &[[f32; STATES]],
    inward: &[[f32; STATES]],
    outward: &[[f32; STATES]],
    out: &mut [f32],
    channels: usize,
) {
    let channel = this_grid().thread_rank();
    if channel >= channels {
        return;
    }
    let rates = rates[channel];
    let mut state = [0.0; STATES];
    for (time, (into, from)) in inward.iter().zip(outward).enumerate() {
        let at = time * channels + channel;
        let (x, width) = (input[at], softplus(widths[at]));
        let mut y = 0.0;
        for (k, s) in state.iter_mut().enumerate() {
            *s = s.mul_add(fast::exp(width * rates[k]), width * x * into[k]);
            y = s.mul_add(from[k], y);
        }
        out[at] = y;
    }
}

/// The weights that share a scale and a zero.
const GROUP: usize = 128;

/// Four-bit weights of a group: eight in each word, the first one lowest.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Scale4 {
    scale: f16,
    zero: u16,
}

/// A matrix of four-bit weights times a vector: a warp for each row, a lane takes four words at a time.
#[cluster_kernel(block = 256)]
fn four_bits(weights: &[u32], scales: &[Scale4], vector: &[f32], out: &mut [f32], columns: usize) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let row = this_grid().thread_rank() / 32;
    let words = &weights[row * columns / 8..(row + 1) * columns / 8];
    let scales = &scales[row * columns / GROUP..(row + 1) * columns / GROUP];
    let mut sum = 0.0;
    for first in (warp.thread_rank() as usize * 4..words.len()).step_by(128) {
        let Scale4 { scale, zero } = scales[first * 8 / GROUP];
        let four = words.load_vec::<4>(first);
        let mut part = 0.0;
        for k in 0..4 {
            for nibble in 0..8 {
                let weight = (four[k] >> (4 * nibble)) & 15;
                part = (weight as f32 - zero as f32).mul_add(vector[(first + k) * 8 + nibble], part);
            }
        }
        sum = scale.to_f32().mul_add(part, sum);
    }
    let sum = warp.reduce(sum, op::Plus);
    if warp.thread_rank() == 0 {
        out[row] = sum;
    }
}

/// The numbers of a head.
const HEAD: usize = 128;

/// Heads divided by their root mean square, weighted, and rotated by their position: a warp for each head.
#[cluster_kernel(block = 128)]
fn heads(input: &[bf16], weights: &[bf16], angles: &[[f32; 2]], out: &mut [bf16], heads: usize) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let rank = this_grid().thread_rank() / 32;
    let position = rank / heads;
    let lane = warp.thread_rank() as usize;
    let (input, out) = (&input[rank * HEAD..][..HEAD], &mut out[rank * HEAD..][..HEAD]);

    // Two numbers of the first half, and those that they are rotated with.
    let (low, high) = (input.load_vec::<2>(2 * lane), input.load_vec::<2>(HEAD / 2 + 2 * lane));
    let values = [low[0], low[1], high[0], high[1]].map(|x| x.to_f32());
    let squares = values.iter().map(|x| x * x).sum::<f32>();
    let scale = fast::rsqrt(warp.reduce(squares, op::Plus) / HEAD as f32 + 1e-6);

    let (mut rotated_low, mut rotated_high) = (low, high);
    for k in 0..2 {
        let column = 2 * lane + k;
        let [cosine, sine] = angles[position * (HEAD / 2) + column];
        let a = values[k] * scale * weights[column].to_f32();
        let b = values[k + 2] * scale * weights[column + HEAD / 2].to_f32();
        rotated_low[k] = bf16::from_f32(a * cosine - b * sine);
        rotated_high[k] = bf16::from_f32(b * cosine + a * sine);
    }
    out.store_vec(2 * lane, rotated_low);
    out.store_vec(HEAD / 2 + 2 * lane, rotated_high);
}

/// The tokens of a draft.
const DRAFT: usize = 8;

/// How many tokens of a draft are kept, and the probability that is left for the one after them (Leviathan et al., 2022). A
/// block for each draft: the rows of `wanted` and `drafted` are probabilities of the tokens, at each place of the draft.
#[cluster_kernel(block = 256)]
fn drafts(
    wanted: &[f32],
    drafted: &[f32],
    tokens: &[[u32; DRAFT]],
    chances: &[[f32; DRAFT]],
    out: &mut [f32],
    vocabulary: usize,
) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<f32, 8>();
    let draft = this_grid().block_rank();
    let at = |place: usize, token: usize| (draft * DRAFT + place) * vocabulary + token;

    let kept = tokens[draft]
        .iter()
        .zip(&chances[draft])
        .enumerate()
        .position(|(place, (&token, &chance))| {
            let i = at(place, token as usize);
            chance * drafted[i] > wanted[i]
        })
        .unwrap_or(DRAFT);

    let mut left = 0.0;
    if kept < DRAFT {
        let row = at(kept, 0);
        for token in (block.thread_rank() as usize..vocabulary).step_by(256) {
            left += (wanted[row + token] - drafted[row + token]).max(0.0);
        }
    }
    let left = warp.reduce(left, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = left;
    }
    block.sync();
    if block.thread_rank() == 0 {
        out[2 * draft] = kept as f32;
        out[2 * draft + 1] = of_warps.iter().sum::<f32>();
    }
}

const TWINS: &str = include_str!("../../twins/models.cu");

/// Rows of random probabilities of `vocabulary` tokens.
fn probabilities(seed: u64, rows: usize, vocabulary: usize) -> Vec<f32> {
    data::random(seed, rows * vocabulary, |bits| (data::real(bits) + 1.0) / vocabulary as f32)
}

fn cases(scale: Scale) -> Vec<Case> {
    let (channels, times): (usize, usize) = scale.pick((1 << 15, 1024), (128, 32));
    let (rows, columns): (usize, usize) = scale.pick((1 << 15, 8192), (16, 2048));
    let (positions, heads_of): (usize, usize) = scale.pick((1 << 14, 32), (8, 4));
    let (drafted, vocabulary): (usize, usize) = scale.pick((256, 1 << 15), (4, 2048));
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let of_states = |numbers: Vec<f32>| numbers.as_chunks::<STATES>().0.to_vec();
    let narrow = |seed, len| data::random(seed, len, |bits| bf16::from_f32(data::real(bits)));
    vec![
        pair("selective", channels, "channels", channels / 128, 128).bytes(12 * channels * times).case(
            move || data::reals(170, channels * times),
            channels * times,
            move |device| {
                let widths = data::reals(171, channels * times);
                let rates = of_states(data::random(172, STATES * channels, |bits| data::real(bits) - 1.1));
                let (into, from) =
                    (of_states(data::reals(173, STATES * times)), of_states(data::reals(174, STATES * times)));
                let (w, r) = (Memory::upload(device, &widths)?, Memory::upload(device, &rates)?);
                let (i, f) = (Memory::upload(device, &into)?, Memory::upload(device, &from)?);
                let words = [w.address(), r.address(), i.address(), f.address(), channels as u64, times as u64];
                launch(words.map(Argument::Word), move |device, input, out| {
                    let call = selective(input, &w.buffer, &r.buffer, &i.buffer, &f.buffer, out, channels);
                    call.grid((channels / 128) as u32).enqueue(device)
                })?
                .like(move |input| {
                    let mut states = vec![[0.0; STATES]; channels];
                    let mut step = |at: usize| {
                        let (time, channel) = (at / channels, at % channels);
                        let width = f64::from(widths[at]).exp().ln_1p();
                        let next = |k: usize| {
                            let state = &mut states[channel][k];
                            let gain = width * f64::from(input[at]) * f64::from(into[time][k]);
                            *state = *state * (width * f64::from(rates[channel][k])).exp() + gain;
                            *state * f64::from(from[time][k])
                        };
                        (0..STATES).map(next).sum::<f64>()
                    };
                    (0..channels * times).map(&mut step).collect()
                })
            },
        ),
        pair("four_bits", columns, "columns", rows / 8, 256).bytes(rows * columns / 2).case(
            move || data::random(175, rows * columns / 8, |bits| (bits >> 32) as u32),
            rows,
            move |device| {
                let of = |bits: u64| Scale4 { scale: f16::from_f32(0.01 * data::real(bits)), zero: (bits % 16) as u16 };
                let (scales, vector) = (data::random(176, rows * columns / GROUP, of), data::reals(177, columns));
                let (s, v) = (Memory::upload(device, &scales)?, Memory::upload(device, &vector)?);
                let words = [s.address(), v.address(), columns as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    four_bits(input, &s.buffer, &v.buffer, out, columns).grid((rows / 8) as u32).enqueue(device)
                })?
                .like(move |weights| {
                    let term = |i: usize| {
                        let Scale4 { scale, zero } = scales[i / GROUP];
                        let weight = f64::from((weights[i / 8] >> (i % 8 * 4)) & 15) - f64::from(zero);
                        scale.to_f64() * weight * f64::from(vector[i % columns])
                    };
                    (0..rows).map(|row| (row * columns..(row + 1) * columns).map(term).sum::<f64>()).collect()
                })
            },
        ),
        pair("heads", positions, "positions", positions * heads_of / 4, 128)
            .bytes(4 * positions * heads_of * HEAD)
            .case(
                move || narrow(178, positions * heads_of * HEAD),
                positions * heads_of * HEAD,
                move |device| {
                    let weights = narrow(179, HEAD);
                    let angle = |bits: u64| <[f32; 2]>::from((4.0 * data::real(bits)).sin_cos());
                    let angles = data::random(180, positions * HEAD / 2, angle);
                    let (w, a) = (Memory::upload(device, &weights)?, Memory::upload(device, &angles)?);
                    let words = [w.address(), a.address(), heads_of as u64].map(Argument::Word);
                    launch(words, move |device, input, out| {
                        let call = heads(input, &w.buffer, &a.buffer, out, heads_of);
                        call.grid((positions * heads_of / 4) as u32).enqueue(device)
                    })?
                    .like(move |input| {
                        let one = |(rank, head): (usize, &[bf16])| {
                            let squares = head.iter().map(|x| x.to_f64().powi(2)).sum::<f64>();
                            let scale = (squares / HEAD as f64 + 1e-6).sqrt().recip();
                            let value = |k: usize| head[k].to_f64() * scale * weights[k].to_f64();
                            let turned = |k: usize| {
                                let [c, s] = angles[rank / heads_of * (HEAD / 2) + k % (HEAD / 2)].map(f64::from);
                                let (a, b) = (value(k % (HEAD / 2)), value(k % (HEAD / 2) + HEAD / 2));
                                bf16::from_f64(if k < HEAD / 2 { a * c - b * s } else { b * c + a * s })
                            };
                            (0..HEAD).map(turned).collect::<Vec<bf16>>()
                        };
                        input.chunks(HEAD).enumerate().flat_map(one).collect()
                    })
                },
            ),
        pair("drafts", vocabulary, "tokens", drafted, 256).bytes(8 * drafted * vocabulary).case(
            move || probabilities(181, drafted * DRAFT, vocabulary),
            2 * drafted,
            move |device| {
                let other = probabilities(182, drafted * DRAFT, vocabulary);
                let tokens = data::below(183, drafted * DRAFT, vocabulary as u32);
                let chances = data::random(184, drafted * DRAFT, |bits| 0.3 + 0.3 * data::real(bits));
                let o = Memory::upload(device, &other)?;
                let t = Memory::upload(device, tokens.as_chunks::<DRAFT>().0)?;
                let c = Memory::upload(device, chances.as_chunks::<DRAFT>().0)?;
                let words = [o.address(), t.address(), c.address(), vocabulary as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    let call = drafts(input, &o.buffer, &t.buffer, &c.buffer, out, vocabulary);
                    call.grid(drafted as u32).enqueue(device)
                })?
                .like(move |wanted| {
                    let one = |draft: usize| {
                        let kept = (DRAFT * draft..DRAFT * (draft + 1)).find(|&place| {
                            let i = place * vocabulary + tokens[place] as usize;
                            chances[place] * other[i] > wanted[i]
                        });
                        let left = kept.map_or(0.0, |place| {
                            let row = place * vocabulary..(place + 1) * vocabulary;
                            row.map(|i| f64::from(wanted[i] - other[i]).max(0.0)).sum::<f64>()
                        });
                        [kept.map_or(DRAFT, |place| place - DRAFT * draft) as f64, left]
                    };
                    (0..drafted).flat_map(one).collect::<Vec<f64>>()
                })
            },
        ),
    ]
}
