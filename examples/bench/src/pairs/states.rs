//! Kernels that follow states, trees and tables: what is read next depends on what was read.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "states", about: "paths of hidden states, edges, cells of a volume, trees, prefix codes", cases };

/// The scores of the best paths through 32 hidden states (Viterbi, 1967): a warp for each sequence, a lane for each state.
#[cluster_kernel(block = 128)]
fn viterbi(emissions: &[f32], transitions: &[[f32; 32]], scores: &mut [f32], steps: usize, sequences: usize) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let sequence = this_grid().thread_rank() / 32;
    if sequence >= sequences {
        return;
    }
    let state = warp.thread_rank();
    let into = transitions[state];
    let mut score = emissions[sequence * steps * 32 + state as usize];
    for step in 1..steps {
        let mut best = f32::NEG_INFINITY;
        for from in 0..32 {
            best = best.max(warp.shfl(score, from) + into[from]);
        }
        score = best + emissions[(sequence * steps + step) * 32 + state as usize];
    }
    scores[sequence * 32 + state as usize] = score;
}

/// The columns and rows of a block's tile.
const WIDE: usize = 32;
const HIGH: usize = 8;

/// Where a smoothed picture changes fastest along its gradient: a tile with a border of two pixels in shared memory.
#[cluster_kernel(block = (32, 8))]
fn ridges(picture: &[f32], out: &mut [f32], width: usize, height: usize) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; WIDE + 2], { HIGH + 2 }>();
    let (left, top) = (block.group_index().x as usize * WIDE, block.group_index().y as usize * HIGH);
    for k in (block.thread_rank() as usize..(WIDE + 2) * (HIGH + 2)).step_by(256) {
        let (row, column) = (k / (WIDE + 2), k % (WIDE + 2));
        let y = (top + row).saturating_sub(1).min(height - 1);
        let x = (left + column).saturating_sub(1).min(width - 1);
        tile[row][column] = picture[y * width + x];
    }
    block.sync();
    let (x, y) = (block.thread_index().x as i32, block.thread_index().y as i32);
    let at = |dx: i32, dy: i32| tile[(y + 1 + dy) as usize][(x + 1 + dx) as usize];
    let gx = at(1, -1) + 2.0 * at(1, 0) + at(1, 1) - at(-1, -1) - 2.0 * at(-1, 0) - at(-1, 1);
    let gy = at(-1, 1) + 2.0 * at(0, 1) + at(1, 1) - at(-1, -1) - 2.0 * at(0, -1) - at(1, -1);
    let steep = gx.abs() + gy.abs();
    let (dx, dy) = if gx.abs() > gy.abs() { (1, 0) } else { (0, 1) };
    let here = at(0, 0);
    let along = (at(dx, dy) - here).abs().max((at(-dx, -dy) - here).abs());
    let (column, row) = (left + x as usize, top + y as usize);
    if column < width && row < height {
        out[row * width + column] = if along < steep { steep } else { 0.0 };
    }
}

/// The corners of a cell, as steps along the axes.
const CORNERS: [[u32; 3]; 8] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// The case of marching cubes of each cell of a volume, and where its surface is crossed first.
#[cluster_kernel(block = 256)]
fn cells(volume: &[f32], out: &mut [f32], edge: u32, level: f32) {
    let i = this_grid().thread_rank() as u32;
    let (x, y, z) = (i % edge, i / edge % edge, i / (edge * edge));
    if z >= edge {
        return;
    }
    if x + 1 >= edge || y + 1 >= edge || z + 1 >= edge {
        out[i] = -1.0;
        return;
    }
    let corner = |k: usize| {
        let [dx, dy, dz] = CORNERS[k];
        volume[((z + dz) * edge + y + dy) * edge + x + dx]
    };
    let mut case = 0u32;
    for k in 0..8 {
        if corner(k) > level {
            case |= 1 << k;
        }
    }
    let mut value = case as f32;
    for k in 1..8 {
        if (corner(k) > level) != (corner(0) > level) {
            value += (level - corner(0)) / (corner(k) - corner(0));
            break;
        }
    }
    out[i] = value;
}

/// A node of a tree of boxes: an inner one has two children, a leaf has none and a point.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Node {
    low: [f32; 3],
    high: [f32; 3],
    /// The first of two children, which lie side by side, or 0.
    child: u32,
}

#[device]
impl Node {
    /// The squared distance of a point from the box.
    fn distance(&self, point: [f32; 3]) -> f32 {
        let mut sum = 0.0;
        for k in 0..3 {
            let d = (self.low[k] - point[k]).max(point[k] - self.high[k]).max(0.0);
            sum += d * d;
        }
        sum
    }
}

/// How many points of a tree lie within a radius of each query.
#[cluster_kernel(block = 128)]
fn within(queries: &[[f32; 4]], nodes: &[Node], counts: &mut [u32], radius: f32) {
    let i = this_grid().thread_rank();
    let Some([x, y, z, _]) = queries.get(i).copied() else {
        return;
    };
    let point = [x, y, z];
    let mut stack = [0u32; 32];
    let mut depth = 1;
    let mut count = 0;
    while depth > 0 {
        depth -= 1;
        let node = nodes[stack[depth]];
        if node.distance(point) > radius * radius {
            continue;
        }
        if node.child == 0 {
            count += 1;
        } else {
            stack[depth] = node.child;
            stack[depth + 1] = node.child + 1;
            depth += 2;
        }
    }
    counts[i] = count;
}

/// An entry of a decoding table: the symbol of a prefix code, and the code's number of bits.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Code {
    symbol: u8,
    length: u8,
}

/// The sums of the symbols of prefix codes: each thread decodes a piece of its own, of 64 words.
#[cluster_kernel(block = 128)]
fn decoded(pieces: &[u32], table: &[Code], sums: &mut [u32], symbols: u32) {
    let block = this_thread_block();
    let codes = shared_array::<Code, 256>();
    for k in (block.thread_rank() as usize..256).step_by(128) {
        codes[k] = table[k];
    }
    block.sync();
    let piece = this_grid().thread_rank();
    let mut window = pieces[piece * 64] as u64 | (pieces[piece * 64 + 1] as u64) << 32;
    let (mut bits, mut next) = (64u32, 2);
    let mut sum = 0u32;
    for k in 0..symbols {
        let code = codes[(window & 255) as usize];
        sum = sum.wrapping_mul(31).wrapping_add(code.symbol as u32 ^ k);
        window >>= code.length;
        bits -= code.length as u32;
        if bits <= 32 && next < 64 {
            window |= (pieces[piece * 64 + next] as u64) << bits;
            bits += 32;
            next += 1;
        }
    }
    sums[piece] = sum & 0xffff;
}

const TWINS: &str = include_str!("../../twins/states.cu");

/// A balanced tree over random points: node 0 is the root, the children of node `k` are `2k + 1` and `2k + 2`.
fn tree(leaves: usize) -> Vec<Node> {
    let numbers = data::reals(121, 3 * leaves);
    let mut points: Vec<[f32; 3]> = numbers.chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
    let mut nodes = vec![Node::default(); 2 * leaves - 1];
    build(&mut points, &mut nodes, 0, 0);
    nodes
}

fn build(points: &mut [[f32; 3]], nodes: &mut [Node], at: usize, axis: usize) {
    let bound = |of: fn(f32, f32) -> f32| {
        let first = points[0];
        points.iter().fold(first, |most, p| std::array::from_fn(|k| of(most[k], p[k])))
    };
    let (low, high) = (bound(f32::min), bound(f32::max));
    let inner = points.len() > 1;
    nodes[at] = Node { low, high, child: if inner { 2 * at as u32 + 1 } else { 0 } };
    if inner {
        points.sort_by(|a, b| a[axis].total_cmp(&b[axis]));
        let (left, right) = points.split_at_mut(points.len() / 2);
        build(left, nodes, 2 * at + 1, (axis + 1) % 3);
        build(right, nodes, 2 * at + 2, (axis + 1) % 3);
    }
}

fn cases(scale: Scale) -> Vec<Case> {
    let (sequences, steps): (usize, usize) = scale.pick((1 << 14, 128), (8, 4));
    let (width, height): (usize, usize) = scale.pick((8192, 8192), (64, 16));
    let edge: usize = scale.pick(384, 16);
    let (leaves, asked): (usize, usize) = scale.pick((1 << 16, 1 << 18), (64, 128));
    let (pieces, symbols): (usize, u32) = scale.pick((1 << 18, 256), (128, 256));
    vec![
        Pair::new("viterbi", TWINS, (steps as u64, "steps"), sequences as u32 / 4, 128)
            .bytes(128 * sequences * steps)
            .case(
                move || data::reals(110, sequences * steps * 32),
                sequences * 32,
                move |device| {
                    let rows: Vec<[f32; 32]> =
                        data::reals(111, 1024).chunks(32).map(|row| std::array::from_fn(|k| row[k])).collect();
                    let transitions = Memory::upload(device, &rows)?;
                    let words = [transitions.address(), steps as u64, sequences as u64].map(Argument::Word);
                    launch(words, move |device, input, out| {
                        let call = viterbi(input, &transitions.buffer, out, steps, sequences);
                        call.grid(sequences as u32 / 4).enqueue(device)
                    })
                },
            ),
        Pair::new("ridges", TWINS, (width as u64, "columns"), (width / WIDE * (height / HIGH)) as u32, 256)
            .bytes(8 * width * height)
            .case(
                move || data::reals(112, width * height),
                width * height,
                move |_| {
                    let words = [width as u64, height as u64].map(Argument::Word);
                    launch(words, move |device, input, out| {
                        let blocks = ((width / WIDE) as u32, (height / HIGH) as u32);
                        ridges(input, out, width, height).grid(blocks).enqueue(device)
                    })
                },
            ),
        Pair::new("cells", TWINS, (edge as u64, "cells along an edge"), (edge * edge * edge / 256) as u32, 256)
            .bytes(8 * edge * edge * edge)
            .case(
                move || data::reals(113, edge * edge * edge),
                edge * edge * edge,
                move |_| {
                    let further = vec![Argument::Number(edge as u32), Argument::Real(0.5)];
                    launch(further, move |device, input, out| {
                        cells(input, out, edge as u32, 0.5).grid((edge * edge * edge / 256) as u32).enqueue(device)
                    })
                },
            ),
        Pair::new("within", TWINS, (leaves as u64, "points"), (asked / 128) as u32, 128).bytes(20 * asked).case(
            move || data::reals(114, 4 * asked).chunks(4).map(|p| [p[0], p[1], p[2], p[3]]).collect::<Vec<[f32; 4]>>(),
            asked,
            move |device| {
                let nodes = Memory::upload(device, &tree(leaves))?;
                let further = vec![Argument::Word(nodes.address()), Argument::Word(asked as u64), Argument::Real(0.1)];
                launch(further, move |device, input, out| {
                    within(input, &nodes.buffer, out, 0.1).grid((asked / 128) as u32).enqueue(device)
                })
            },
        ),
        Pair::new("decoded", TWINS, (pieces as u64, "pieces"), (pieces / 128) as u32, 128).bytes(256 * pieces).case(
            move || data::random(115, 64 * pieces, |bits| (bits >> 32) as u32),
            pieces,
            move |device| {
                let code = |k: usize| Code { symbol: (k * 7 % 256) as u8, length: 4 + (k % 5) as u8 };
                let table = Memory::upload(device, &(0..256).map(code).collect::<Vec<Code>>())?;
                let further = vec![Argument::Word(table.address()), Argument::Number(symbols)];
                launch(further, move |device, input, out| {
                    decoded(input, &table.buffer, out, symbols).grid((pieces / 128) as u32).enqueue(device)
                })
            },
        ),
    ]
}
