//! Teaches a cluster-scope phase barrier: two blocks hand work to each other, and each waits only for its turn.
//!
//! A ball of 256 numbers travels back and forth between the two blocks of a cluster. In its turn a block waits for the
//! ball, hits it, and writes it into the other block's shared memory; then each thread arrives at the other block's
//! barrier. The arrival's release and the wait's acquire make the written data visible. The cluster's own barrier,
//! which all threads of both blocks would have to reach in each turn, is used only at the start, before peers' memory
//! is accessed, and at the end.
//!
//! That no two accesses of a court overlap follows from the phases alone, for any number of turns: the compiler follows both blocks
//! through all of their interleavings. With another parity, or without one of the arrivals, the kernel does not compile.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

const BLOCK: usize = 256;

/// The value that a block computes from a number of the ball.
#[device]
fn hit(number: u32, turn: u32) -> u32 {
    (number ^ turn) * 0x9e37_79b9 + number.rotate_left(7)
}

#[cluster_kernel(cluster = 2, block = BLOCK)]
fn ping_pong(input: &[u32], output: &mut [u32], turns: u32) {
    let cluster = this_cluster();
    let rank = cluster.block_rank();
    let court = shared_array::<u32, BLOCK>();
    let ball = shared_cluster_barrier();
    ball.init_collective(&cluster, BLOCK as u32); // a phase completes when all threads of the other block have arrived

    let other_court = cluster.map_shared_rank(&court, 1 - rank);
    let other_ball = cluster.map_shared_rank(&ball, 1 - rank);
    let i = this_thread_block().thread_rank() as usize;
    let at = this_grid().cluster_rank() * BLOCK + i;
    let mut number = input[at];
    for turn in 0..turns {
        if turn % 2 == rank {
            if turn > 0 {
                ball.wait_parity((turn - 1) / 2 % 2 == 1); // the ball has arrived here `(turn - 1) / 2` times before
                number = court[(i + 1) % BLOCK];
            }
            other_court[i] = hit(number, turn);
            other_ball.arrive();
        }
    }
    if turns % 2 == rank && turns > 0 {
        ball.wait_parity((turns - 1) / 2 % 2 == 1);
        output[at] = court[i];
    }
    cluster.sync(); // no block exits while the other writes into its court
}

/// Computes the kernel's result in plain Rust.
fn ping_pong_in_rust(input: &[u32], turns: u32) -> Vec<u32> {
    let hit = |number: u32, turn: u32| (number ^ turn).wrapping_mul(0x9e37_79b9).wrapping_add(number.rotate_left(7));
    let of_cluster = |ball: &[u32]| {
        let mut ball = ball.to_vec();
        for turn in 0..turns {
            let taken = |i: usize| if turn == 0 { ball[i] } else { ball[(i + 1) % BLOCK] };
            ball = (0..BLOCK).map(|i| hit(taken(i), turn)).collect();
        }
        ball
    };
    input.chunks(BLOCK).flat_map(of_cluster).collect()
}

/// Plays a ball back and forth between the two blocks of a cluster.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of clusters, each with one ball.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65536))]
    clusters: u32,
    /// The number of turns.
    #[arg(long, default_value_t = 1001, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, clusters, turns }: &Arguments) -> Outcome {
    let device = &options.device;
    let balls: Vec<u32> = (0..clusters * BLOCK as u32).collect();

    let input = device.upload(&balls)?;
    let mut output = device.zeros(balls.len())?;
    let launch = |output: &mut Buffer<u32>| ping_pong(&input, output, *turns).grid(2 * clusters).launch(device);
    let end = options.run(&mut output, launch)?;

    println!("{clusters} balls of {BLOCK} numbers, {turns} turns; number 0 is {} at the end", end[0]);
    compare("number", &end, &ping_pong_in_rust(&balls, *turns), u32::eq)
}
