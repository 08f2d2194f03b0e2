//! Teaches warp specialization: one warp of a block fetches, the others compute, and two barriers per stage synchronize
//! them.
//!
//! A block processes its part of a signal in chunks. The producer warp copies the next chunk, with the margin that the
//! filter needs on both sides, into one of four stages as soon as the stage is empty, and signals that it is full. The
//! consumers wait for a full stage, filter it, and signal that it is empty. No thread waits for the whole block. A
//! barrier's phase is identified by its parity: stage `s` is used in rounds `s`, `s + 4`, ..., so the parity of a round
//! is that of `round / 4`. All stages are initially empty: the producer first waits for the phase before the first,
//! which counts as complete.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

// ANCHOR: kernel
const WARP: usize = 32;
/// The number of threads that filter: one per sample of a chunk.
const CONSUMERS: usize = 224;
const BLOCK: usize = WARP + CONSUMERS;
/// The number of samples in the filter's window.
const TAPS: usize = 9;
/// The number of samples per stage.
const STAGE: usize = CONSUMERS + TAPS - 1;
const STAGES: usize = 4;
/// The number of chunks per block.
const CHUNKS: usize = 24;

#[cluster_kernel(block = BLOCK)]
fn filter(signal: &[f32], taps: &[f32], output: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let stages = shared_array::<[f32; STAGE], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, WARP as u32); // one arrival per thread of the producer warp
    empty.init_collective(&block, CONSUMERS as u32 / 32); // one arrival per consumer warp

    let start = this_grid().block_rank() * CHUNKS * CONSUMERS;
    if warp.meta_group_rank() == 0 {
        for chunk in 0..CHUNKS {
            let stage = chunk % STAGES;
            empty[stage].wait_parity(chunk / STAGES % 2 == 0);
            for i in (warp.thread_rank() as usize..STAGE).step_by(WARP) {
                let at = start + chunk * CONSUMERS + i;
                stages[stage][i] = if at < signal.len() { signal[at] } else { 0.0 };
            }
            let _ = full[stage].arrive(); // the producer does not wait on it
        }
    } else {
        let lane = block.thread_rank() as usize - WARP;
        for chunk in 0..CHUNKS {
            let stage = chunk % STAGES;
            full[stage].wait_parity(chunk / STAGES % 2 == 1);
            let mut sum = 0.0;
            for tap in 0..TAPS {
                sum += stages[stage][lane + tap] * taps[tap];
            }
            warp.sync(); // all threads of the warp have read
            if warp.thread_rank() == 0 {
                let _ = empty[stage].arrive();
            }
            output[start + chunk * CONSUMERS + lane] = sum;
        }
    }
}
// ANCHOR_END: kernel

/// Computes the kernel's result in plain Rust.
fn filter_in_rust(signal: &[f32], taps: &[f32]) -> Vec<f32> {
    let sample = |i: usize| signal.get(i).copied().unwrap_or(0.0);
    let at = |i: usize| taps.iter().enumerate().fold(0.0, |sum, (tap, weight)| sum + sample(i + tap) * weight);
    (0..signal.len()).map(at).collect()
}

/// Filters a signal with a producer warp and seven consumer warps in each block.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of blocks, of 24 chunks of 224 samples each.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4096))]
    blocks: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, blocks }: &Arguments) -> Outcome {
    let device = &options.device;
    let length = *blocks as usize * CHUNKS * CONSUMERS;
    // A slow wave plus a fast one, which the filter removes.
    let wave = |i: usize| (i as f32 * 0.01).sin() + [0.5, -0.5][i % 2];
    let signal: Vec<f32> = (0..length).map(wave).collect();
    let taps = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0].map(|weight: f32| weight / 256.0);

    let (input, weights) = (device.upload(&signal)?, device.upload(&taps)?);
    let mut output = device.zeros(length)?;
    let launch = |output: &mut Buffer<f32>| filter(&input, &weights, output).grid(*blocks).launch(device);
    let filtered = options.run(&mut output, launch)?;

    let roughness = |samples: &[f32]| samples.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f32>();
    let (before, after) = (roughness(&signal) / length as f32, roughness(&filtered) / length as f32);
    println!("{length} samples; a step from one to the next is {before:.4} before and {after:.4} after");
    compare("sample", &filtered, &filter_in_rust(&signal, &taps), |a, b| a.to_bits() == b.to_bits())
}
