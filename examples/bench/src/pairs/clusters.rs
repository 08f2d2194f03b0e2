//! Work that the blocks of a cluster share through distributed shared memory, in fields other than the showcases'.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "clusters", about: "halos, centres, segments, samples, digits: by clusters of blocks", cases };

/// The blocks that share a plate, and the rows and columns of each block's part.
const PARTS: u32 = 4;
const ROWS: usize = 32;
const COLUMNS: usize = 128;

/// Steps of Jacobi's method on plates that a cluster holds in shared memory: the rows beside a block's own are its
/// neighbours'. A thread takes a column of sixteen cells; the border of the plate stays.
#[cluster_kernel(cluster = PARTS, block = (COLUMNS, 2))]
fn heat(plates: &[[f32; COLUMNS]], out: &mut [[f32; COLUMNS]], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (first, second) = (shared_array::<[f32; COLUMNS], ROWS>(), shared_array::<[f32; COLUMNS], ROWS>());
    let part = cluster.block_rank();
    let own = this_grid().block_rank() * ROWS;
    let column = block.thread_index().x as usize;
    let top = block.thread_index().y as usize * (ROWS / 2);
    for row in top..top + ROWS / 2 {
        first[row][column] = plates[own + row][column];
    }
    cluster.sync();
    for step in 0..steps {
        let (from, to) = if step % 2 == 0 { (&first, &second) } else { (&second, &first) };
        let above = cluster.map_shared_rank(from, part.saturating_sub(1));
        let below = cluster.map_shared_rank(from, (part + 1).min(PARTS - 1));
        for row in top..top + ROWS / 2 {
            let is_border = column == 0
                || column == COLUMNS - 1
                || (part == 0 && row == 0)
                || (part == PARTS - 1 && row == ROWS - 1);
            to[row][column] = if is_border {
                from[row][column]
            } else {
                let up = if row == 0 { above[ROWS - 1][column] } else { from[row - 1][column] };
                let down = if row == ROWS - 1 { below[0][column] } else { from[row + 1][column] };
                0.25 * (up + down + from[row][column - 1] + from[row][column + 1])
            };
        }
        cluster.sync();
    }
    let last = if steps % 2 == 0 { &first } else { &second };
    for row in top..top + ROWS / 2 {
        out[own + row][column] = last[row][column];
    }
}

/// The coordinates of a point, and the centres that each of four blocks holds.
const DIMENSIONS: usize = 32;
const CENTRES: usize = 64;

/// A candidate for the nearest centre.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Nearest {
    distance: f32,
    centre: u32,
}

#[device]
impl Nearest {
    fn or(self, other: Nearest) -> Nearest {
        if other.distance < self.distance { other } else { self }
    }
}

/// The nearest of 256 centres (a step of k-means): each block of a cluster compares the cluster's points with a quarter of the
/// centres, and decides for a quarter of the points.
#[cluster_kernel(cluster = 4, block = 128)]
fn nearest(points: &[[f32; DIMENSIONS]], centres: &[[f32; DIMENSIONS]], out: &mut [u32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let own = shared_array::<[f32; DIMENSIONS], CENTRES>();
    let candidates = shared_array::<Nearest, 128>();
    let (rank, i) = (cluster.block_rank() as usize, block.thread_rank() as usize);

    for k in (i..CENTRES * DIMENSIONS).step_by(128) {
        own[k / DIMENSIONS][k % DIMENSIONS] = centres[rank * CENTRES + k / DIMENSIONS][k % DIMENSIONS];
    }
    block.sync();

    let point = points[this_grid().cluster_rank() * 128 + i];
    let mut best = Nearest { distance: f32::INFINITY, centre: 0 };
    for (k, centre) in own.iter().enumerate() {
        let distance = point.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
        best = best.or(Nearest { distance, centre: (rank * CENTRES + k) as u32 });
    }
    candidates[i] = best;
    cluster.sync();

    if i < 32 {
        let decided = rank * 32 + i;
        let mut best = cluster.map_shared_rank(&candidates, 0)[decided];
        for peer in 1..4 {
            best = best.or(cluster.map_shared_rank(&candidates, peer)[decided]);
        }
        out[this_grid().cluster_rank() * 128 + decided] = best.centre;
    }
    cluster.sync();
}

/// The elements of a thread, a warp and a block of `segments`.
const ITEMS: usize = 8;
const BLOCK: usize = 256;

/// The sum since the last head of a segment, and whether there was one.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Run {
    sum: f32,
    broken: u32,
}

#[device]
fn joined(a: Run, b: Run) -> Run {
    Run { sum: if b.broken != 0 { b.sum } else { a.sum + b.sum }, broken: a.broken | b.broken }
}

/// Sums within segments of rows, which begin where a flag says so: a row for each cluster of four blocks.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn segments(values: &[f32], heads: &[u8], out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<Run, { BLOCK / 32 }>();
    let of_block = shared_array::<Run, 1>();
    let first = this_grid().thread_rank() * ITEMS;

    let zero = Run { sum: 0.0, broken: 0 };
    let (mut items, mut all) = ([zero; ITEMS], zero);
    for (item, (&value, &head)) in
        items.iter_mut().zip(values[first..first + ITEMS].iter().zip(&heads[first..first + ITEMS]))
    {
        all = joined(all, Run { sum: value, broken: head as u32 });
        *item = all;
    }
    let of_threads = warp.inclusive_scan(all, |a, b| joined(a, b));
    if warp.thread_rank() == 31 {
        of_warps[warp.meta_group_rank()] = of_threads;
    }
    block.sync();
    if block.thread_rank() == 0 {
        of_block[0] = of_warps.iter().fold(zero, |a, b| joined(a, *b));
    }
    cluster.sync();

    let mut before = zero;
    for peer in 0..cluster.block_rank() {
        before = joined(before, cluster.map_shared_rank(&of_block, peer)[0]);
    }
    before = of_warps.iter().take(warp.meta_group_rank() as usize).fold(before, |a, b| joined(a, *b));
    let beside = warp.shfl_up(of_threads, 1);
    if warp.thread_rank() > 0 {
        before = joined(before, beside);
    }
    for (k, &item) in items.iter().enumerate() {
        out[first + k] = joined(before, item).sum;
    }
    cluster.sync();
}

/// A token and its score.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Choice {
    score: f32,
    token: u32,
}

/// The better choice, or the smaller token of equals.
#[device]
fn better(a: Choice, b: Choice) -> Choice {
    if b.score > a.score || (b.score == a.score && b.token < a.token) { b } else { a }
}

/// A number between 0 and 1 that depends on a seed and two places.
#[device]
fn uniform(seed: u32, row: u32, column: u32) -> f32 {
    let mut x = seed ^ row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^= x >> 16;
    ((x >> 9) as f32 + 0.5) / (1 << 23) as f32
}

/// A token for each row of logits, drawn with a temperature (the largest logit with Gumbel's noise): a row for each cluster.
#[cluster_kernel(cluster = 4, block = 256)]
fn sampled(logits: &[f32], tokens: &mut [u32], vocabulary: usize, temperature: f32, seed: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<Choice, 8>();
    let of_block = shared_array::<Choice, 1>();
    let row = this_grid().cluster_rank();
    let logits = &logits[row * vocabulary..(row + 1) * vocabulary];

    let mut best = Choice { score: f32::NEG_INFINITY, token: 0 };
    for first in (cluster.thread_rank() as usize * 4..vocabulary).step_by(cluster.num_threads() as usize * 4) {
        let four = logits.load_vec::<4>(first);
        for k in 0..4 {
            let token = (first + k) as u32;
            let noise = -fast::ln(-fast::ln(uniform(seed, row as u32, token)));
            best = better(best, Choice { score: four[k] / temperature + noise, token });
        }
    }
    let best = warp.reduce(best, |a, b| better(a, b));
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = best;
    }
    block.sync();
    if block.thread_rank() == 0 {
        of_block[0] = of_warps.iter().copied().reduce(better).unwrap();
    }
    cluster.sync();
    if cluster.thread_rank() == 0 {
        let best =
            (1..cluster.num_blocks()).map(|peer| cluster.map_shared_rank(&of_block, peer)[0]).fold(of_block[0], better);
        tokens[row] = best.token;
    }
    cluster.sync();
}

const TWINS: &str = include_str!("../../twins/clusters.cu");

/// Jacobi's method on plates in `f64`.
fn heated(plates: &[[f32; COLUMNS]], steps: u32) -> Vec<f64> {
    let height = ROWS * PARTS as usize;
    let mut all: Vec<Vec<f64>> = plates.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect();
    for plate in all.chunks_mut(height) {
        for _ in 0..steps {
            let before = plate.to_vec();
            for row in 1..height - 1 {
                for column in 1..COLUMNS - 1 {
                    let (up, down, here) = (&before[row - 1], &before[row + 1], &before[row]);
                    plate[row][column] = (up[column] + down[column] + here[column - 1] + here[column + 1]) / 4.0;
                }
            }
        }
    }
    all.concat()
}

fn cases(scale: Scale) -> Vec<Case> {
    let (plates, steps): (usize, u32) = scale.pick((1024, 32), (2, 5));
    let points: usize = scale.pick(1 << 18, 256);
    let (rows, long): (usize, usize) = (scale.pick(1 << 12, 2), 4 * BLOCK * ITEMS);
    let (drawn, vocabulary): (usize, usize) = scale.pick((1 << 10, 1 << 15), (2, 1 << 13));
    let pair = |entry, size: usize, unit, clusters: usize, block| {
        Pair::new(entry, TWINS, (size as u64, unit), 4 * clusters as u32, block).cluster(4)
    };
    let numbers = |seed, len| data::random(seed, len, data::real);
    vec![
        pair("heat", plates, "plates", plates, 256).bytes(8 * plates * 4 * ROWS * COLUMNS).case(
            move || numbers(160, plates * 4 * ROWS * COLUMNS),
            plates * 4 * ROWS * COLUMNS,
            move |_| {
                launch([Argument::Number(steps)], move |device, input, out| {
                    let (input, mut out) = (input.as_chunks()?, out.as_chunks_mut()?);
                    heat(&input, &mut out, steps).grid(4 * plates as u32).enqueue(device)
                })?
                .like(move |plates| heated(plates.as_chunks().0, steps))
            },
        ),
        pair("nearest", points, "points", points / 128, 128).bytes(132 * points).case(
            move || numbers(161, points * DIMENSIONS).as_chunks::<DIMENSIONS>().0.to_vec(),
            points,
            move |device| {
                let centres = numbers(162, 4 * CENTRES * DIMENSIONS).as_chunks::<DIMENSIONS>().0.to_vec();
                let memory = Memory::upload(device, &centres)?;
                launch([Argument::Word(memory.address())], move |device, input, out| {
                    nearest(input, &memory.buffer, out).grid((points / 32) as u32).enqueue(device)
                })?
                .like(move |points| {
                    let distance = |point: &[f32; DIMENSIONS], centre: &[f32; DIMENSIONS]| {
                        point.iter().zip(centre).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
                    };
                    let best = |point: &[f32; DIMENSIONS]| {
                        let distances = centres.iter().map(|centre| distance(point, centre)).enumerate();
                        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k as u32)
                    };
                    points.iter().map(best).collect()
                })
            },
        ),
        pair("segments", rows, "rows", rows, BLOCK).bytes(9 * rows * long).case(
            move || numbers(163, rows * long),
            rows * long,
            move |device| {
                let heads = data::random(164, rows * long, |bits| u8::from(bits % 500 == 0));
                let memory = Memory::upload(device, &heads)?;
                launch([Argument::Word(memory.address())], move |device, input, out| {
                    segments(input, &memory.buffer, out).grid(4 * rows as u32).enqueue(device)
                })?
                .like(move |values| {
                    let mut sum = 0.0;
                    let next = |(k, &value): (usize, &f32)| {
                        let begins = k % long == 0 || heads[k] != 0;
                        sum = f64::from(value) + if begins { 0.0 } else { sum };
                        sum
                    };
                    values.iter().enumerate().map(next).collect()
                })
            },
        ),
        pair("sampled", vocabulary, "tokens", drawn, 256).bytes(4 * drawn * vocabulary).case(
            move || numbers(165, drawn * vocabulary),
            drawn,
            move |_| {
                let (temperature, seed) = (0.8, 17);
                let further =
                    vec![Argument::Word(vocabulary as u64), Argument::Real(temperature), Argument::Number(seed)];
                launch(further, move |device, input, out| {
                    sampled(input, out, vocabulary, temperature, seed).grid(4 * drawn as u32).enqueue(device)
                })?
                .like(move |logits| {
                    let score = |row: usize, k: usize, logit: f32| {
                        let noise = -(-f64::from(uniform(seed, row as u32, k as u32)).ln()).ln();
                        f64::from(logit) / f64::from(temperature) + noise
                    };
                    let best = |(row, logits): (usize, &[f32])| {
                        let scores = logits.iter().enumerate().map(|(k, &logit)| (k, score(row, k, logit)));
                        scores.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k as u32)
                    };
                    logits.chunks(vocabulary).enumerate().map(best).collect()
                })
            },
        ),
    ]
}
