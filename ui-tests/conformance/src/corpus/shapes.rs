//! One kernel per technique of the corpus, in launches of random shapes: the device and the simulator must agree bit
//! for bit, or within the documented error of a function. On the simulator, another schedule is compared. The other
//! files check what the results should be.

use phalanx::prelude::*;
use phalanx::ulp;

use super::{random, reals};
use crate::{Bits, Module, Outcome, check_list, kernel_list};

/// The number of launches of each kernel.
const SHAPES: u64 = 8;

/// Each block publishes its values, works while the others arrive, and reads those of the next block.
#[cluster_kernel]
fn ring(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let staged = dynamic_shared::<u32>();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    staged[i] = input[at];
    let token = cluster.barrier_arrive();
    let own = input[at].rotate_left(7);
    let next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.barrier_wait(token);
    out[at] = cluster.map_shared_rank(&staged, next)[i] ^ own;
    cluster.sync(); // no block leaves while a peer reads it
}

/// The ring with a relaxed arrival for the start, and a barrier of the block in the middle of the cluster's.
#[cluster_kernel]
fn exchange(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let staged = dynamic_shared::<u32>();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    let started = cluster.barrier_arrive_relaxed();
    staged[i] = input[at];
    block.sync();
    let mirrored = staged[block.num_threads() - 1 - i];
    cluster.barrier_wait(started);
    cluster.sync(); // all are done with their own
    let last = cluster.num_blocks() - 1 - cluster.block_rank();
    cluster.map_shared_rank(&staged, last)[i] = mirrored;
    cluster.sync(); // all have written
    out[at] = staged[i];
}

/// Adds up by a stride, by halves of a block, and in order over a cluster.
#[cluster_kernel]
fn sums(values: &[f32], out: &mut [f32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let scratch = dynamic_shared::<f32>();
    let rank = block.thread_rank();
    let mut sum = 0.0;
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        sum = values[i].mul_add(0.75, sum);
    }
    scratch[rank] = sum;
    block.sync();
    let mut width = block.num_threads();
    while width > 1 {
        let half = width.div_ceil(2);
        if rank + half < width {
            scratch[rank] += scratch[rank + half];
        }
        block.sync();
        width = half;
    }
    cluster.sync(); // every block has its sum
    if cluster.thread_rank() == 0 {
        let mut total = 0.0;
        for peer in 0..cluster.num_blocks() {
            total += cluster.map_shared_rank(&scratch, peer)[0];
        }
        out[grid.cluster_rank()] = total;
    }
    cluster.sync(); // no block leaves while the first reads it
}

/// Counts into bins that are spread over all blocks of a cluster, and adds them up.
#[cluster_kernel]
fn counts(values: &[u32], out: &mut [u32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let bins = dynamic_shared::<u32>();
    let part = bins.len() as u32;
    let threads = block.num_threads() as usize;
    for bin in (block.thread_rank()..part).step_by(threads) {
        bins[bin] = 0;
    }
    cluster.sync(); // all bins are zero
    for i in (grid.thread_rank()..values.len()).step_by(grid.num_threads()) {
        let bin = values[i] % (part * cluster.num_blocks());
        cluster.map_shared_rank(&bins, bin / part).atomic(bin % part).fetch_add(1, Relaxed);
    }
    cluster.sync(); // all are counted
    for bin in (block.thread_rank()..part).step_by(threads) {
        out.atomic(cluster.block_rank() * part + bin).fetch_add(bins[bin], Relaxed);
    }
}

/// Runs two steps with a barrier of the whole grid between.
#[cluster_kernel]
fn steps(input: &[u32], between: &mut [u32], out: &mut [u32]) {
    let grid = this_grid();
    let at = grid.thread_rank();
    between[at] = input[at].wrapping_mul(5);
    grid.sync();
    out[at] = between[(at + 1) % grid.num_threads()] ^ input[at];
}

/// Threads hand values over by a phase barrier.
#[cluster_kernel]
fn handed_over(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let staged = dynamic_shared::<u32>();
    let filled = shared_barrier();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    if i == 0 {
        filled.init(block.num_threads());
    }
    block.sync();
    staged[i] = input[at];
    let token = filled.arrive();
    filled.wait(token);
    out[at] = staged[(i + 1) % block.num_threads()];
}

/// Adds up within tiles of a warp, the last of which may be the block's last.
#[cluster_kernel]
fn tiles(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = tiled_partition::<8>(&block);
    let at = this_grid().thread_rank();
    let mut sum = input[at];
    let mut distance = 4;
    while distance > 0 {
        sum = sum.wrapping_add(tile.shfl_down(sum, distance));
        distance /= 2;
    }
    out[at] = sum ^ tile.thread_rank();
}

/// Evaluates functions that are not rounded exactly.
#[cluster_kernel]
fn functions(input: &[f32], out: &mut [[f32; 3]]) {
    let at = this_grid().thread_rank();
    let x = input[at] * 8.0;
    out[at] = [x.exp(), x.sin(), x.abs().ln()];
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    grid: (u32, u32),
    cluster: (u32, u32),
    block: (u32, u32),
}

impl Shape {
    /// Returns a random shape; the threads of a block are a multiple of `multiple`.
    fn random(seed: u64, multiple: u32) -> Shape {
        let numbers = random(seed, 6);
        let below = |at: usize, limit: u32| numbers[at] % limit;
        let cluster = [(1 + below(0, 8), 1), (1 + below(0, 2), 1 + below(1, 4))][below(2, 2) as usize];
        let rows = 1 + below(3, 3);
        let block = (multiple * (1 + below(4, 160 / (multiple * rows))), rows);
        Shape { grid: (cluster.0 * (1 + below(5, 3)), cluster.1), cluster, block }
    }

    fn block_threads(&self) -> usize {
        (self.block.0 * self.block.1) as usize
    }

    fn clusters(&self) -> usize {
        (self.grid.0 / self.cluster.0) as usize
    }

    fn cluster_blocks(&self) -> usize {
        (self.cluster.0 * self.cluster.1) as usize
    }

    fn threads(&self) -> usize {
        (self.grid.0 * self.grid.1) as usize * self.block_threads()
    }
}

/// Launches with a shape: `launched!(ring(&input, &mut out), shape, bytes, device)`.
macro_rules! launched {
    ($launch:expr, $shape:expr, $bytes:expr, $device:expr) => {
        $launch.grid($shape.grid).cluster($shape.cluster).block($shape.block).shared_bytes($bytes).launch($device)?
    };
}

/// Returns shapes whose blocks have a multiple of these threads.
fn of(multiple: u32) -> impl Fn(u64) -> Shape {
    move |seed| Shape::random(seed, multiple)
}

/// Compares the results of two devices, in launches of random shapes.
pub(super) fn agree<S, T>(
    device: &Device,
    random: impl Fn(u64) -> S,
    run: impl Fn(&Device, S) -> phalanx::Result<Vec<T>>,
    same: impl Fn(T, T) -> bool,
) -> Outcome
where
    S: Copy + std::fmt::Debug,
    T: Copy + std::fmt::Debug,
{
    let shapes = if device.is_simulator() { SHAPES / 2 } else { SHAPES };
    for seed in 0..shapes {
        let shape = random(seed);
        let other = match device.is_simulator() {
            true => Device::simulator_with(Simulator::new().schedule(Schedule::Random { seed })),
            false => Device::simulator(),
        };
        let (got, want) = (run(device, shape)?, run(&other, shape)?);
        if let Some(at) = (0..want.len()).find(|&at| !same(got[at], want[at])) {
            let sentence = format!("{shape:?}, element {at}: {:?} on {device}, {:?} on {other}", got[at], want[at]);
            return Err(sentence.into());
        }
    }
    Ok(())
}

/// Makes checks of kernels with a value per thread, and one of shared memory.
macro_rules! of_threads {
    ($($kernel:ident as $check:ident, $multiple:expr, $bytes:expr;)*) => {$(
        fn $check(device: &Device) -> Outcome {
            let run = |device: &Device, shape: Shape| {
                let input = device.upload(&random(1, shape.threads()))?;
                let mut out = device.zeros(shape.threads())?;
                launched!($kernel(&input, &mut out), shape, $bytes * shape.block_threads(), device);
                out.read()
            };
            agree(device, of($multiple), run, u32::same)
        }
    )*};
}

of_threads! {
    ring as rings, 1, 4;
    exchange as exchanges, 1, 4;
    handed_over as hands_over, 1, 4;
    tiles as of_tiles, 8, 0;
}

fn in_steps(device: &Device) -> Outcome {
    let run = |device: &Device, shape: Shape| {
        let input = device.upload(&random(2, shape.threads()))?;
        let (mut between, mut out) = (device.zeros(shape.threads())?, device.zeros(shape.threads())?);
        launched!(steps(&input, &mut between, &mut out), shape, 0, device);
        out.read()
    };
    agree(device, of(1), run, u32::same)
}

fn of_sums(device: &Device) -> Outcome {
    let run = |device: &Device, shape: Shape| {
        let values = device.upload(&reals(3, 5000))?;
        let mut out = device.zeros(shape.clusters())?;
        launched!(sums(&values, &mut out), shape, 4 * shape.block_threads(), device);
        out.read()
    };
    agree(device, of(1), run, f32::same)
}

fn of_counts(device: &Device) -> Outcome {
    let run = |device: &Device, shape: Shape| {
        let values = device.upload(&random(4, 5000))?;
        let part = 96 / shape.cluster_blocks();
        let mut out = device.zeros(part * shape.cluster_blocks())?;
        launched!(counts(&values, &mut out), shape, 4 * part, device);
        out.read()
    };
    agree(device, of(1), run, u32::same)
}

fn of_functions(device: &Device) -> Outcome {
    let run = |device: &Device, shape: Shape| {
        let input = device.upload(&reals(5, shape.threads()))?;
        let mut out = device.zeros(shape.threads())?;
        launched!(functions(&input, &mut out), shape, 0, device);
        out.read()
    };
    // The errors of both may have opposite signs.
    let bounds = ["exp", "sin", "ln"]
        .map(|name| ulp::FunctionError::of(name).map_or(0.0, |error| 2.0 * f64::from(error.single.documented)));
    let close = |got: f32, want: f32, bound: f64| {
        let steps = (i64::from(got.to_bits() as i32) - i64::from(want.to_bits() as i32)).unsigned_abs();
        got.same(want) || steps as f64 <= bound
    };
    agree(device, of(1), run, |got: [f32; 3], want: [f32; 3]| (0..3).all(|at| close(got[at], want[at], bounds[at])))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::shapes",
        checks: check_list![rings, exchanges, hands_over, of_tiles, in_steps, of_sums, of_counts, of_functions],
        kernels: kernel_list![ring, exchange, handed_over, tiles, steps, sums, counts, functions],
    }
}
