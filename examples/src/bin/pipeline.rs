//! Teaches asynchronous bulk copies and the library's `Pipeline`: one thread fetches three stages ahead, the others
//! compute, and results are written back in bulk, too.
//!
//! A block processes its rows of a matrix. The producer thread waits until a stage is empty, states how many bytes the
//! stage's barrier must expect, and issues one bulk copy, which uses no registers: up to three rows are in flight while
//! a fourth is processed. The consumers wait for a full stage, normalize its row, store the result in a separate shared
//! row, and one of them issues the copy out. A result row is overwritten once the copy issued two rows earlier has read
//! it. The `init_collective` calls state how often each barrier is arrived at; each thread's `Pipeline` tracks the next
//! stage and parity.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

// ANCHOR: kernel
/// The number of threads that compute.
const CONSUMERS: usize = 256;
/// The number of threads of a block: the consumers, and a warp of which one thread fetches.
const BLOCK: usize = CONSUMERS + 32;
/// The length of a row.
const ROW: usize = 1024;
const BYTES: u32 = ROW as u32 * 4;
const STAGES: usize = 3;

/// Subtracts from each row its minimum.
#[cluster_kernel(block = BLOCK)]
fn lower(matrix: &[u32], lowered: &mut [u32], rows: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; ROW], STAGES>();
    let results = shared_array::<[u32; ROW], 2>();
    let least = shared_array::<u32, 8>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    let consumers = shared_barrier();
    full.init_collective(&block, 1); // the producer's arrival; the phase also waits for the bytes
    empty.init_collective(&block, CONSUMERS as u32 / 32); // one arrival per consumer warp
    consumers.init_collective(&block, CONSUMERS as u32);

    let first = this_grid().block_rank() * rows as usize;
    let mut pipeline = Pipeline::<STAGES>::new();
    if warp.meta_group_rank() == 8 {
        if warp.thread_rank() == 0 {
            for row in first..first + rows as usize {
                let stage = pipeline.producer_acquire(&empty);
                full[stage].expect_tx(BYTES);
                bulk_copy_async(&stages[stage], &matrix[row * ROW..(row + 1) * ROW], &full[stage]);
                pipeline.producer_commit(&full);
            }
        }
    } else {
        for row in 0..rows as usize {
            let stage = pipeline.consumer_wait(&full);
            let mut values = [0; ROW / CONSUMERS];
            let mut own = u32::MAX;
            for part in 0..ROW / CONSUMERS {
                values[part] = stages[stage][part * CONSUMERS + i];
                own = own.min(values[part]);
            }
            let of_warp = warp.reduce(own, op::Min); // also: all threads of the warp have read the stage
            if warp.thread_rank() == 0 {
                least[warp.meta_group_rank()] = of_warp;
            }
            warp.sync();
            if warp.thread_rank() == 0 {
                let _ = empty[stage].arrive();
            }
            pipeline.advance();
            if i == 0 {
                bulk_wait_group_read::<1>(); // the copy before the last has read its row
            }
            consumers.arrive_and_wait();
            let mut all = least[0];
            for other in 1..8 {
                all = all.min(least[other]);
            }
            for part in 0..ROW / CONSUMERS {
                results[row % 2][part * CONSUMERS + i] = values[part] - all;
            }
            consumers.arrive_and_wait();
            if i == 0 {
                let start = (first + row) * ROW;
                bulk_copy_async(&mut lowered[start..start + ROW], &results[row % 2]);
            }
        }
        if i == 0 {
            bulk_wait_group_read::<0>();
        }
    }
}
// ANCHOR_END: kernel

/// Computes the kernel's result in plain Rust.
fn lower_in_rust(matrix: &[u32]) -> Vec<u32> {
    let lowered = |row: &[u32]| {
        let least = row.iter().min().copied().unwrap_or(0);
        row.iter().map(move |value| value - least).collect::<Vec<u32>>()
    };
    matrix.chunks(ROW).flat_map(lowered).collect()
}

/// Prefetches the rows of a matrix three ahead, subtracts from each its minimum, and writes them back asynchronously.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of blocks.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    blocks: u32,
    /// The number of rows per block, of 1024 numbers each.
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1024))]
    rows: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, blocks, rows }: &Arguments) -> Outcome {
    let device = &options.device;
    let length = *blocks as usize * *rows as usize * ROW;
    let matrix: Vec<u32> = (0..length as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8 | 1 << 24).collect();
    let input = device.upload(&matrix)?;
    let mut output = device.zeros(length)?;
    let launch = |output: &mut Buffer<u32>| lower(&input, output, *rows).grid(*blocks).launch(device);
    let lowered = options.run(&mut output, launch)?;
    let mean = |values: &[u32]| values.iter().map(|value| f64::from(*value)).sum::<f64>() / length as f64;
    println!("{length} numbers; their mean is {:.0} before and {:.0} after", mean(&matrix), mean(&lowered));
    compare("number", &lowered, &lower_in_rust(&matrix), |a, b| a == b)
}
