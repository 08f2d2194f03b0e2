//! Measures the speed of the simulator: `cargo bench -p phalanx --bench simulator`, or `-- numba` for the kernel that
//! `numba/simulator.py` runs too. An instruction is one thread's memory access, barrier or loop iteration. Prints
//! tables for docs/performance.md.

use std::fs;
use std::time::Instant;

use phalanx::prelude::*;

/// The number of barriers per thread.
const BARRIERS: u32 = 100;
/// The number of instructions per two barriers: the barriers, a read, a write and a loop iteration.
const INSTRUCTIONS: u64 = 5;

/// Circulates values in a cluster, with two barriers per round.
#[cluster_kernel(cluster = 8, block = 128)]
fn round_a_cluster(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 128>();
    let i = block.thread_rank();
    let peer = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % cluster.num_blocks());
    array[i] = i;
    for _ in 0..rounds {
        cluster.sync();
        let value = peer[i];
        cluster.sync();
        array[i] = value + 1;
    }
    out[this_grid().thread_rank()] = array[i];
}

/// Circulates values in a block, with two barriers per round.
#[cluster_kernel(block = 64)]
fn round_a_block(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    let i = block.thread_rank();
    array[i] = i;
    for _ in 0..rounds {
        block.sync();
        let value = array[(i + 1) % 64];
        block.sync();
        array[i] = value + 1;
    }
    out[this_grid().thread_rank()] = array[i];
}

/// The time and memory that a launch took.
struct Took {
    /// Wall-clock time in seconds.
    passed: f64,
    /// CPU time of all cores in seconds.
    ran: f64,
    /// The increase of peak memory in bytes.
    memory: f64,
}

/// Reads a field of the process's status, in kibibytes.
fn status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}

/// Returns the CPU time of all cores since the process started, in seconds.
fn ran() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat.split_whitespace().skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    // Linux counts in hundredths of a second.
    fields.iter().sum::<f64>() / 100.0
}

fn measure(cores: usize, launch: impl Fn() -> phalanx::Result<()> + Send + Sync) -> Took {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build().expect("a pool");
    // Resets the peak of resident memory.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let (before, started, start) = (status("VmRSS"), ran(), Instant::now());
    pool.install(launch).expect("the kernel is right");
    let passed = start.elapsed().as_secs_f64();
    Took { passed, ran: ran() - started, memory: (status("VmHWM") - before) * 1024.0 }
}

/// Returns the median by time, with the minimum and the maximum time.
fn median(times: usize, cores: usize, launch: impl Fn() -> phalanx::Result<()> + Send + Sync) -> (Took, f64, f64) {
    let mut all: Vec<Took> = (0..times).map(|_| measure(cores, &launch)).collect();
    all.sort_by(|a, b| a.passed.total_cmp(&b.passed));
    let (least, most) = (all[0].passed, all[times - 1].passed);
    (all.swap_remove(times / 2), least, most)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if arguments.iter().any(|argument| argument == "numba") {
        return beside_numba();
    }
    let most: usize = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1 << 20);
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "| threads | races | cores | time, s | of all cores, s | million instructions a second | bytes a thread |"
    );
    println!("|---|---|---|---|---|---|---|");
    for threads in (10..=20).step_by(2).map(|power| 1 << power).filter(|threads| *threads <= most) {
        for races in [false, true] {
            for cores in std::iter::successors(Some(1), |cores| Some(2 * cores)).take_while(|cores| *cores <= all) {
                let times = if threads < 1 << 17 { 5 } else { 1 };
                let (took, least, most) = median(times, cores, || {
                    let device = Device::simulator_with(Simulator::new().races(races));
                    let mut out = device.zeros(threads)?;
                    round_a_cluster(&mut out, BARRIERS / 2).grid(threads as u32 / 128).launch(&device)
                });
                let instructions = threads as u64 * u64::from(BARRIERS / 2) * INSTRUCTIONS;
                println!(
                    "| {threads} | {} | {cores} | {:.2} ({least:.2} to {most:.2}) | {:.2} | {:.1} | {:.0} |",
                    if races { "yes" } else { "no" },
                    took.passed,
                    took.ran,
                    instructions as f64 / took.passed / 1e6,
                    took.memory / threads as f64
                );
            }
        }
    }
}

/// Runs the comparison with Numba on one core, which is all that its simulator uses, with and without race detection.
fn beside_numba() {
    println!("| | threads | instructions | time, s | million instructions a second |\n|---|---|---|---|---|");
    for races in [false, true] {
        let (threads, rounds) = (16_384, 50);
        let (took, ..) = median(5, 1, || {
            let device = Device::simulator_with(Simulator::new().races(races));
            let mut out = device.zeros(threads)?;
            round_a_block(&mut out, rounds).grid(threads as u32 / 64).launch(&device)
        });
        let instructions = threads as u64 * u64::from(rounds) * INSTRUCTIONS;
        println!(
            "| phalanx{} | {threads} | {instructions} | {:.3} | {:.2} |",
            if races { ", with races" } else { "" },
            took.passed,
            instructions as f64 / took.passed / 1e6
        );
    }
}
