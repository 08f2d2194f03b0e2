//! Steps of encoders and decoders of video: motion, colours, edges of blocks, sums of rectangles.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "videos", about: "motion, colours, deblocking, sums of rectangles", cases };

/// The rows and columns of a block of pixels, how far it may have moved, and words of four pixels that lie in a row of it
/// and of the window in which it is searched.
const BLOCK: usize = 16;
const REACH: usize = 8;
const WORDS: usize = BLOCK / 4;
const WINDOW: usize = BLOCK + 2 * REACH;

/// The sum of the absolute differences of a row of pixels and that which begins at pixel `x` of a row of the window.
#[device]
fn difference(pixels: &SharedSlice<u32>, window: &SharedSlice<u32>, x: usize) -> u32 {
    let (word, shift) = (x / 4, (x % 4) as u32 * 8);
    let moved = |k: usize| cuda::funnelshift_r(window[word + k], window[word + k + 1], shift);
    pixels.iter().enumerate().map(|(k, &four)| cuda::vsadu4(four, moved(k))).sum::<u32>()
}

/// Where each block of 16 by 16 pixels was in the picture before, which has a border as wide as the reach: a thread for each place.
#[cluster_kernel(block = (BLOCK, BLOCK))]
fn motion(now: &[u32], before: &[u32], vectors: &mut [[i16; 2]], width: usize) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let pixels = shared_array::<[u32; WORDS], BLOCK>();
    let window = shared_array::<[u32; WINDOW / 4], WINDOW>();
    let of_warps = shared_array::<u32, 8>();
    let rank = block.thread_rank() as usize;
    let (x, y) = (block.thread_index().x as usize, block.thread_index().y as usize);
    let place = this_grid().block_rank();
    let (row, column) = (place / (width / BLOCK) * BLOCK, place % (width / BLOCK) * WORDS);

    if rank < BLOCK * WORDS {
        pixels[rank / WORDS][rank % WORDS] = now[(row + rank / WORDS) * (width / 4) + column + rank % WORDS];
    }
    let beside = &before[row * (width + 2 * REACH) / 4 + column..];
    window[rank / 8][rank % 8] = beside[rank / 8 * ((width + 2 * REACH) / 4) + rank % 8];
    block.sync();

    let cost = (0..BLOCK).map(|k| difference(&pixels[k], &window[y + k], x)).sum::<u32>();
    let best = warp.reduce(cost << 8 | rank as u32, op::Min);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = best;
    }
    block.sync();
    if rank == 0 {
        let best = *of_warps.iter().min().unwrap() as usize & 255;
        vectors[place] = [best % BLOCK, best / BLOCK].map(|at| at as i16 - REACH as i16);
    }
}

/// A pixel of a luminance and two differences of colours (BT.601, in 8-bit fixed point).
#[device]
fn colours(luma: u8, [blue, red]: [u8; 2]) -> u8x4 {
    let (y, b, r) = (298 * (i32::from(luma) - 16), i32::from(blue) - 128, i32::from(red) - 128);
    let [r, g, b] = [y + 409 * r, y - 100 * b - 208 * r, y + 516 * b].map(|sum| ((sum + 128) >> 8).clamp(0, 255) as u8);
    u8x4::new([r, g, b, 255])
}

/// Pictures whose colours have half of the rows and columns, as decoders write them (NV12), as pixels: a thread takes four.
#[cluster_kernel(block = 256)]
fn coloured(luma: &[u8], chroma: &[u8], out: &mut [u8], width: usize) {
    let first = 4 * this_grid().thread_rank();
    let (row, column) = (first / width, first % width);
    let four = luma.load_vec::<4>(first);
    let tints = chroma.load_vec::<4>(row / 2 * width + column);
    for k in 0..4 {
        let tint = [tints[k / 2 * 2], tints[k / 2 * 2 + 1]];
        out.store_vec(4 * (first + k), colours(four[k], tint));
    }
}

/// How strong an edge may be that is none of the picture's own, by the step of the quantizer (H.264, table 8-16).
const ALPHAS: [u8; 52] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36,
    40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255,
];
const BETAS: [u8; 52] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11,
    11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18,
];

/// The three pixels at an edge, the nearest first; `side` has the nearest first, too, and `other` lies beyond the edge.
#[device]
fn side([a, b, c, d]: [i32; 4], [e, f]: [i32; 2], is_flat: bool) -> [i32; 3] {
    if is_flat {
        [(c + 2 * b + 2 * a + 2 * e + f + 4) >> 3, (c + b + a + e + 2) >> 2, (2 * d + 3 * c + b + a + e + 4) >> 3]
    } else {
        [(2 * b + a + f + 2) >> 2, b, c]
    }
}

/// Eight pixels in whose middle an edge of blocks lies, without that edge (H.264, 8.7.2.4).
#[device]
fn smoothed(pixels: [u8; 8], alpha: i32, beta: i32) -> [u8; 8] {
    let [p3, p2, p1, p0, q0, q1, q2, q3] = pixels.map(i32::from);
    let step = (p0 - q0).abs();
    if step >= alpha || (p1 - p0).abs() >= beta || (q1 - q0).abs() >= beta {
        return pixels;
    }
    let is_small = step < (alpha >> 2) + 2;
    let left = side([p0, p1, p2, p3], [q0, q1], is_small && (p2 - p0).abs() < beta);
    let right = side([q0, q1, q2, q3], [p0, p1], is_small && (q2 - q0).abs() < beta);
    [p3, left[2], left[1], left[0], right[0], right[1], right[2], q3].map(|pixel| pixel as u8)
}

/// Pictures without the edges of their blocks: a thread takes eight pixels in whose middle an edge lies.
#[cluster_kernel(block = 256)]
fn deblocked(pixels: &[u8], steps: &[u8], out: &mut [u8], width: usize) {
    let i = this_grid().thread_rank();
    let (row, edge) = (i / (width / 8), i % (width / 8));
    let step = steps[row / 8 * (width / 8) + edge];
    let eight = pixels.load_vec::<8>(8 * i);
    let (alpha, beta) = (i32::from(ALPHAS[step]), i32::from(BETAS[step]));
    let smooth = smoothed(std::array::from_fn(|k| eight[k]), alpha, beta);
    out.store_vec(8 * i, u8x8::new(smooth));
}

/// The rows and columns of a picture of `integrals`, and the rows of each of four blocks.
const EDGE: usize = 256;
const PART: usize = EDGE / 4;

/// The sums over all pixels above and to the left, of pictures of 256 by 256 pixels: a cluster for each.
#[cluster_kernel(cluster = 4, block = EDGE)]
fn integrals(pictures: &[u8], out: &mut [[u32; EDGE]]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<[u32; EDGE], PART>();
    let totals = shared_array::<u32, EDGE>();
    let first = this_grid().block_rank() * PART;
    let (own, column) = (warp.meta_group_rank() as usize, 8 * warp.thread_rank() as usize);
    for row in (own..PART).step_by(8) {
        let pixels = pictures.load_vec::<8>((first + row) * EDGE + column);
        let all = (0..8).map(|k| u32::from(pixels[k])).sum::<u32>();
        let mut sum = warp.exclusive_scan(all, op::Plus);
        for k in 0..8 {
            sum += u32::from(pixels[k]);
            sums[row][column + k] = sum;
        }
    }
    block.sync();

    let column = block.thread_rank() as usize;
    let mut sum = 0;
    for row in 0..PART {
        sum += sums[row][column];
        sums[row][column] = sum;
    }
    totals[column] = sum;
    cluster.sync();
    let above = (0..cluster.block_rank()).map(|peer| cluster.map_shared_rank(&totals, peer)[column]).sum::<u32>();
    for (row, sums) in sums.iter().enumerate() {
        out[first + row][column] = above + sums[column];
    }
    cluster.sync();
}

const TWINS: &str = include_str!("../../twins/videos.cu");

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&four| u32::from_le_bytes(four)).collect()
}

/// A picture in which each pixel is that of `before` at a distance that its block of pixels has, with some noise.
fn moved(before: &[u8], width: usize, height: usize) -> Vec<u8> {
    let one = |i: usize, bits: u64| {
        let (row, column) = (i / width, i % width);
        let place = row / BLOCK * 31 + column / BLOCK * 17;
        let (x, y) = (column + place % 16, row + place / 16 % 16);
        before[y * (width + 2 * REACH) + x] ^ (bits & 3) as u8
    };
    data::random(321, width * height, |bits| bits).into_iter().enumerate().map(|(i, bits)| one(i, bits)).collect()
}

/// The best place of each block of pixels.
fn searched(now: &[u32], before: &[u8], width: usize) -> Vec<i16> {
    let bytes: Vec<u8> = now.iter().flat_map(|word| word.to_le_bytes()).collect();
    let wide = width + 2 * REACH;
    let one = |place: usize| {
        let (row, column) = (place / (width / BLOCK) * BLOCK, place % (width / BLOCK) * BLOCK);
        let cost = |at: usize| {
            let (x, y) = (column + at % 16, row + at / 16);
            let line = |k: usize| {
                let (a, b) = (&bytes[(row + k) * width + column..], &before[(y + k) * wide + x..]);
                a[..BLOCK].iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum::<u32>()
            };
            (0..BLOCK).map(line).sum::<u32>()
        };
        let best = (0..256).min_by_key(|&at| cost(at)).unwrap_or(0);
        [best % 16, best / 16].map(|at| at as i16 - REACH as i16)
    };
    (0..bytes.len() / (BLOCK * BLOCK)).flat_map(one).collect()
}

fn cases(scale: Scale) -> Vec<Case> {
    let (width, height): (usize, usize) = scale.pick((3840, 2160), (32, 32));
    let squares = width * height / (BLOCK * BLOCK);
    let (wide, high): (usize, usize) = scale.pick((1920, 1080 * 32), (64, 32));
    let (broad, long): (usize, usize) = scale.pick((4096, 1 << 15), (64, 64));
    let pictures: usize = scale.pick(1 << 10, 2);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let byte = |bits: u64| (bits >> 32) as u8;
    // The luminance of a picture, and its border.
    let before = move || data::random(320, (width + 2 * REACH) * (height + 2 * REACH), byte);
    vec![
        pair("motion", squares, "blocks", squares, 256).bytes(2 * width * height + 4 * squares).case(
            move || words(&moved(&before(), width, height)),
            2 * squares,
            move |device| {
                let before = before();
                let memory = Memory::upload(device, &words(&before))?;
                let further = [memory.address(), width as u64].map(Argument::Word);
                launch(further, move |device, input, out| {
                    let mut out = out.as_chunks_mut()?;
                    motion(input, &memory.buffer, &mut out, width).grid(squares as u32).enqueue(device)
                })?
                .like(move |now| searched(now, &before, width))
            },
        ),
        pair("coloured", wide * high, "pixels", wide * high / 1024, 256).bytes(wide * high / 2 * 11).case(
            move || data::random(322, wide * high, byte),
            4 * wide * high,
            move |device| {
                let tints = data::random(323, wide * high / 2, byte);
                let memory = Memory::upload(device, &tints)?;
                let further = [memory.address(), wide as u64].map(Argument::Word);
                launch(further, move |device, input, out| {
                    coloured(input, &memory.buffer, out, wide).grid((wide * high / 1024) as u32).enqueue(device)
                })?
                .like(move |luma| {
                    let part = |sum: f64| ((sum + 128.0) / 256.0).floor().clamp(0.0, 255.0);
                    let pixel = |(i, &y): (usize, &u8)| {
                        let tint = i / wide / 2 * wide + i % wide / 2 * 2;
                        let (b, r) = (f64::from(tints[tint]) - 128.0, f64::from(tints[tint + 1]) - 128.0);
                        let y = 298.0 * (f64::from(y) - 16.0);
                        [part(y + 409.0 * r), part(y - 100.0 * b - 208.0 * r), part(y + 516.0 * b), 255.0]
                    };
                    luma.iter().enumerate().flat_map(pixel).collect::<Vec<f64>>()
                })
            },
        ),
        pair("deblocked", broad * long, "pixels", broad * long / 2048, 256).bytes(2 * broad * long).case(
            // Blocks of eight columns, the first of which begins in the fourth, each with a level of its own and some noise.
            move || {
                let levels = data::random(324, broad * long, |bits| bits);
                let level = |i: usize| levels[(i + 4) / 8] as u8 % 32;
                levels.iter().enumerate().map(|(i, bits)| 90 + level(i) + (bits >> 40) as u8 % 6).collect()
            },
            broad * long,
            move |device| {
                let steps = data::random(325, broad * long / 64, |bits| (bits % 52) as u8);
                let memory = Memory::upload(device, &steps)?;
                let further = [memory.address(), broad as u64].map(Argument::Word);
                launch(further, move |device, input, out| {
                    deblocked(input, &memory.buffer, out, broad).grid((broad * long / 2048) as u32).enqueue(device)
                })?
                .like(move |pixels| {
                    let eight = |(i, v): (usize, &[u8])| {
                        let step = steps[i / (broad / 8) / 8 * (broad / 8) + i % (broad / 8)] as usize;
                        let (alpha, beta) = (i32::from(ALPHAS[step]), i32::from(BETAS[step]));
                        let v: Vec<i32> = v.iter().map(|&x| x.into()).collect();
                        let far = |a: usize, b: usize| (v[a] - v[b]).abs();
                        let mut out = v.clone();
                        if far(3, 4) < alpha && far(2, 3) < beta && far(4, 5) < beta {
                            // The standard's p0, p1, .. and q0, q1, .. count from the edge, and -1 is beyond it.
                            for (near, step) in [(3, -1), (4, 1)] {
                                let at = |k: i32| v[(near + k * step) as usize];
                                let place = |k: i32| (near + k * step) as usize;
                                if far(3, 4) < alpha / 4 + 2 && (at(2) - at(0)).abs() < beta {
                                    out[place(0)] = (at(2) + 2 * at(1) + 2 * at(0) + 2 * at(-1) + at(-2) + 4) / 8;
                                    out[place(1)] = (at(2) + at(1) + at(0) + at(-1) + 2) / 4;
                                    out[place(2)] = (2 * at(3) + 3 * at(2) + at(1) + at(0) + at(-1) + 4) / 8;
                                } else {
                                    out[place(0)] = (2 * at(1) + at(0) + at(-2) + 2) / 4;
                                }
                            }
                        }
                        out
                    };
                    pixels.chunks(8).enumerate().flat_map(eight).collect::<Vec<i32>>()
                })
            },
        ),
        pair("integrals", pictures, "pictures", 4 * pictures, EDGE).cluster(4).bytes(5 * pictures * EDGE * EDGE).case(
            move || data::random(326, pictures * EDGE * EDGE, byte),
            pictures * EDGE * EDGE,
            move |_| {
                launch([], move |device, input, out| {
                    let mut out = out.as_chunks_mut()?;
                    integrals(input, &mut out).grid(4 * pictures as u32).enqueue(device)
                })?
                .like(|pixels| {
                    let picture = |pixels: &[u8]| {
                        let mut above = vec![0; EDGE];
                        let row = |row: &[u8]| {
                            let mut sum = 0;
                            for (above, &pixel) in above.iter_mut().zip(row) {
                                sum += u32::from(pixel);
                                *above += sum;
                            }
                            above.clone()
                        };
                        pixels.chunks(EDGE).flat_map(row).collect::<Vec<u32>>()
                    };
                    pixels.chunks(EDGE * EDGE).flat_map(picture).collect()
                })
            },
        ),
    ]
}
