//! Steps of models that answer requests: attention over pages of a cache, experts, norms of groups of channels, gates.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "serving", about: "attention over pages, choices of experts, norms of groups, gates", cases };

/// The tokens of a page, and the numbers of a key or a value.
const PAGE: usize = 16;
const HEAD: usize = 128;

/// The tokens that a block attends to at once: sixteen threads take one.
const TEAMS: usize = 8;

/// The attention of one new token to those in a cache of pages (Kwon et al., "PagedAttention", 2023): a block for each
/// sequence, whose pages `tables` names.
#[cluster_kernel(block = 128)]
fn paged(
    queries: &[f32],
    keys: &[f16],
    values: &[f16],
    tables: &[u32],
    lengths: &[u32],
    out: &mut [f32],
    most_pages: usize,
) {
    let block = this_thread_block();
    let team = tiled_partition::<16>(&block);
    let of_teams = shared_array::<[f32; 2], TEAMS>();
    let parts = shared_array::<[f32; HEAD], TEAMS>();
    let sequence = this_grid().block_rank();
    let (own, first) = (team.meta_group_rank() as usize, 8 * team.thread_rank() as usize);
    let pages = &tables[sequence * most_pages..(sequence + 1) * most_pages];
    let query: [f32; 8] = std::array::from_fn(|k| queries[sequence * HEAD + first + k] / (HEAD as f32).sqrt());

    let (mut most, mut sum, mut mixed) = (f32::NEG_INFINITY, 0.0, [0.0; 8]);
    for token in (own..lengths[sequence] as usize).step_by(TEAMS) {
        let at = (pages[token / PAGE] as usize * PAGE + token % PAGE) * HEAD + first;
        let (key, value) = (keys.load_vec::<8>(at), values.load_vec::<8>(at));
        let product = query.iter().enumerate().map(|(k, x)| x * key[k].to_f32()).sum::<f32>();
        let score = team.reduce(product, op::Plus);
        let next = most.max(score);
        let (kept, weight) = (fast::exp(most - next), fast::exp(score - next));
        (most, sum) = (next, sum.mul_add(kept, weight));
        for (k, x) in mixed.iter_mut().enumerate() {
            *x = x.mul_add(kept, weight * value[k].to_f32());
        }
    }

    for (k, &x) in mixed.iter().enumerate() {
        parts[own][first + k] = x;
    }
    if first == 0 {
        of_teams[own] = [most, sum];
    }
    block.sync();
    let column = block.thread_rank() as usize;
    let most = of_teams.iter().map(|of_team| of_team[0]).fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut total) = (0.0, 0.0);
    for (&[largest, part], row) in of_teams.iter().zip(parts.iter()) {
        let weight = fast::exp(largest - most);
        sum = part.mul_add(weight, sum);
        total = row[column].mul_add(weight, total);
    }
    out[sequence * HEAD + column] = total / sum;
}

/// The experts among which a token's are chosen.
const EXPERTS: usize = 128;

/// An expert and its score.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Choice {
    score: f32,
    expert: u32,
}

#[device]
fn better(a: Choice, b: Choice) -> Choice {
    if b.score > a.score || (b.score == a.score && b.expert < a.expert) { b } else { a }
}

/// The best of four experts but one.
#[device]
fn best(scores: f32x4, first: u32, but: Option<u32>) -> Choice {
    (0..4)
        .map(|k| Choice { score: scores[k], expert: first + k as u32 })
        .filter(|choice| Some(choice.expert) != but)
        .fold(Choice { score: f32::NEG_INFINITY, expert: u32::MAX }, better)
}

/// The two best experts of each token, with the probabilities that softmax gives them: a warp for each token.
#[cluster_kernel(block = 256)]
fn experts(logits: &[f32], chosen: &mut [[u32; 2]], weights: &mut [[f32; 2]]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let token = this_grid().thread_rank() / 32;
    let first = 4 * warp.thread_rank();
    let scores = logits[token * EXPERTS..][..EXPERTS].load_vec::<4>(first as usize);
    let one = warp.reduce(best(scores, first, None), better);
    let two = warp.reduce(best(scores, first, Some(one.expert)), better);
    let sum = warp.reduce((0..4).map(|k| fast::exp(scores[k] - one.score)).sum::<f32>(), op::Plus);
    warp.invoke_one(|| {
        chosen[token] = [one.expert, two.expert];
        weights[token] = [1.0 / sum, fast::exp(two.score - one.score) / sum];
    });
}

/// The channels of a group, the pixels of a picture, the blocks that share a group, and the vectors of a thread.
const GROUP: usize = 32;
const PIXELS: usize = 4096;
const PARTS: usize = 4;
const VECTORS: usize = PIXELS * GROUP / (PARTS * 256 * 8);

/// Norms of groups of channels that lie side by side (Wu and He, "Group normalization", 2018): a cluster for each group.
#[cluster_kernel(cluster = PARTS, block = 256)]
fn group_norm(pictures: &[f16], weights: &[f32], biases: &[f32], out: &mut [f16], channels: usize) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<[f32; 2], 8>();
    let of_block = shared_array::<[f32; 2], 1>();
    let groups = channels / GROUP;
    let (picture, group) = (this_grid().cluster_rank() / groups, this_grid().cluster_rank() % groups);
    let i = block.thread_rank() as usize;
    let column = group * GROUP + i % 4 * 8;
    let first = picture * PIXELS + cluster.block_rank() as usize * (PIXELS / PARTS) + i / 4;
    let at = |k: usize| (first + 64 * k) * channels + column;

    let own: [f16x8; VECTORS] = std::array::from_fn(|k| pictures.load_vec::<8>(at(k)));
    let (mut sum, mut squares) = (0.0, 0.0);
    for values in &own {
        for k in 0..8 {
            let x = values[k].to_f32();
            sum += x;
            squares = x.mul_add(x, squares);
        }
    }
    let parts = [warp.reduce(sum, op::Plus), warp.reduce(squares, op::Plus)];
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = parts;
    }
    block.sync();
    if i == 0 {
        of_block[0] = of_warps.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
    }
    cluster.sync();
    let [mut sum, mut squares] = [0.0; 2];
    for peer in 0..cluster.num_blocks() {
        let [a, b] = cluster.map_shared_rank(&of_block, peer)[0];
        sum += a;
        squares += b;
    }
    let count = (PIXELS * GROUP) as f32;
    let mean = sum / count;
    let scale = (squares / count - mean * mean + 1e-5).rsqrt();

    let (weight, bias): ([f32; 8], [f32; 8]) =
        (std::array::from_fn(|k| weights[column + k]), std::array::from_fn(|k| biases[column + k]));
    for (k, values) in own.iter().enumerate() {
        let normed = std::array::from_fn(|lane| {
            let x = (values[lane].to_f32() - mean) * scale;
            f16::from_f32(x.mul_add(weight[lane], bias[lane]))
        });
        out.store_vec(at(k), f16x8::new(normed));
    }
    cluster.sync();
}

#[device]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + fast::exp(-x))
}

/// A step of long short-term memory after its products (Hochreiter and Schmidhuber, 1997): a row of `sums` holds those of
/// the input's gate, the gate that forgets, the candidate and the output's gate.
#[cluster_kernel(block = 256)]
fn gates(sums: &[f32], biases: &[f32], cells: &[f32], next: &mut [f32], out: &mut [f32], width: u32) {
    let i = this_grid().thread_rank() as u32;
    let (row, column) = (i / width, i % width);
    let [input, forget, candidate, output] = std::array::from_fn(|k| {
        let gate = k as u32 * width + column;
        sums[row * 4 * width + gate] + biases[gate]
    });
    let cell = sigmoid(forget) * cells[i] + sigmoid(input) * candidate.tanh();
    next[i] = cell;
    out[i] = sigmoid(output) * cell.tanh();
}

const TWINS: &str = include_str!("../../twins/serving.cu");

fn halves(seed: u64, len: usize) -> Vec<f16> {
    data::random(seed, len, |bits| f16::from_f32(data::real(bits)))
}

/// Attention in `f64`.
fn attended(query: &[f32], keys: &[f16], values: &[f16], tokens: &[usize]) -> Vec<f64> {
    let score = |&token: &usize| {
        let key = &keys[token * HEAD..][..HEAD];
        query.iter().zip(key).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>() / (HEAD as f64).sqrt()
    };
    let weights: Vec<f64> = tokens.iter().map(|token| score(token).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let column = |k: usize| {
        let parts = tokens.iter().zip(&weights).map(|(token, weight)| weight * f64::from(values[token * HEAD + k]));
        parts.sum::<f64>() / sum
    };
    (0..HEAD).map(column).collect()
}

fn cases(scale: Scale) -> Vec<Case> {
    let (sequences, most_pages): (usize, usize) = scale.pick((1024, 128), (3, 4));
    let tokens: usize = scale.pick(1 << 19, 16);
    let (pictures, channels): (usize, usize) = scale.pick((64, 256), (1, 64));
    let (rows, width): (usize, usize) = scale.pick((1 << 13, 2048), (4, 128));
    let clusters = pictures * channels / GROUP;
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("paged", sequences, "sequences", sequences, 128)
            .bytes(4 * HEAD * sequences * most_pages * PAGE / 4 * 3)
            .case(
                move || data::random(220, HEAD * sequences, |bits| 4.0 * data::real(bits)),
                HEAD * sequences,
                move |device| {
                    let pages = sequences * most_pages;
                    let (keys, values) = (halves(221, pages * PAGE * HEAD), halves(222, pages * PAGE * HEAD));
                    // A page of each sequence after the other, in turns.
                    let tables: Vec<u32> =
                        (0..pages).map(|i| (i % most_pages * sequences + i / most_pages) as u32).collect();
                    // From half of the pages to all of them.
                    let half = (most_pages * PAGE / 2) as u32;
                    let lengths: Vec<u32> =
                        data::below(223, sequences, half).into_iter().map(|more| half + more + 1).collect();
                    let (k, v) = (Memory::upload(device, &keys)?, Memory::upload(device, &values)?);
                    let (t, l) = (Memory::upload(device, &tables)?, Memory::upload(device, &lengths)?);
                    let words = [k.address(), v.address(), t.address(), l.address(), most_pages as u64];
                    launch(words.map(Argument::Word), move |device, input, out| {
                        let call = paged(input, &k.buffer, &v.buffer, &t.buffer, &l.buffer, out, most_pages);
                        call.grid(sequences as u32).enqueue(device)
                    })?
                    .like(move |queries| {
                        let one = |sequence: usize| {
                            let place = |token: usize| {
                                tables[sequence * most_pages + token / PAGE] as usize * PAGE + token % PAGE
                            };
                            let tokens: Vec<usize> = (0..lengths[sequence] as usize).map(place).collect();
                            attended(&queries[sequence * HEAD..][..HEAD], &keys, &values, &tokens)
                        };
                        (0..sequences).flat_map(one).collect::<Vec<f64>>()
                    })
                },
            ),
        pair("experts", tokens, "tokens", tokens / 8, 256).bytes((4 * EXPERTS + 16) * tokens).case(
            move || data::random(224, EXPERTS * tokens, |bits| 4.0 * data::real(bits)),
            2 * tokens,
            move |device| {
                let mut chosen = Memory::<[u32; 2]>::zeros(device, tokens)?;
                launch([Argument::Word(chosen.address())], move |device, input, out| {
                    let mut weights = out.as_chunks_mut()?;
                    experts(input, &mut chosen.buffer, &mut weights).grid((tokens / 8) as u32).enqueue(device)
                })?
                .like(|logits| {
                    let two = |logits: &[f32]| {
                        let mut weights: Vec<f64> = logits.iter().map(|&x| f64::from(x).exp()).collect();
                        let sum: f64 = weights.iter().sum();
                        weights.sort_by(|a, b| b.total_cmp(a));
                        [weights[0] / sum, weights[1] / sum]
                    };
                    logits.chunks(EXPERTS).flat_map(two).collect::<Vec<f64>>()
                })
            },
        ),
        pair("group_norm", channels, "channels", PARTS * clusters, 256)
            .cluster(PARTS as u32)
            .bytes(4 * pictures * PIXELS * channels)
            .case(
                move || data::random(225, pictures * PIXELS * channels, |bits| f16::from_f32(0.5 + data::real(bits))),
                pictures * PIXELS * channels,
                move |device| {
                    let (weights, biases) = (data::reals(226, channels), data::reals(227, channels));
                    let (w, b) = (Memory::upload(device, &weights)?, Memory::upload(device, &biases)?);
                    let words = [w.address(), b.address(), channels as u64].map(Argument::Word);
                    launch(words, move |device, input, out| {
                        let call = group_norm(input, &w.buffer, &b.buffer, out, channels);
                        call.grid((PARTS * clusters) as u32).enqueue(device)
                    })?
                    .like(move |pictures| {
                        let moments = |picture: usize, group: usize| {
                            let pixels = pictures[picture * PIXELS * channels..].chunks(channels).take(PIXELS);
                            let numbers = pixels.flat_map(|pixel| &pixel[group * GROUP..][..GROUP]);
                            let (sum, squares) = numbers.fold((0.0, 0.0), |(sum, squares), &x| {
                                (sum + f64::from(x), squares + f64::from(x).powi(2))
                            });
                            let count = (PIXELS * GROUP) as f64;
                            (sum / count, (squares / count - (sum / count).powi(2) + 1e-5).sqrt())
                        };
                        let all: Vec<(f64, f64)> =
                            (0..clusters).map(|k| moments(k * GROUP / channels, k % (channels / GROUP))).collect();
                        let one = |(i, &x): (usize, &f16)| {
                            let (picture, channel) = (i / (PIXELS * channels), i % channels);
                            let (mean, deviation) = all[picture * channels / GROUP + channel / GROUP];
                            (f64::from(x) - mean) / deviation * f64::from(weights[channel]) + f64::from(biases[channel])
                        };
                        pictures.iter().enumerate().map(one).collect::<Vec<f64>>()
                    })
                },
            ),
        pair("gates", width, "columns", rows * width / 256, 256).bytes(28 * rows * width).case(
            move || data::random(228, 4 * rows * width, |bits| 3.0 * data::real(bits)),
            rows * width,
            move |device| {
                let (biases, cells) = (data::reals(229, 4 * width), data::reals(230, rows * width));
                let (b, c) = (Memory::upload(device, &biases)?, Memory::upload(device, &cells)?);
                let mut next = Memory::zeros(device, rows * width)?;
                let words = [b.address(), c.address(), next.address()].map(Argument::Word);
                let further = [&words[..], &[Argument::Number(width as u32)]].concat();
                launch(further, move |device, input, out| {
                    let call = gates(input, &b.buffer, &c.buffer, &mut next.buffer, out, width as u32);
                    call.grid((rows * width / 256) as u32).enqueue(device)
                })?
                .like(move |sums| {
                    let one = |i: usize| {
                        let (row, column) = (i / width, i % width);
                        let sum = |gate: usize| {
                            let at = gate * width + column;
                            f64::from(sums[row * 4 * width + at]) + f64::from(biases[at])
                        };
                        let part = |gate: usize| 1.0 / (1.0 + (-sum(gate)).exp());
                        let cell = part(1) * f64::from(cells[i]) + part(0) * sum(2).tanh();
                        part(3) * cell.tanh()
                    };
                    (0..rows * width).map(one).collect::<Vec<f64>>()
                })
            },
        ),
    ]
}
