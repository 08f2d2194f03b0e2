//! Stencils: one step of diffusion on a plane, and many steps on rings of cells that a cluster holds in shared memory,
//! whose blocks send each other their outermost cells.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "stencil", about: "diffusion of `f32`s on a plane, and many steps of it on rings", cases };

const RATE: f32 = 0.2;

/// One step on a plane whose border stays: a thread a cell, in tiles of 32 by 8.
#[cluster_kernel(block = 256)]
fn plane(input: &[f32], out: &mut [f32], width: u32, rate: f32) {
    let i = this_thread_block().thread_rank();
    let rank = this_grid().block_rank() as u32;
    let tiles = width / 32;
    let (x, y) = (rank % tiles * 32 + i % 32, rank / tiles * 8 + i / 32);
    let at = y * width + x;
    let cell = input[at];
    let mut next = cell;
    if x > 0 && x < width - 1 && y > 0 && y < width - 1 {
        let around = input[at - 1] + input[at + 1] + (input[at - width] + input[at + width]);
        next = rate.mul_add(around - 4.0 * cell, cell);
    }
    out[at] = next;
}

const RING_BLOCK: usize = 512;
const CLUSTER: usize = 8;
/// The cells of a block.
const PART: usize = 8_192;
const RING: usize = CLUSTER * PART;
/// The places of an inbox: a cell from the left, and one from the right.
const WEST: u32 = 0;
const EAST: u32 = 1;

#[device]
fn relaxed(west: f32, cell: f32, east: f32, rate: f32) -> f32 {
    rate.mul_add(west + east - 2.0 * cell, cell)
}

/// `steps` steps on a ring for each cluster.
#[cluster_kernel(cluster = 8, block = 512)]
fn rings(input: &[f32], out: &mut [f32], steps: u32, rate: f32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let cells = shared_array::<[f32; PART], 2>();
    // Two inboxes in turn: a peer sends to one again after it has received in the other, which we sent after we had read.
    let inboxes = shared_array::<[f32; 2], 2>();
    let received = shared_cluster_barriers::<2>();
    received.init_collective(&cluster, 1);
    let i = block.thread_rank() as usize;
    let start = this_grid().block_rank() * PART;
    let left = (cluster.block_rank() + CLUSTER as u32 - 1) % CLUSTER as u32;
    let right = (cluster.block_rank() + 1) % CLUSTER as u32;

    for x in (i * 4..PART).step_by(RING_BLOCK * 4) {
        cells[0].store_vec(x, input.load_vec::<4>(start + x));
    }
    block.sync();
    for step in 0..steps {
        let (from, to) = (step % 2, 1 - step % 2);
        if i == 0 {
            received[from].expect_tx(8);
            let _ = received[from].arrive();
            let to_left = cluster.map_shared_rank(&received[from], left);
            let to_right = cluster.map_shared_rank(&received[from], right);
            cluster.map_shared_rank(&inboxes[from], left).store_async(EAST, cells[from][0], &to_left);
            cluster.map_shared_rank(&inboxes[from], right).store_async(WEST, cells[from][PART - 1], &to_right);
        }
        for x in (i + 1..PART - 1).step_by(RING_BLOCK) {
            cells[to][x] = relaxed(cells[from][x - 1], cells[from][x], cells[from][x + 1], rate);
        }
        if i == 0 {
            received[from].wait_parity(step / 2 % 2 == 1);
            let (west, east) = (inboxes[from][WEST], inboxes[from][EAST]);
            cells[to][0] = relaxed(west, cells[from][0], cells[from][1], rate);
            cells[to][PART - 1] = relaxed(cells[from][PART - 2], cells[from][PART - 1], east, rate);
        }
        block.sync();
    }
    for x in (i * 4..PART).step_by(RING_BLOCK * 4) {
        out.store_vec(start + x, cells[steps % 2].load_vec::<4>(x));
    }
    cluster.sync(); // no block exits while a peer sends to it
}

fn cases(scale: Scale) -> Vec<Case> {
    vec![on_a_plane(scale), on_rings(scale, 4), on_rings(scale, scale.pick(32, 7))]
}

fn on_a_plane(scale: Scale) -> Case {
    let width: usize = scale.pick(1 << 14, 64);
    let len = width * width;
    let grid = (len / 256) as u32;
    Case {
        version: "a plane, one step".into(),
        size: width as u64,
        unit: "columns",
        bytes: 8 * len as u64,
        twin: Twin::new("plane", include_str!("../../twins/stencil_plane.cu")),
        library: Some(json!({ "operation": "plane", "width": width })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                let pointers = [input, out].map(Argument::Word);
                let numbers = [Argument::Number(width as u32), Argument::Real(RATE)];
                Call::new(grid, 256, [pointers, numbers].concat())
            };
            let ours = move |device: &Device, input: &_, out: &mut _| {
                plane(input, out, width as u32, RATE).grid(grid).enqueue(device)
            };
            Map::prepared(device, data::reals(10, len), len, Before::Spoiled, ours, call, move |input, read| {
                for y in data::sample(width, 64) {
                    let row = y * width..(y + 1) * width;
                    let cell = |at: usize| f64::from(input[at]);
                    let border = |x: usize| x == 0 || x == width - 1 || y == 0 || y == width - 1;
                    let want = row.clone().map(|at| match border(at - y * width) {
                        true => cell(at),
                        false => {
                            let around = cell(at - 1) + cell(at + 1) + cell(at - width) + cell(at + width);
                            cell(at) + f64::from(RATE) * (around - 4.0 * cell(at))
                        }
                    });
                    compare::close(&format!("row {y}"), read(row.clone())?.into_iter().map(f64::from), want, 1e-6)?;
                }
                Ok(())
            })
        }),
    }
}

fn on_rings(scale: Scale, steps: u32) -> Case {
    let count: usize = scale.pick((1 << 28) / RING, 2);
    let grid = (count * CLUSTER) as u32;
    let twin = Twin::new("rings", include_str!("../../twins/stencil_rings.cu"));
    Case {
        version: format!("rings, {steps} steps in a launch"),
        size: RING as u64,
        unit: "cells",
        bytes: 8 * (count * RING) as u64,
        twin: twin.with("C", CLUSTER).with("PART", PART),
        library: Some(json!({ "operation": "rings", "count": count, "cells": RING, "steps": steps })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                let pointers = [input, out].map(Argument::Word);
                let numbers = [Argument::Number(steps), Argument::Real(RATE)];
                let call = Call::new(grid, RING_BLOCK, [pointers, numbers].concat());
                call.cluster(CLUSTER as u32).shared_bytes(8 * PART)
            };
            let ours = move |device: &Device, input: &_, out: &mut _| {
                rings(input, out, steps, RATE).grid(grid).enqueue(device)
            };
            let values = data::reals(11, count * RING);
            Map::prepared(device, values, count * RING, Before::Spoiled, ours, call, move |input, read| {
                for ring in data::sample(count, 4) {
                    let part = ring * RING..(ring + 1) * RING;
                    let want = diffused(&input[part.clone()], steps);
                    compare::close(&format!("ring {ring}"), read(part)?.into_iter().map(f64::from), want, 1e-5)?;
                }
                Ok(())
            })
        }),
    }
}

fn diffused(ring: &[f32], steps: u32) -> Vec<f64> {
    let mut cells: Vec<f64> = ring.iter().map(|&x| f64::from(x)).collect();
    for _ in 0..steps {
        let (before, len) = (cells.clone(), cells.len());
        for (x, cell) in cells.iter_mut().enumerate() {
            let around = before[(x + len - 1) % len] + before[(x + 1) % len];
            *cell += f64::from(RATE) * (around - 2.0 * before[x]);
        }
    }
    cells
}
