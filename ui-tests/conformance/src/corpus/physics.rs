//! Particles: all pairs by tiles, by tiles of a cluster, by cells of a grid.

use phalanx::prelude::*;

use super::reals;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 64;
const SOFTENING: f32 = 1e-3;

/// Returns what a body at `other` of this mass adds to the acceleration.
#[device]
fn attracted(acceleration: [f32; 3], at: [f32; 3], other: [f32; 4]) -> [f32; 3] {
    let [x, y, z] = [other[0] - at[0], other[1] - at[1], other[2] - at[2]];
    let square = z.mul_add(z, y.mul_add(y, x.mul_add(x, SOFTENING)));
    let pull = other[3] / (square * square.sqrt());
    [x.mul_add(pull, acceleration[0]), y.mul_add(pull, acceleration[1]), z.mul_add(pull, acceleration[2])]
}

/// Gravity of all on all (Nyland, Harris and Prins, "Fast N-Body Simulation with CUDA", GPU Gems 3, chapter 31): bodies
/// are four numbers each, and pass by in tiles.
#[cluster_kernel(block = 64)]
fn gravity(bodies: &[f32], accelerations: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 4], BLOCK>();
    let (i, me) = (block.thread_rank(), this_grid().thread_rank() as u32);
    let count = bodies.len() as u32 / 4;
    let clamped = me.min(count - 1) * 4;
    let at = [bodies[clamped], bodies[clamped + 1], bodies[clamped + 2]];
    let mut sum = [0.0; 3];
    for start in (0..count).step_by(BLOCK) {
        let from = (start + i) * 4;
        if start + i < count {
            tile[i] = [bodies[from], bodies[from + 1], bodies[from + 2], bodies[from + 3]];
        }
        block.sync();
        for k in 0..(count - start).min(BLOCK as u32) {
            sum = attracted(sum, at, tile[k]);
        }
        block.sync();
    }
    if me < count {
        for k in 0..3 {
            accelerations[me * 3 + k as u32] = sum[k];
        }
    }
}

/// Gravity with a tile of the cluster: each block loads a body a thread once, and all read it where it lies, each block
/// from its own tile on.
#[cluster_kernel(cluster = 4, block = 64)]
fn cluster_gravity(bodies: &[f32], accelerations: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = shared_array::<[f32; 4], BLOCK>();
    let (i, me) = (block.thread_rank(), this_grid().thread_rank() as u32);
    let count = bodies.len() as u32 / 4;
    let clamped = me.min(count - 1) * 4;
    let at = [bodies[clamped], bodies[clamped + 1], bodies[clamped + 2]];
    let (mut sum, blocks) = ([0.0; 3], cluster.num_blocks());
    let width = blocks * BLOCK as u32;
    for start in (0..count).step_by(width as usize) {
        let body = start + cluster.thread_rank();
        tile[i] = if body < count {
            [bodies[body * 4], bodies[body * 4 + 1], bodies[body * 4 + 2], bodies[body * 4 + 3]]
        } else {
            [0.0; 4] // no mass
        };
        cluster.sync();
        for turn in 0..blocks {
            let peer = cluster.map_shared_rank(&tile, (cluster.block_rank() + turn) % blocks);
            for k in 0..BLOCK {
                sum = attracted(sum, at, peer[k]);
            }
        }
        cluster.sync(); // all have read
    }
    if me < count {
        for k in 0..3 {
            accelerations[me * 3 + k as u32] = sum[k];
        }
    }
}

const CELLS: u32 = 8;

/// Returns the cell of a position in the unit square.
#[device]
fn cell(x: f32, y: f32) -> (u32, u32) {
    let of = |x: f32| (x * CELLS as f32).max(0.0).min(CELLS as f32 - 1.0) as u32;
    (of(x), of(y))
}

/// Particles to their cells, up to 8 each (Green, "Particle Simulation using CUDA", 2010).
#[cluster_kernel(block = 64)]
fn fill_cells(x: &[f32], y: &[f32], counts: &mut [u32], members: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i >= x.len() {
        return;
    }
    let (column, row) = cell(x[i], y[i]);
    let at = row * CELLS + column;
    let place = counts.atomic(at).fetch_add(1, Relaxed);
    assert!(place < 8, "cell {at} is full: {i} found {place} others");
    members[at * 8 + place] = i as u32;
}

/// Counts the neighbours of each particle within a radius of a cell's width.
#[cluster_kernel(block = 64)]
fn neighbours(x: &[f32], y: &[f32], counts: &[u32], members: &[u32], out: &mut [u32], radius: f32) {
    let i = this_grid().thread_rank();
    if i >= x.len() {
        return;
    }
    let (column, row) = cell(x[i], y[i]);
    let mut found = 0;
    for near in 0..9 {
        let (cx, cy) = ((column + near % 3).wrapping_sub(1), (row + near / 3).wrapping_sub(1));
        if cx >= CELLS || cy >= CELLS {
            continue;
        }
        let at = cy * CELLS + cx;
        for place in 0..counts[at] {
            let other = members[at * 8 + place];
            let (dx, dy) = (x[other] - x[i], y[other] - y[i]);
            if other as usize != i && dx * dx + dy * dy < radius * radius {
                found += 1;
            }
        }
    }
    out[i] = found;
}

fn accelerations(bodies: &[f32], order: impl Fn(usize) -> Vec<usize>) -> Vec<f32> {
    let at = |i: usize| [bodies[4 * i], bodies[4 * i + 1], bodies[4 * i + 2]];
    let body =
        |i: usize| if 4 * i < bodies.len() { [at(i)[0], at(i)[1], at(i)[2], bodies[4 * i + 3]] } else { [0.0; 4] };
    let of = |i: usize| order(i).into_iter().fold([0.0; 3], |sum, other| attracted(sum, at(i), body(other)));
    (0..bodies.len() / 4).flat_map(of).collect()
}

fn gravities(device: &Device) -> Outcome {
    for count in [128, 77] {
        let bodies = reals(191, 4 * count);
        let input = device.upload(&bodies)?;
        let got = read!(device, 3 * count, |out| gravity(&input, out).grid(2));
        same(&got, &accelerations(&bodies, |_| (0..count).collect()), |i| format!("{count} bodies, {i}"))?;
    }
    Ok(())
}

fn gravities_by_clusters(device: &Device) -> Outcome {
    for count in [256, 300] {
        let bodies = reals(192, 4 * count);
        let input = device.upload(&bodies)?;
        let got = read!(device, 3 * count, |out| cluster_gravity(&input, out).grid(count.div_ceil(256) as u32 * 4));
        let order = |i: usize| {
            let first = i / BLOCK % 4;
            let turns = (0..count)
                .step_by(256)
                .flat_map(move |start| (0..4).map(move |turn| start + (first + turn) % 4 * BLOCK));
            turns.flat_map(|start| start..start + BLOCK).collect()
        };
        same(&got, &accelerations(&bodies, order), |i| format!("{count} bodies, {i}"))?;
    }
    Ok(())
}

fn particles(device: &Device) -> Outcome {
    let unit = |seed| reals(seed, 150).into_iter().map(|x| x * 0.5 + 0.5).collect::<Vec<f32>>();
    let (x, y) = (unit(193), unit(194));
    let (a, b, mut counts) = (device.upload(&x)?, device.upload(&y)?, device.zeros(64)?);
    let mut members = device.zeros(512)?;
    fill_cells(&a, &b, &mut counts, &mut members).grid(3).launch(device)?;
    let got = read!(device, 150, |out| neighbours(&a, &b, &counts, &members, out, 0.125).grid(3));
    let near = |i: usize| {
        let close =
            |&j: &usize| j != i && (x[j] - x[i]) * (x[j] - x[i]) + (y[j] - y[i]) * (y[j] - y[i]) < 0.125 * 0.125;
        (0..150).filter(close).count() as u32
    };
    same(&got, &(0..150).map(near).collect::<Vec<_>>(), |i| format!("particle {i}"))?;
    let crowd = device.upload(&[0.5f32; 20])?;
    let mut counts = device.zeros(64)?;
    match fill_cells(&crowd, &crowd, &mut counts, &mut members).grid(1).launch(device) {
        Err(error) if error.to_string().contains("cell 36 is full") => Ok(()),
        other => Err(format!("a cell that is too full: {other:?}").into()),
    }
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::physics",
        checks: check_list![gravities, gravities_by_clusters, particles],
        kernels: kernel_list![gravity, cluster_gravity, fill_cells, neighbours],
    }
}
