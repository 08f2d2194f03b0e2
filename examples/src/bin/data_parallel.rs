//! Teaches several GPUs: each computes the gradient of its part of the samples with a kernel of ours, NCCL adds the gradients up over all
//! GPUs, and each descends by the same sum. The gradient comes in four parts, and while the GPUs exchange one, on a stream of its own, their
//! kernels compute the next.
//!
//! A part's buffer is what orders its kernel, its exchange and its use: no event is waited for. The gradient is summed as integers, so that
//! neither the number of GPUs nor the order of additions changes a bit, and the weights are compared with those of one GPU and of plain Rust.
//!
//! `--device sim` takes two simulators, anything else all GPUs of the machine. With RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in the
//! environment (`torchrun --no-python --nproc-per-node 2 data_parallel`), it is one of several processes, with the GPU that LOCAL_RANK names.

use std::env;
use std::process::ExitCode;

use clap::Parser;
use phalanx::prelude::*;
use phalanx::{Communicator, Reduction, Stream, StreamEvent};
use phalanx_examples::{Outcome, compare, finish};

/// The number of features of a sample, the parts in which their gradient comes, and the features of a part.
const FEATURES: usize = 64;
const PARTS: usize = 4;
const WIDTH: usize = FEATURES / PARTS;
const BLOCK: usize = 256;
/// The unit of a gradient's integers is one of so many in 1.0.
const SCALE: f32 = 1_048_576.0;
const RATE: f32 = 0.125;

/// Adds to `sum` the gradient of some samples, for the features from `first` on.
#[cluster_kernel(block = BLOCK)]
fn gradient(samples: &[[f32; FEATURES]], targets: &[f32], weights: &[f32], sum: &mut [i64], first: u32) {
    let block = this_thread_block();
    let grid = this_grid();
    let i = block.thread_rank() as usize;
    let own = shared_array::<i64, WIDTH>();
    if i < WIDTH {
        own[i] = 0;
    }
    block.sync();
    for at in (grid.thread_rank()..targets.len()).step_by(grid.num_threads()) {
        let mut residual = -targets[at];
        for k in 0..FEATURES {
            residual += weights[k] * samples[at][k];
        }
        for k in 0..WIDTH {
            let part = residual * samples[at][first as usize + k] * SCALE;
            own.atomic(k).fetch_add(part as i64, Relaxed);
        }
    }
    block.sync();
    if i < WIDTH {
        sum.atomic(i).fetch_add(own[i], Relaxed);
    }
}

/// Moves the weights from `first` on against their gradient, which it clears.
#[cluster_kernel(block = WIDTH)]
fn descend(sum: &mut [i64], weights: &mut [f32], first: u32, rate: f32) {
    let k = this_thread_block().thread_rank() as usize;
    weights[first as usize + k] -= rate * (sum[k] as f32 / SCALE);
    sum[k] = 0;
}

#[derive(Parser)]
struct Options {
    /// Where to run: `sim` for two simulators, `auto` or `gpu` for all GPUs of the machine
    #[arg(long, default_value = "auto")]
    device: Device,
    /// The number of samples of all devices together
    #[arg(long)]
    samples: Option<usize>,
    /// The number of steps
    #[arg(long)]
    steps: Option<usize>,
}

/// The problem: samples with their targets.
struct Data {
    samples: Vec<[f32; FEATURES]>,
    targets: Vec<f32>,
}

impl Data {
    fn new(count: usize) -> Data {
        // Small multiples of 1/16, from a generator of full period.
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 24) as f32 - 128.0) / 256.0
        };
        let samples: Vec<[f32; FEATURES]> = (0..count).map(|_| std::array::from_fn(|_| next())).collect();
        let target = |sample: &[f32; FEATURES]| {
            sample.iter().enumerate().map(|(k, x)| x * (k % 5) as f32).sum::<f32>() + next() / 8.0
        };
        let targets = samples.iter().map(target).collect();
        Data { samples, targets }
    }

    /// The step's factor, which counts the mean over all samples.
    fn rate(&self) -> f32 {
        RATE / self.targets.len() as f32
    }

    /// The weights that plain Rust comes to, by the operations of the kernels.
    fn in_rust(&self, steps: usize) -> Vec<f32> {
        let mut weights = vec![0.0f32; FEATURES];
        for _ in 0..steps {
            let mut sums = [0i64; FEATURES];
            for (sample, target) in self.samples.iter().zip(&self.targets) {
                let residual = sample.iter().zip(&weights).fold(-target, |sum, (x, weight)| sum + weight * x);
                for (sum, x) in sums.iter_mut().zip(sample) {
                    *sum += (residual * x * SCALE) as i64;
                }
            }
            for (weight, sum) in weights.iter_mut().zip(sums) {
                *weight -= self.rate() * (sum as f32 / SCALE);
            }
        }
        weights
    }
}

/// A device with its part of the samples, and the streams on which it computes and exchanges.
struct Rank {
    device: Device,
    samples: Buffer<[f32; FEATURES]>,
    targets: Buffer<f32>,
    weights: Buffer<f32>,
    sums: Vec<Buffer<i64>>,
    computes: Stream,
    exchanges: Stream,
}

impl Rank {
    /// The rank of this number among so many.
    fn new(device: &Device, data: &Data, rank: usize, size: usize) -> phalanx::Result<Rank> {
        let count = data.targets.len();
        let part = rank * count / size..(rank + 1) * count / size;
        Ok(Rank {
            device: device.clone(),
            samples: device.upload(&data.samples[part.clone()])?,
            targets: device.upload(&data.targets[part])?,
            weights: device.zeros(FEATURES)?,
            sums: (0..PARTS).map(|_| device.zeros(WIDTH)).collect::<phalanx::Result<_>>()?,
            computes: device.stream()?,
            exchanges: device.stream()?,
        })
    }
}

/// When the parts of a step had been computed, and when they had been exchanged, on the first device.
struct Times {
    start: StreamEvent,
    computed: Vec<StreamEvent>,
    exchanged: Vec<StreamEvent>,
}

/// Trains on all ranks of this process, and returns the times of the last step.
fn train(
    ranks: &mut [Rank],
    communicator: Option<&Communicator>,
    steps: usize,
    rate: f32,
) -> phalanx::Result<Option<Times>> {
    let mut times = None;
    for _ in 0..steps {
        let start = ranks[0].computes.record()?;
        let (mut computed, mut exchanged) = (Vec::new(), Vec::new());
        for part in 0..PARTS {
            let first = (part * WIDTH) as u32;
            for Rank { samples, targets, weights, sums, computes, device, .. } in &mut *ranks {
                let blocks = if device.is_simulator() { 2 } else { 264 };
                gradient(samples, targets, weights, &mut sums[part], first).grid(blocks).on(computes).enqueue()?;
            }
            computed.push(ranks[0].computes.record()?);
            if let Some(communicator) = communicator {
                let (mut sums, mut streams) = (Vec::new(), Vec::new());
                for rank in &mut *ranks {
                    sums.push(&mut rank.sums[part]);
                    streams.push(&rank.exchanges);
                }
                communicator.all_reduce(&mut sums, Reduction::Sum, &streams)?;
            }
            exchanged.push(ranks[0].exchanges.record()?);
        }
        for part in 0..PARTS {
            for Rank { weights, sums, computes, .. } in &mut *ranks {
                descend(&mut sums[part], weights, (part * WIDTH) as u32, rate).grid(1).on(computes).enqueue()?;
            }
        }
        times = Some(Times { start, computed, exchanged });
    }
    ranks.iter().try_for_each(|rank| rank.device.synchronize())?;
    Ok(times)
}

/// Shows when each part had been computed and exchanged, from the beginning of the step on.
fn show(times: &Times) -> Outcome {
    println!("part  computed  exchanged, after the step's beginning on the first device");
    for (part, (computed, exchanged)) in times.computed.iter().zip(&times.exchanged).enumerate() {
        let (computed, exchanged) = (times.start.elapsed(computed)?, times.start.elapsed(exchanged)?);
        println!("{part:4}  {:6} us {:6} us", computed.as_micros(), exchanged.as_micros());
    }
    Ok(())
}

/// All weights are, bit for bit, those of plain Rust.
fn check(ranks: &[Rank], want: &[f32]) -> Outcome {
    for Rank { weights, .. } in ranks {
        compare("weight", &weights.read()?, want, |a, b| a.to_bits() == b.to_bits())?;
    }
    Ok(())
}

fn run(Options { device, samples, steps }: Options) -> Outcome {
    let (samples, steps) = match device.is_simulator() {
        true => (samples.unwrap_or(384), steps.unwrap_or(2)),
        false => (samples.unwrap_or(1 << 20), steps.unwrap_or(10)),
    };
    let data = Data::new(samples);
    let want = data.in_rust(steps);
    if env::var_os("RANK").is_some() {
        return one_of_several(&device, &data, steps, &want);
    }
    let devices = match device.is_simulator() {
        true => vec![device.clone(), Device::simulator()],
        false => Device::gpus()?,
    };
    devices.iter().for_each(|device| println!("device: {device}"));

    let mut alone = [Rank::new(&devices[0], &data, 0, 1)?];
    train(&mut alone, None, steps, data.rate())?;
    check(&alone, &want)?;
    println!("{samples} samples, {steps} steps on one device: as in plain Rust");
    if devices.len() == 1 {
        println!("not run: the exchange between GPUs, because there is one");
        return Ok(());
    }
    drop(alone);

    let communicator = Communicator::new(&devices)?;
    let ranks = devices.iter().enumerate().map(|(rank, device)| Rank::new(device, &data, rank, devices.len()));
    let mut ranks = ranks.collect::<phalanx::Result<Vec<Rank>>>()?;
    let times = train(&mut ranks, Some(&communicator), steps, data.rate())?;
    check(&ranks, &want)?;
    println!("{samples} samples, {steps} steps on {} devices: as on one", devices.len());
    times.iter().try_for_each(show)
}

/// Runs as one of the processes that the environment describes.
fn one_of_several(device: &Device, data: &Data, steps: usize, want: &[f32]) -> Outcome {
    let local = env::var("LOCAL_RANK").ok().and_then(|rank| rank.parse().ok());
    let device = match local {
        Some(local) if !device.is_simulator() => Device::gpu(local)?,
        _ => device.clone(),
    };
    let communicator = Communicator::from_env(&device)?;
    let (rank, size) = (communicator.first_rank(), communicator.size());
    println!("rank {rank} of {size}: {device}");
    let mut ranks = [Rank::new(&device, data, rank, size)?];
    let times = train(&mut ranks, Some(&communicator), steps, data.rate())?;
    check(&ranks, want)?;
    println!("rank {rank}: {steps} steps in {size} processes: as on one device");
    times.iter().filter(|_| rank == 0).try_for_each(show)
}

fn main() -> ExitCode {
    finish(run(Options::parse()))
}
