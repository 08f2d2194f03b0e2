//! Teaches the grid's barrier: an iterative solver in a single launch.
//!
//! Jacobi's method computes the temperature of a square plate whose edges are held constant: each inner cell repeatedly
//! becomes the mean of its four neighbours. All cells of an iteration are computed from those of the preceding one, so
//! the whole grid must synchronize between two iterations; without a grid barrier, each iteration would be a launch.
//! There are as many threads as can be resident at once, and they process the cells in a grid-stride loop. Two fields
//! alternate: a thread overwrites a cell two iterations later, after a barrier that all readers of the cell have
//! reached. While the other threads arrive, the warps record how much has changed.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

/// The number of iterations between two reports of the largest change.
const EVERY: u32 = 50;

/// `fields` holds two fields, one after the other. `changes` holds the bits of the largest change of an iteration;
/// their order is that of the numbers, because none is negative.
#[cluster_kernel(block = 256)]
fn jacobi(fields: &mut [f32], changes: &mut [u32], side: usize, iterations: u32) {
    let grid = this_grid();
    let warp = tiled_partition::<32>(&this_thread_block());
    let cells = side * side;
    for iteration in 0..iterations {
        let (from, to) = if iteration % 2 == 0 { (0, cells) } else { (cells, 0) };
        let mut change = 0.0f32;
        for cell in (grid.thread_rank()..cells).step_by(grid.num_threads()) {
            let (row, column) = (cell / side, cell % side);
            let at = from + cell;
            let old = fields[at];
            let mut new = old;
            if row > 0 && row < side - 1 && column > 0 && column < side - 1 {
                new = 0.25 * ((fields[at - side] + fields[at + side]) + (fields[at - 1] + fields[at + 1]));
            }
            fields[to + cell] = new;
            change = change.max((new - old).abs());
        }
        let token = grid.barrier_arrive();
        if iteration % EVERY == EVERY - 1 {
            let most = warp.reduce(change.to_bits(), op::Max);
            if warp.thread_rank() == 0 {
                changes.atomic(iteration / EVERY).fetch_max(most, Relaxed);
            }
        }
        grid.barrier_wait(token);
    }
}

/// Computes the kernel's result in plain Rust: the last field, and the largest change of every `EVERY`th iteration.
fn jacobi_in_rust(plate: &[f32], side: usize, iterations: u32) -> (Vec<f32>, Vec<u32>) {
    let mut field = plate.to_vec();
    let mut changes = Vec::new();
    for iteration in 0..iterations {
        let old = field.clone();
        let mut change = 0.0f32;
        for row in 1..side - 1 {
            for at in row * side + 1..row * side + side - 1 {
                field[at] = 0.25 * ((old[at - side] + old[at + side]) + (old[at - 1] + old[at + 1]));
                change = change.max((field[at] - old[at]).abs());
            }
        }
        if iteration % EVERY == EVERY - 1 {
            changes.push(change.to_bits());
        }
    }
    (field, changes)
}

/// Computes the temperature of a plate with one hot edge.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of cells along an edge of the plate.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(3..=8192))]
    side: u32,
    /// The number of iterations.
    #[arg(long, default_value_t = 400)]
    iterations: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, side, iterations }: &Arguments) -> Outcome {
    let device = &options.device;
    let (side, iterations) = (*side as usize, *iterations);
    // The first row is hot.
    let plate: Vec<f32> = (0..side * side).map(|cell| if cell < side { 100.0 } else { 0.0 }).collect();
    let (want, want_changes) = jacobi_in_rust(&plate, side, iterations);

    let mut changes = device.zeros::<u32>(want_changes.len().max(1))?;
    let mut fields = device.upload(&[&plate[..], &plate[..]].concat())?;
    // All blocks must be resident at once, because they wait for each other.
    let most = jacobi(&mut fields, &mut changes, side, iterations).occupancy(device)?.blocks;
    let blocks = most.min(plate.len().div_ceil(256));
    let fields = options
        .run(&mut fields, |fields| jacobi(fields, &mut changes, side, iterations).grid(blocks as u32).launch(device))?;

    println!("{side} by {side} cells, {iterations} iterations, {blocks} blocks of at most {most}");
    let changes = changes.read()?;
    if let Some(last) = want_changes.len().checked_sub(1) {
        let iteration = want_changes.len() * EVERY as usize;
        println!("iteration {iteration} still changed a cell by {}", f32::from_bits(changes[last]));
    }
    let start = if iterations % 2 == 0 { 0 } else { side * side };
    compare("cell", &fields[start..][..side * side], &want, |a, b| a.to_bits() == b.to_bits())?;
    if options.time {
        return Ok(()); // The timed launches continued from this result, and the reports cover all of them.
    }
    compare("change", &changes[..want_changes.len()], &want_changes, |a, b| a == b)
}
