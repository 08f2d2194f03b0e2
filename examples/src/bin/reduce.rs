//! Teaches a reduction in three levels: a thread reduces its share of the input, a block its threads' results in shared
//! memory, and a cluster its blocks' results through distributed shared memory.
//!
//! The kernel computes the sum, the minimum and the maximum of an array. Each cluster leaves one of each, and the host
//! combines them: with clusters there are fewer values left to combine.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

// ANCHOR: kernel
const CLUSTER: u32 = 4;
const BLOCK: usize = 256;
/// The number of results per cluster: sum, minimum, maximum; for no values 0, `u32::MAX`, 0.
const RESULTS: usize = 3;

/// Reduces `values`; a cluster's `results` start at `RESULTS` times its rank in the grid.
#[cluster_kernel(cluster = 4, block = 256)]
fn reduce(values: &[u32], results: &mut [u64]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let sums = shared_array::<u64, BLOCK>();
    let smallest = shared_array::<u32, BLOCK>();
    let largest = shared_array::<u32, BLOCK>();

    // The thread: strided by the grid, so that adjacent threads read adjacent values.
    let mut sum = 0;
    let mut low = u32::MAX;
    let mut high = 0;
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        let value = values[i];
        sum += value as u64;
        low = low.min(value);
        high = high.max(value);
    }

    // The block: each round halves the number of partial results.
    let me = block.thread_rank() as usize;
    sums[me] = sum;
    smallest[me] = low;
    largest[me] = high;
    let mut half = BLOCK / 2;
    while half > 0 {
        block.sync();
        if me < half {
            sums[me] += sums[me + half];
            smallest[me] = smallest[me].min(smallest[me + half]);
            largest[me] = largest[me].max(largest[me + half]);
        }
        half /= 2;
    }

    // The cluster: one thread reads the blocks' results.
    cluster.sync(); // all blocks have started, and their results are written
    if cluster.thread_rank() == 0 {
        sum = 0;
        low = u32::MAX;
        high = 0;
        for rank in 0..cluster.num_blocks() {
            sum += cluster.map_shared_rank(&sums, rank)[0];
            low = low.min(cluster.map_shared_rank(&smallest, rank)[0]);
            high = high.max(cluster.map_shared_rank(&largest, rank)[0]);
        }
        let at = grid.cluster_rank() * RESULTS;
        results[at] = sum;
        results[at + 1] = low as u64;
        results[at + 2] = high as u64;
    }
    cluster.sync(); // no block exits while that thread reads its results
}
// ANCHOR_END: kernel

/// Computes the sum, the minimum and the maximum of an array.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of values.
    #[arg(long, default_value_t = 1 << 24, value_parser = clap::value_parser!(u32).range(..=1 << 30))]
    len: u32,
    /// The number of clusters of 4 blocks to launch.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65536))]
    clusters: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, len, clusters }: &Arguments) -> Outcome {
    let device = &options.device;
    let values: Vec<u32> = (0..*len).map(random).collect();

    let input = device.upload(&values)?;
    let mut output = device.zeros(*clusters as usize * RESULTS)?;
    let results = options.run(&mut output, |output| reduce(&input, output).grid(clusters * CLUSTER).launch(device))?;

    let of = |which: usize| results.iter().skip(which).step_by(RESULTS).copied();
    let kernel = [of(0).sum(), of(1).min().unwrap_or(u64::MAX), of(2).max().unwrap_or(0)];
    let [sum, low, high] = kernel;
    println!("{len} values in {clusters} clusters: sum {sum}, smallest {low}, largest {high}");

    let wide = || values.iter().map(|&value| u64::from(value));
    let rust = [wide().sum(), wide().min().unwrap_or(u32::MAX.into()), wide().max().unwrap_or(0)];
    compare("result", &kernel, &rust, u64::eq)
}

/// Returns the value at `i`, by a hash (splitmix64).
fn random(i: u32) -> u32 {
    let mut hash = (u64::from(i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)) as u32
}
