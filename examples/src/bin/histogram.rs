//! Teaches atomics on distributed shared memory, dynamic shared memory and a cluster size chosen at run time: counts
//! the byte pairs of a file.
//!
//! There are 65,536 pairs, so the bins take 256 KiB, more than a block can have. A cluster has enough: each of its
//! blocks holds a part of the bins, and all of its threads count into all parts. `--cluster 1` shows the error for a
//! cluster that is too small.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

/// The number of bins: one for each pair of bytes.
const BINS: usize = 65_536;
/// About as many clusters as a GPU runs at once; more would only add work to clear and sum the bins.
const MOST_CLUSTERS: usize = 64;

/// Adds the number of occurrences of each pair of adjacent bytes to `counts`. The dynamic shared memory of all blocks
/// of the cluster together must hold all bins.
#[cluster_kernel(block = 512)]
fn count_pairs(bytes: &[u8], counts: &mut [u32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let bins = dynamic_shared::<u32>();
    let part = bins.len() as u32; // the number of bins per block
    let first = block.thread_rank();
    let threads = block.num_threads() as usize;

    for bin in (first..part).step_by(threads) {
        bins[bin] = 0;
    }
    cluster.sync(); // all blocks have started, and all bins are zero

    // A pair is counted at its second byte, so files of zero or one byte need no special case.
    for i in (grid.thread_rank() + 1..bytes.len()).step_by(grid.num_threads()) {
        let pair = bytes[i - 1] as u32 * 256 + bytes[i] as u32;
        let owner = cluster.map_shared_rank(&bins, pair / part);
        owner.atomic(pair % part).fetch_add(1, Relaxed);
    }
    cluster.sync(); // all pairs are counted, and no block accesses its peers any more

    for bin in (first..part).step_by(threads) {
        let count = bins[bin];
        if count > 0 {
            counts.atomic(cluster.block_rank() * part + bin).fetch_add(count, Relaxed);
        }
    }
}

/// Computes the kernel's result in plain Rust.
fn count_pairs_in_rust(bytes: &[u8]) -> Vec<u32> {
    let mut counts = vec![0; BINS];
    for pair in bytes.windows(2) {
        counts[usize::from(pair[0]) << 8 | usize::from(pair[1])] += 1;
    }
    counts
}

/// Counts the byte pairs of a file, and prints the ten most frequent.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The file to read; this example's source if omitted.
    file: Option<PathBuf>,
    /// The number of blocks that share the bins.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=16))]
    cluster: u32,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, file, cluster }: &Arguments) -> Outcome {
    let device = &options.device;
    let bytes = match file {
        Some(path) => fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => include_bytes!("histogram.rs").to_vec(),
    };
    if u32::try_from(bytes.len()).is_err() {
        return Err(format!("{} bytes: a bin counts to 4,294,967,295 only", bytes.len()).into());
    }

    // A cluster clears and sums all bins, which pays off only from about `BINS` pairs on.
    let clusters = bytes.len().div_ceil(BINS).clamp(1, MOST_CLUSTERS) as u32;
    let shared_bytes = BINS.div_ceil(*cluster as usize) * size_of::<u32>();
    let input = device.upload(&bytes)?;
    let mut output = device.zeros(BINS)?;
    let counts = options.run(&mut output, |output| {
        let launch = count_pairs(&input, output).grid(clusters * cluster).cluster(*cluster);
        launch.shared_bytes(shared_bytes).launch(device)
    })?;

    print_most_frequent(&counts);
    compare("bin", &counts, &count_pairs_in_rust(&bytes), u32::eq)
}

fn print_most_frequent(counts: &[u32]) {
    let mut pairs: Vec<(usize, u32)> = counts.iter().copied().enumerate().filter(|&(_, count)| count > 0).collect();
    pairs.sort_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    println!("{total} pairs, {} different", pairs.len());
    for (pair, count) in pairs.into_iter().take(10) {
        println!("{count:>10}  \"{}\"", [(pair >> 8) as u8, pair as u8].escape_ascii());
    }
}
