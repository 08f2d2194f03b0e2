//! Teaches how a phase barrier comes to life, and its five stages: the `init_barrier` and `split_arrive_wait` of CUDA's
//! programming guide.
//!
//! A block keeps a ring of samples, one a thread. One thread says how many arrivals a phase has, and all threads meet
//! before anybody arrives. In each round a thread writes its sample (before), arrives, weighs it (between), waits, and
//! blends it with its neighbours' (after). Two halves of an array take turns: a half is written again two rounds later,
//! when all have arrived once more, and so have read it.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

const BLOCK: usize = 256;

#[cluster_kernel(block = BLOCK)]
fn smooth(input: &[f32], output: &mut [f32], rounds: u32) {
    let bar = shared_barrier();
    let block = this_thread_block();
    let halves = shared_array::<[f32; BLOCK], 2>();

    if block.thread_rank() == 0 {
        bar.init(block.num_threads()); // a single thread sets the expected arrival count
    }
    block.sync(); // no thread arrives before that

    let i = block.thread_rank() as usize;
    let mut sample = input[this_grid().thread_rank()];
    for round in 0..rounds {
        let half = round % 2;
        halves[half][i] = sample; // before: read by others after their wait
        let token = bar.arrive(); // does not block
        let own = sample * 0.5; // between: hides the others' way here
        bar.wait(token); // until all 256 arrivals of this phase have come
        sample = own + (halves[half][(i + BLOCK - 1) % BLOCK] + halves[half][(i + 1) % BLOCK]) * 0.25; // after
    }
    output[this_grid().thread_rank()] = sample;
}

/// What the kernel computes, in plain Rust.
fn smooth_in_rust(input: &[f32], rounds: u32) -> Vec<f32> {
    let mut samples = input.to_vec();
    for _ in 0..rounds {
        let of_ring = |ring: &[f32]| {
            let blend = |i: usize| ring[i] * 0.5 + (ring[(i + BLOCK - 1) % BLOCK] + ring[(i + 1) % BLOCK]) * 0.25;
            (0..BLOCK).map(blend).collect::<Vec<f32>>()
        };
        samples = samples.chunks(BLOCK).flat_map(of_ring).collect();
    }
    samples
}

/// Smooths rings of samples, with a phase barrier in each round.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// How many rings of 256 samples.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    rings: u32,
    /// How many rounds.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, rings, rounds }: &Arguments) -> Outcome {
    let device = &options.device;
    // A step in each ring, higher from ring to ring.
    let step = |i: usize| if i % BLOCK < BLOCK / 2 { 0.0 } else { 1.0 + (i / BLOCK) as f32 };
    let samples: Vec<f32> = (0..*rings as usize * BLOCK).map(step).collect();

    let input = device.upload(&samples)?;
    let mut output = device.zeros(samples.len())?;
    let smoothed = options.run(&mut output, |output| smooth(&input, output, *rounds).grid(*rings).launch(device))?;

    println!(
        "{rings} rings, {rounds} rounds; beside the step: {} and {}",
        smoothed[BLOCK / 2 - 1],
        smoothed[BLOCK / 2]
    );
    compare("sample", &smoothed, &smooth_in_rust(&samples, *rounds), |a, b| a.to_bits() == b.to_bits())
}
