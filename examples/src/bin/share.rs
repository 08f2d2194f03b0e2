//! Teaches the split barrier and distributed shared memory: the cluster example of CUDA's programming guide.
//!
//! Each block of a cluster publishes an array in its shared memory, arrives, does independent work while the others
//! arrive, and only then waits and reads the next block's array. `--source` prints the CUDA C++ generated for the
//! kernel.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, compare, finish, report};

const CLUSTER: usize = 4;
const BLOCK: usize = 256;

/// Work that needs no other thread.
#[device]
fn local_processing(x: i32) -> i32 {
    let mut sum = 0;
    for i in 0..8 {
        sum += x * i;
    }
    sum
}

#[cluster_kernel(cluster = 4, block = 256)]
fn share(input: &[i32], output: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<i32, BLOCK>();
    let i = this_grid().thread_rank();

    array[block.thread_rank()] = input[i];
    let token = cluster.barrier_arrive(); // this block has started, and its array is written; does not block
    let local = local_processing(input[i]); // hides the latency
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    let dsmem = cluster.map_shared_rank(&array, next);
    cluster.barrier_wait(token); // consumes the token: all blocks have started, and all arrays are written

    output[i] = dsmem[block.thread_rank()] + local;
    cluster.sync(); // no block exits while a peer reads its array
}

/// Computes the kernel's result in plain Rust.
fn share_in_rust(input: &[i32]) -> Vec<i32> {
    let of_cluster = |cluster: &[i32]| {
        let next = |i: usize| cluster[(i + BLOCK) % cluster.len()];
        let local = |x: i32| (0..8).map(|i| x.wrapping_mul(i)).fold(0, i32::wrapping_add);
        (0..cluster.len()).map(|i| next(i).wrapping_add(local(cluster[i]))).collect::<Vec<_>>()
    };
    input.chunks(CLUSTER * BLOCK).flat_map(of_cluster).collect()
}

/// Lets each block of a cluster read the shared memory of the next.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of clusters of 4 blocks to launch.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=65536))]
    clusters: u32,
    /// Print the kernel's CUDA C++ instead of launching it.
    #[arg(long)]
    source: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.source { report(print_source()) } else { finish(run(&arguments)) }
}

fn print_source() -> Outcome {
    Ok(io::stdout().write_all(share::cuda_source()?.as_bytes())?)
}

fn run(Arguments { options, clusters, source: _ }: &Arguments) -> Outcome {
    let device = &options.device;
    let blocks = clusters * CLUSTER as u32;
    let values: Vec<i32> = (1..=blocks * BLOCK as u32).map(|i| i.wrapping_mul(2_654_435_761) as i32).collect();

    let input = device.upload(&values)?;
    let mut output = device.zeros(values.len())?;
    let shared = options.run(&mut output, |output| share(&input, output).grid(blocks).launch(device))?;

    println!("{} values; value 0 is {} and becomes {}", values.len(), values[0], shared[0]);
    compare("value", &shared, &share_in_rust(&values), i32::eq)
}
