//! Simulations: bodies, grids, sets of points.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "physics", about: "bodies, grids and clusters of points", cases };

const SOFTENING: f32 = 1e-3;

/// The accelerations of bodies (`x`, `y`, `z`, mass) that attract each other; tiles of 256 bodies in shared memory.
#[cluster_kernel(block = 256)]
fn bodies(places: &[[f32; 4]], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 4], 256>();
    let i = block.thread_rank() as usize;
    let at = this_grid().thread_rank();
    let own = places[at];
    let mut sum = [0.0; 3];
    for first in (0..places.len()).step_by(256) {
        tile[i] = places[first + i];
        block.sync();
        for k in 0..256 {
            let other = tile[k];
            let d = [other[0] - own[0], other[1] - own[1], other[2] - own[2]];
            let square = d[0].mul_add(d[0], d[1].mul_add(d[1], d[2].mul_add(d[2], SOFTENING)));
            let inverse = fast::rsqrt(square);
            let force = other[3] * inverse * inverse * inverse;
            for axis in 0..3 {
                sum[axis] = force.mul_add(d[axis], sum[axis]);
            }
        }
        block.sync();
    }
    out.store_vec(at * 4, Vector::new([sum[0], sum[1], sum[2], 0.0]));
}

/// One step of diffusion in three dimensions; the border stays. A thread takes a column of 16 planes.
#[cluster_kernel(block = 256)]
fn diffusion(input: &[f32], out: &mut [f32], nx: u32, ny: u32, nz: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rank = this_grid().block_rank() as u32;
    let (across, down) = (nx / 32, ny / 8);
    let x = rank % across * 32 + i % 32;
    let y = rank / across % down * 8 + i / 32;
    let first = rank / across / down * 16;
    let plane = nx * ny;
    for z in first..(first + 16).min(nz) {
        let at = z * plane + y * nx + x;
        let cell = input[at];
        let mut next = cell;
        if x > 0 && x + 1 < nx && y > 0 && y + 1 < ny && z > 0 && z + 1 < nz {
            let around =
                input[at - 1] + input[at + 1] + input[at - nx] + input[at + nx] + input[at - plane] + input[at + plane];
            next = 0.1f32.mul_add(around - 6.0 * cell, cell);
        }
        out[at] = next;
    }
}

/// The number of steps after which a point of the plane escapes (Mandelbrot).
#[cluster_kernel(block = 256)]
fn escapes(corner: &[f32], out: &mut [u32], width: u32, most: u32) {
    let i = this_thread_block().thread_rank();
    let rank = this_grid().block_rank() as u32;
    let tiles = width / 16;
    let (x, y) = (rank % tiles * 16 + i % 16, rank / tiles * 16 + i / 16);
    let scale = corner[2] / width as f32;
    let (cx, cy) = ((x as f32).mul_add(scale, corner[0]), (y as f32).mul_add(scale, corner[1]));
    let (mut a, mut b) = (0.0f32, 0.0f32);
    let mut steps = 0;
    while steps < most && a * a + b * b <= 4.0 {
        let next = a * a - b * b + cx;
        b = (2.0 * a).mul_add(b, cy);
        a = next;
        steps += 1;
    }
    out[y * width + x] = steps;
}

/// The nearest of 32 centres in 8 dimensions.
#[cluster_kernel(block = 256)]
fn nearest(points: &[[f32; 8]], centres: &[[f32; 8]], out: &mut [u32]) {
    let block = this_thread_block();
    let shared = shared_array::<[f32; 8], 32>();
    let i = block.thread_rank() as usize;
    if i < 32 {
        shared[i] = centres[i];
    }
    block.sync();
    let at = this_grid().thread_rank();
    if at >= points.len() {
        return;
    }
    let point = points[at];
    let (mut best, mut least) = (0, f32::INFINITY);
    for (k, centre) in shared.iter().enumerate() {
        let mut distance = 0.0;
        for axis in 0..8 {
            let d = point[axis] - centre[axis];
            distance = d.mul_add(d, distance);
        }
        if distance < least {
            (best, least) = (k as u32, distance);
        }
    }
    out[at] = best;
}

/// A step of the game of life on a torus of bytes.
#[cluster_kernel(block = 256)]
fn life(cells: &[u8], out: &mut [u8], width: u32, height: u32) {
    let i = this_thread_block().thread_rank();
    let rank = this_grid().block_rank() as u32;
    let tiles = width / 64;
    let (x, y) = (rank % tiles * 64 + i % 64, rank / tiles * 4 + i / 64);
    let rows = [(y + height - 1) % height, y, (y + 1) % height];
    let columns = [(x + width - 1) % width, x, (x + 1) % width];
    let mut alive = 0;
    for row in rows {
        for column in columns {
            alive += cells[row * width + column];
        }
    }
    let own = cells[y * width + x];
    out[y * width + x] = (alive == 3 || (alive == 4 && own == 1)) as u8;
}

const TWINS: &str = include_str!("../../twins/physics.cu");

fn cases(scale: Scale) -> Vec<Case> {
    let count: usize = scale.pick(1 << 16, 512);
    let edge: usize = scale.pick(512, 32);
    let cells = edge * edge * edge;
    let width: usize = scale.pick(1 << 13, 64);
    let area = width * width;
    let points: usize = scale.pick(1 << 24, 512);
    let pair = |entry, size: usize, unit, grid: usize| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, 256);
    let edges = [Argument::Number(edge as u32); 3];
    vec![
        pair("bodies", count, "bodies", count / 256).bytes(32 * count).case(
            move || data::reals(90, 4 * count).as_chunks().0.to_vec(),
            4 * count,
            move |_| {
                launch(vec![Argument::Number(count as u32)], move |device, input, out| {
                    bodies(input, out).grid(count as u32 / 256).enqueue(device)
                })
            },
        ),
        pair("diffusion", edge, "cells a side", cells / 4096).bytes(8 * cells).case(
            move || data::reals(91, cells),
            cells,
            move |_| {
                launch(edges, move |device, input, out| {
                    let edge = edge as u32;
                    diffusion(input, out, edge, edge, edge).grid(cells as u32 / 4096).enqueue(device)
                })
            },
        ),
        pair("escapes", width, "columns", area / 256).bytes(4 * area).case(
            || vec![-2.0, -1.25, 2.5],
            area,
            move |_| {
                let twin = [width as u32, 256].map(Argument::Number);
                launch(twin, move |device, input, out| {
                    escapes(input, out, width as u32, 256).grid(area as u32 / 256).enqueue(device)
                })
            },
        ),
        pair("nearest", points, "points", points / 256).bytes(36 * points).case(
            move || data::reals(92, 8 * points).as_chunks().0.to_vec(),
            points,
            move |device| {
                let centres = Memory::upload(device, data::reals(93, 8 * 32).as_chunks().0)?;
                let words = [centres.address(), points as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    nearest(input, &centres.buffer, out).grid(points as u32 / 256).enqueue(device)
                })
            },
        ),
        pair("life", width, "columns", area / 256).bytes(2 * area).case(
            move || data::random(94, area, |bits| (bits % 3 == 0) as u8),
            area,
            move |_| {
                let twin = [width as u32; 2].map(Argument::Number);
                launch(twin, move |device, input, out| {
                    life(input, out, width as u32, width as u32).grid(area as u32 / 256).enqueue(device)
                })
            },
        ),
    ]
}
