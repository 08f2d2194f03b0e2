//! Teaches timelines: which threads wait for which at a barrier, and how much of that wait the work between arrive and
//! wait hides.
//!
//! The blocks of a cluster sum parts of different lengths, and every block needs the sums of all. With `sync`, blocks
//! with short parts wait for those with long ones. With a split barrier, they do other necessary work meanwhile. The
//! example runs both, prints the cost of the waits, and writes for each a page (HTML), a picture (SVG) and a trace for
//! Perfetto (JSON). Times are nanoseconds on a GPU, and steps in the simulator.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish};

const CLUSTER: usize = 4;
const BLOCK: usize = 64;
/// The number of values per thread in the longest part.
const LONGEST: u32 = 64;

/// Work that needs no other block's sum.
#[device]
fn own_work(seed: u32, turns: u32) -> u32 {
    let mut state = seed;
    for i in 0..turns {
        state = state.rotate_left(5) ^ i;
    }
    state
}

/// Sums one part per block, and combines the sums of all blocks of the cluster; `SPLIT` selects how they wait.
#[cluster_kernel(cluster = CLUSTER, block = BLOCK, profile)]
fn parts<const SPLIT: bool>(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let sums = shared_array::<u32, BLOCK>();
    let i = block.thread_rank();
    let rank = cluster.block_rank();

    let mut sum = 0;
    for value in 0..LONGEST / (rank + 1) {
        sum += own_work(value, 2) & 0xff;
    }
    sums[i] = sum;
    let own;
    if SPLIT {
        let token = cluster.barrier_arrive();
        own = own_work(i, LONGEST);
        cluster.barrier_wait(token);
    } else {
        cluster.sync();
        own = own_work(i, LONGEST);
    }
    let mut total = own;
    for peer in 0..cluster.num_blocks() {
        total += cluster.map_shared_rank(&sums, peer)[i];
    }
    out[this_grid().thread_rank()] = total;
    cluster.sync(); // no block exits while a peer reads its sums
}

/// Computes the kernel's result in plain Rust.
fn parts_in_rust(clusters: u32) -> Vec<u32> {
    let sum = |rank: u32| (0..LONGEST / (rank + 1)).map(|value| own_work(value, 2) & 0xff).sum::<u32>();
    let all: u32 = (0..CLUSTER as u32).map(sum).sum();
    let thread = |i: usize| own_work((i % BLOCK) as u32, LONGEST).wrapping_add(all);
    (0..clusters as usize * CLUSTER * BLOCK).map(thread).collect()
}

/// Shows the cost of waiting, with and without work between arrive and wait.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of clusters.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    clusters: u32,
    /// Where to write the pages, pictures and traces; the system's temporary folder if omitted.
    #[arg(long)]
    folder: Option<PathBuf>,
}

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, clusters, folder }: &Arguments) -> Outcome {
    let device = &options.device;
    let folder = folder.clone().unwrap_or_else(std::env::temp_dir);
    let want = parts_in_rust(*clusters);
    let mut out = device.zeros(want.len())?;
    // The first launch compiles the kernel and warms up the device.
    let result = options.run(&mut out, |out| parts::<true>(out).grid(clusters * CLUSTER as u32).launch(device))?;
    compare("sum", &result, &want, |a, b| a == b)?;
    for (name, split) in [("sync", false), ("split", true)] {
        let launch = if split { parts::<true>(&mut out) } else { parts::<false>(&mut out) };
        let timeline = launch.grid(clusters * CLUSTER as u32).timeline(device)?;
        compare("sum", &out.read()?, &want, |a, b| a == b)?;
        println!("{name}: {timeline}");
        let trace = serde_json::to_string(&timeline.to_trace())?;
        for (text, extension) in [(timeline.to_html(), "html"), (timeline.to_svg(), "svg"), (trace, "json")] {
            let path = folder.join(format!("timeline-{name}.{extension}"));
            fs::write(&path, text)?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}
