//! Stencils: tiles with halos, columns of registers, halos that a cluster exchanges.

use phalanx::prelude::*;

use super::{below, reals};
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Returns a cell of the new field from its four neighbours.
#[device]
fn relaxed(cell: f32, around: [f32; 4], rate: f32) -> f32 {
    let [north, south, west, east] = around;
    rate.mul_add((north + south) + (west + east) - 4.0 * cell, cell)
}

/// A Jacobi step of the heat equation on a tile with a halo (Micikevicius, "3D Finite Difference Computation on GPUs
/// using CUDA", 2009, in two dimensions). The border stays.
#[cluster_kernel(block = (32, 8))]
pub(super) fn heat(before: &[f32], after: &mut [f32], width: u32, height: u32, rate: f32) {
    let tile = shared_array::<[f32; 34], 10>();
    let block = this_thread_block();
    let thread = block.thread_index();
    let corner = block.group_index();
    let (left, top) = (corner.x * 32, corner.y * 8);
    for i in (block.thread_rank()..340).step_by(256) {
        // The offset is one up and one to the left; a position outside the field is clamped to it.
        let x = (left + i % 34).max(1).min(width) - 1;
        let y = (top + i / 34).max(1).min(height) - 1;
        tile[i / 34][i % 34] = before[y * width + x];
    }
    block.sync();
    let (x, y) = (left + thread.x, top + thread.y);
    if x >= width || y >= height {
        return;
    }
    let (column, row) = (thread.x + 1, thread.y + 1);
    let cell = tile[row][column];
    let around = [tile[row - 1][column], tile[row + 1][column], tile[row][column - 1], tile[row][column + 1]];
    let inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
    after[y * width + x] = if inside { relaxed(cell, around, rate) } else { cell };
}

/// A star of radius `R` in three dimensions: planes in shared memory, the column along z in registers (the CUDA sample
/// FDTD3d). The field has a border of `R` cells all round.
#[cluster_kernel(block = (16, 8))]
fn star<const R: usize>(field: &[f32], out: &mut [f32], width: u32, height: u32, depth: u32, weights: &[f32]) {
    let plane = shared_array::<[f32; 24], 16>(); // for a radius of up to 4
    let block = this_thread_block();
    let thread = block.thread_index();
    let at = this_grid().block_index();
    let radius = R as u32;
    let (row, layer) = (width + 2 * radius, (width + 2 * radius) * (height + 2 * radius));
    let x = at.x * 16 + thread.x;
    let y = at.y * 8 + thread.y;
    let inside = x < width && y < height;
    let mut below = [0.0; R];
    let mut above = [0.0; R];
    let mut cell = 0.0;
    let column = (y + radius) * row + x + radius;
    if inside {
        for k in 0..R {
            below[k] = field[column + (R - 1 - k) as u32 * layer];
            above[k] = field[column + (R + 1 + k) as u32 * layer];
        }
        cell = field[column + radius * layer];
    }
    for z in 0..depth {
        let start = (z + radius) * layer;
        // The plane with its halo: all threads help.
        let wide = 16 + 2 * radius;
        for i in (block.thread_rank()..wide * (8 + 2 * radius)).step_by(128) {
            let (tx, ty) = (i % wide, i / wide);
            let (fx, fy) = ((at.x * 16 + tx).min(row - 1), (at.y * 8 + ty).min(height + 2 * radius - 1));
            plane[ty][tx] = field[start + fy * row + fx];
        }
        block.sync();
        if inside {
            let (tx, ty) = (thread.x as usize + R, thread.y as usize + R);
            let mut sum = weights[0] * cell;
            for k in 1..=R {
                let flat = (plane[ty][tx - k] + plane[ty][tx + k]) + (plane[ty - k][tx] + plane[ty + k][tx]);
                sum = weights[k].mul_add(flat + (below[k - 1] + above[k - 1]), sum);
            }
            out[(z * height + y) * width + x] = sum;
            for k in (1..R).rev() {
                below[k] = below[k - 1];
            }
            below[0] = cell;
            cell = above[0];
            for k in 1..R {
                above[k - 1] = above[k];
            }
            if z + 1 < depth {
                above[R - 1] = field[start + layer * (radius + 1) + column];
            }
        }
        block.sync(); // before the next plane overwrites this one
    }
}

/// Waves on a ring of cells, many steps in one launch: a block keeps its part in shared memory and reads one cell of each
/// neighbour, which arrive early (temporal blocking as in Zhang and others, "PERKS", 2023, with clusters).
#[cluster_kernel(cluster = 4)]
fn waves<const N: usize>(now: &[f32], before: &[f32], out: &mut [f32], speed: f32, steps: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<[f32; 2], N>();
    let i = this_thread_block().thread_rank() as usize;
    let at = this_grid().thread_rank();
    let blocks = cluster.num_blocks();
    let left = cluster.map_shared_rank(&cells, (cluster.block_rank() + blocks - 1) % blocks);
    let right = cluster.map_shared_rank(&cells, (cluster.block_rank() + 1) % blocks);
    let mut cell = now[at];
    let mut last = before[at];
    for step in 0..steps {
        let buffer = step % 2;
        cells[i][buffer] = cell;
        let token = cluster.barrier_arrive();
        let inertia = 2.0 * cell - last; // needs no neighbour
        cluster.barrier_wait(token);
        let west = if i > 0 { cells[i - 1][buffer] } else { left[N - 1][buffer] };
        let east = if i < N - 1 { cells[i + 1][buffer] } else { right[0][buffer] };
        last = cell;
        cell = speed.mul_add((west - cell) + (east - cell), inertia);
    }
    cluster.sync();
    out[at] = cell;
}

/// Conway's life, 32 cells a word, neighbours counted by full adders on bits (bit-slicing, Hacker's Delight).
#[cluster_kernel(block = 64)]
pub(super) fn life(before: &[u32], after: &mut [u32], words: u32, rows: u32) {
    let i = this_grid().thread_rank() as u32;
    if i >= words * rows {
        return;
    }
    let (word, row) = (i % words, i / words);
    // A bit-sliced count of the eight neighbours: ones, twos, fours.
    let (mut ones, mut twos, mut fours) = (0u32, 0, 0);
    let mut alive = 0;
    for dy in 0..3 {
        let y = (row + rows + dy - 1) % rows * words;
        let middle = before[y + word];
        let left = middle << 1 | before[y + (word + words - 1) % words] >> 31;
        let right = middle >> 1 | before[y + (word + 1) % words] << 31;
        let neighbours = [left, if dy == 1 { 0 } else { middle }, right];
        if dy == 1 {
            alive = middle;
        }
        for k in 0..3 {
            let carry = ones & neighbours[k];
            ones ^= neighbours[k];
            fours ^= twos & carry;
            twos ^= carry;
        }
    }
    // Eight neighbours count as none: in both cases the cell dies.
    after[i] = twos & !fours & (ones | alive);
}

fn heat_steps(device: &Device) -> Outcome {
    for (width, height) in [(64, 16), (45, 21)] {
        let field = reals(31, width * height);
        let input = device.upload(&field)?;
        let grid = (width.div_ceil(32) as u32, height.div_ceil(8) as u32);
        let got = read!(device, field.len(), |out| heat(&input, out, width as u32, height as u32, 0.2).grid(grid));
        let cell = |i: usize| {
            let (x, y) = (i % width, i / width);
            if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
                return field[i];
            }
            let sum = (field[i - width] + field[i + width]) + (field[i - 1] + field[i + 1]);
            0.2f32.mul_add(sum - 4.0 * field[i], field[i])
        };
        same(&got, &(0..field.len()).map(cell).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

fn star_of<const R: usize>(device: &Device, (width, height, depth): (usize, usize, usize)) -> Outcome {
    let (row, layer) = (width + 2 * R, (width + 2 * R) * (height + 2 * R));
    let field = reals(32, layer * (depth + 2 * R));
    let weights = [0.5, 0.125, -0.0625, 0.03, 0.7, 0.0, 0.0, 0.0];
    let (input, factors) = (device.upload(&field)?, device.upload(&weights)?);
    let size = (width as u32, height as u32, depth as u32);
    let grid = (size.0.div_ceil(16), size.1.div_ceil(8));
    let got = read!(device, width * height * depth, |out| star::<R>(&input, out, size.0, size.1, size.2, &factors)
        .grid(grid)
        .block((16, 8)));
    let cell = |i: usize| {
        let (x, y, z) = (i % width, i / width % height, i / (width * height));
        let at = (z + R) * layer + (y + R) * row + x + R;
        let mut sum = weights[0] * field[at];
        for k in 1..=R {
            let flat = (field[at - k] + field[at + k]) + (field[at - k * row] + field[at + k * row]);
            sum = weights[k].mul_add(flat + (field[at - k * layer] + field[at + k * layer]), sum);
        }
        sum
    };
    same(&got, &(0..width * height * depth).map(cell).collect::<Vec<_>>(), |i| format!("radius {R}, cell {i}"))
}

fn stars(device: &Device) -> Outcome {
    star_of::<1>(device, (16, 8, 3))?;
    star_of::<4>(device, (21, 11, 6))
}

fn waves_of<const N: usize>(device: &Device, steps: u32) -> Outcome {
    let len = 2 * 4 * N;
    let (mut now, mut before) = (reals(33, len), reals(34, len));
    let (x, y) = (device.upload(&now)?, device.upload(&before)?);
    let got = read!(device, len, |out| waves::<N>(&x, &y, out, 0.3, steps).grid(8).block(N as u32));
    for _ in 0..steps {
        let cell = |i: usize| {
            let (ring, k) = (i / (4 * N) * 4 * N, i % (4 * N));
            let (west, east) = (now[ring + (k + 4 * N - 1) % (4 * N)], now[ring + (k + 1) % (4 * N)]);
            0.3f32.mul_add((west - now[i]) + (east - now[i]), 2.0 * now[i] - before[i])
        };
        let next = (0..len).map(cell).collect();
        before = std::mem::replace(&mut now, next);
    }
    same(&got, &now, |i| format!("{N} a block, {steps} steps, {i}"))
}

fn waves_on_rings(device: &Device) -> Outcome {
    waves_of::<64>(device, 0)?;
    waves_of::<64>(device, 9)?;
    waves_of::<37>(device, 4)
}

fn generations(device: &Device) -> Outcome {
    for (words, rows) in [(2, 5), (3, 40)] {
        let field: Vec<u32> = below(u32::MAX, 35, words * rows);
        let input = device.upload(&field)?;
        let size = (words as u32, rows as u32);
        let got =
            read!(device, field.len(), |out| life(&input, out, size.0, size.1).grid(field.len().div_ceil(64) as u32));
        let width = words * 32;
        let alive = |x: usize, y: usize| field[y % rows * words + x % width / 32] >> (x % 32) & 1;
        let mut want = vec![0u32; field.len()];
        for (y, x) in (0..rows).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let around: u32 =
                (0..9).filter(|k| *k != 4).map(|k| alive(x + width + k % 3 - 1, y + rows + k / 3 - 1)).sum();
            if around == 3 || around == 2 && alive(x, y) == 1 {
                want[y * words + x / 32] |= 1 << (x % 32);
            }
        }
        same(&got, &want, |i| format!("{words} words, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::stencil",
        checks: check_list![heat_steps, stars, waves_on_rings, generations],
        kernels: kernel_list![heat, star<1>, star<4>, waves<64>, waves<37>, life],
    }
}
