//! Measures the cost of each barrier on this GPU in clock cycles: a loop of barriers and nothing else, timed by one
//! thread's clock. `twins/barrier_cycles.cu` is the same program in CUDA C++ with cooperative groups and
//! `<cuda/barrier>`, and prints the same table: run the two alternately. The simulator has no clock; the kernels run,
//! and all cycle counts are 0.

use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx_examples::{Options, Outcome, finish};

/// The multiprocessor's clock.
#[device]
fn clock() -> u64 {
    let ticks: u64;
    unsafe { cuda!("ticks = u64(static_cast<unsigned long long>(clock64()));", out(ticks); else || 0) }
    ticks
}

/// The number of barriers per launch: a constant, so that the loop does not reload it.
const ROUNDS: u32 = 100;

/// A kernel that executes `ROUNDS` barriers and stores the cycles that they took together.
macro_rules! measured {
    ($($name:ident: $group:ident = $this:ident() $(with $barrier:ident = $shared:ident())? => $body:block)*) => {$(
        #[cluster_kernel(cluster = 2, fence = "full")]
        fn $name(ticks: &mut [u64]) {
            let $group = $this();
            $(
                let block = this_thread_block();
                let $barrier = $shared();
                $barrier.init_collective(&block, block.num_threads());
            )?
            $group.sync();
            let start = clock();
            for _ in 0..ROUNDS $body
            let end = clock();
            if this_grid().thread_rank() == 0 {
                ticks[0] = end - start;
            }
        }
    )*};
}

measured! {
    block_sync: block = this_thread_block() => {
        block.sync();
    }
    block_split: block = this_thread_block() => {
        let token = block.barrier_arrive();
        block.barrier_wait(token);
    }
    phase_barrier: block = this_thread_block() with full = shared_barrier() => {
        let token = full.arrive();
        full.wait(token);
    }
    cluster_sync: cluster = this_cluster() => {
        cluster.sync();
    }
    cluster_split: cluster = this_cluster() => {
        let token = cluster.barrier_arrive();
        cluster.barrier_wait(token);
    }
    cluster_relaxed: cluster = this_cluster() => {
        let token = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(token);
    }
    grid_sync: grid = this_grid() => {
        grid.sync();
    }
    grid_split: grid = this_grid() => {
        let token = grid.barrier_arrive();
        grid.barrier_wait(token);
    }
}

/// About 1,000 cycles of work between arrival and wait, in each round by another warp. A warp that has done its work
/// need not wait for warps that are one round behind.
#[cluster_kernel(cluster = 2)]
fn block_split_worked(ticks: &mut [u64]) {
    let block = this_thread_block();
    let warp = block.thread_rank() / 32;
    let mut x = 1.5_f32;
    block.sync();
    let start = clock();
    for round in 0..ROUNDS {
        let token = block.barrier_arrive();
        if round % 4 == warp {
            for _ in 0..128 {
                x = x * 0.999 + 0.25;
            }
        }
        block.barrier_wait(token);
    }
    let end = clock();
    if this_grid().thread_rank() == 0 {
        ticks[0] = end - start;
    }
    // Keeps the optimizer from removing the work.
    if x == 0.0 {
        ticks[0] = 0;
    }
}

/// Measures the cost of barriers, in cycles.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The number of launches, whose median is shown.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    launches: u32,
}

type Launch = fn(&mut Buffer<u64>, (u32, u32), &Device) -> phalanx::Result<()>;

/// Pairs each kernel's name with a function that launches it with the given grid and block sizes.
macro_rules! kernels {
    ($($name:ident)*) => {
        [$((stringify!($name), |ticks, (grid, block), device| {
            $name(ticks).grid(grid).block(block).launch(device)
        })),*]
    };
}

const KERNELS: [(&str, Launch); 9] = kernels![
    block_sync block_split block_split_worked phase_barrier cluster_sync cluster_split cluster_relaxed grid_sync grid_split
];

fn main() -> ExitCode {
    finish(run(&Arguments::parse()))
}

fn run(Arguments { options, launches }: &Arguments) -> Outcome {
    let device = &options.device;
    // The simulator runs fewer launches and blocks, because each simulated thread takes host time.
    let (launches, most) = if device.is_simulator() { (1, 4) } else { (*launches, 132) };
    println!("device: {device}\n| barrier | threads of a block | cycles: median (quartiles) |\n|---|---|---|");
    let mut ticks = device.zeros(1)?;
    for (name, launch) in KERNELS {
        let blocks = if name.starts_with("grid") { most } else { 2 };
        for threads in [128, 1024] {
            let mut cycles = Vec::new();
            for _ in 0..launches {
                launch(&mut ticks, (blocks, threads), device)?;
                cycles.push(ticks.read()?[0] / u64::from(ROUNDS));
            }
            cycles.sort();
            let at = |part: usize| cycles[(cycles.len() - 1) * part / 4];
            println!("| {name} | {threads} | {} ({} to {}) |", at(2), at(1), at(3));
        }
    }
    Ok(())
}
