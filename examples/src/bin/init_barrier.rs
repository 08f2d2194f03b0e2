//! Teaches how to initialize a phase barrier, and its five stages: the `init_barrier` and `split_arrive_wait` examples
//! of CUDA's programming guide.
//!
//! A block keeps a ring of samples, one per thread. One thread sets the number of arrivals per phase, and all threads
//! synchronize before any of them arrives. In each round a thread writes its sample (before), arrives, weighs the
//! sample (between), waits, and blends it with its neighbours' samples (after). Two halves of an array alternate: a
//! half is written again two rounds later, when all threads have arrived once more and have therefore read it.

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
    block.sync(); // no thread arrives before the barrier is initialized

    let i = block.thread_rank() as usize;
    let mut sample = input[this_grid().thread_rank()];
    for round in 0..rounds {
        let half = round % 2;
        halves[half][i] = sample; // before: visible to the others after their wait
        let token = bar.arrive(); // does not block
        let own = sample * 0.5; // between: overlaps with the others' arrivals
        bar.wait(token); // blocks until all 256 arrivals of this phase
        sample = own + (halves[half][(i + BLOCK - 1) % BLOCK] + halves[half][(i + 1) % BLOCK]) * 0.25; // after
    }
    output[this_grid().thread_rank()] = sample;
}

/// Computes the kernel's result in plain Rust.
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

/// Smooths rings of samples, with one phase of a barrier per round.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of rings of 256 samples.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    rings: u32,
    /// The number of rounds.
    #[arg(long, default_value_t = 100)]
    rounds: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, rings, rounds }: &Arguments) -> Outcome {
    let device = &options.device;
    // Each ring has a step, higher than that of the preceding ring.
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
