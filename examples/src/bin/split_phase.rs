//! Teaches a split barrier in a loop: arrive, compute, wait, with one cluster barrier per step.
//!
//! Heat spreads along a ring of cells. A thread keeps its cells in registers. In each step it publishes its first and
//! its last cell, arrives, updates the cells between them while the others arrive, waits, and then reads the cells next
//! to its own from the threads on either side, in whichever block of the cluster they are. Cells are published into two
//! alternating buffers. A thread writes the buffer of step `s` again in step `s + 2`, after the wait of step `s + 1`;
//! by then all threads have arrived in step `s + 1`, and have therefore read what they needed in step `s`.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

const CLUSTER: usize = 4;
const BLOCK: usize = 128;
/// The number of cells per thread.
const CELLS: usize = 8;
/// The number of cells in a ring.
const RING: usize = CLUSTER * BLOCK * CELLS;
/// Two buffers, each with one cell per thread.
const PUBLISHED: usize = 2 * BLOCK;

/// Computes one step of the heat equation for one cell.
#[device]
fn heat(left: f32, cell: f32, right: f32, rate: f32) -> f32 {
    cell + rate * (left - 2.0 * cell + right)
}

#[cluster_kernel(cluster = 4, block = BLOCK)]
fn spread(before: &[f32], after: &mut [f32], rate: f32, steps: u32) {
    let cluster = this_cluster();
    let thread = this_thread_block().thread_rank();
    let firsts = shared_array::<f32, PUBLISHED>();
    let lasts = shared_array::<f32, PUBLISHED>();

    // The threads of the cluster form a ring, too. Neighbours may be in another block.
    let threads = cluster.num_threads();
    let block = BLOCK as u32;
    let left = (cluster.thread_rank() + threads - 1) % threads;
    let right = (cluster.thread_rank() + 1) % threads;
    let left_lasts = cluster.map_shared_rank(&lasts, left / block);
    let right_firsts = cluster.map_shared_rank(&firsts, right / block);

    let start = this_grid().thread_rank() * CELLS;
    let mut cells = [0.0; CELLS];
    for j in 0..CELLS {
        cells[j] = before[start + j];
    }
    for step in 0..steps {
        let buffer = step % 2 * block;
        firsts[buffer + thread] = cells[0];
        lasts[buffer + thread] = cells[CELLS - 1];
        let token = cluster.barrier_arrive();

        let mut next = [0.0; CELLS];
        for j in 1..CELLS - 1 {
            next[j] = heat(cells[j - 1], cells[j], cells[j + 1], rate);
        }

        cluster.barrier_wait(token);
        next[0] = heat(left_lasts[buffer + left % block], cells[0], cells[1], rate);
        next[CELLS - 1] = heat(cells[CELLS - 2], cells[CELLS - 1], right_firsts[buffer + right % block], rate);
        cells = next;
    }
    cluster.sync(); // no block exits while a neighbour reads its cells
    for j in 0..CELLS {
        after[start + j] = cells[j];
    }
}

/// Computes the kernel's result in plain Rust, for one ring.
fn spread_in_rust(ring: &[f32], rate: f32, steps: u32) -> Vec<f32> {
    let mut cells = ring.to_vec();
    for _ in 0..steps {
        let cell = |i: usize| cells[i % RING];
        let next = |i| cell(i) + rate * (cell(i + RING - 1) - 2.0 * cell(i) + cell(i + 1));
        cells = (0..RING).map(next).collect();
    }
    cells
}

/// Spreads heat along a ring of cells, over the blocks of a cluster.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of steps.
    #[arg(long, default_value_t = 1000)]
    steps: u32,
    /// How fast heat spreads, from 0 to 0.5.
    #[arg(long, default_value_t = 0.25, value_parser = stable_rate)]
    rate: f32,
}

/// Parses a rate; above 0.5, the cells oscillate with growing amplitude.
fn stable_rate(text: &str) -> Result<f32, &'static str> {
    text.parse().ok().filter(|rate| (0.0..=0.5).contains(rate)).ok_or("not a number from 0 to 0.5")
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, steps, rate }: &Arguments) -> Outcome {
    let device = &options.device;
    // 20 degrees, with a hotter spot where two blocks' cells meet.
    let degrees = |i: usize| if (i + 32) % (RING / CLUSTER) < 64 { 40.0 + (i / 64) as f32 } else { 20.0 };
    let start: Vec<f32> = (0..RING).map(degrees).collect();

    let before = device.upload(&start)?;
    let mut after = device.zeros(RING)?;
    let end =
        options.run(&mut after, |after| spread(&before, after, *rate, *steps).grid(CLUSTER as u32).launch(device))?;

    println!("{RING} cells, {steps} steps");
    for (when, cells) in [("before", &start), ("after", &end)] {
        let hottest = cells.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mean = cells.iter().map(|&cell| f64::from(cell)).sum::<f64>() / RING as f64;
        println!("{when:>6}: hottest {hottest:.3}, mean {mean:.3}");
    }
    compare("cell", &end, &spread_in_rust(&start, *rate, *steps), |a, b| a.to_bits() == b.to_bits())
}
