//! Random and quasi-random numbers, and what is computed with them.

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// Returns the high and the low half of a product.
#[device]
fn wide_product(a: u32, b: u32) -> (u32, u32) {
    let product = a as u64 * b as u64;
    ((product >> 32) as u32, product as u32)
}

/// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011; cuRAND's and
/// PyTorch's generator).
#[device]
fn philox(counter: [u32; 4], key: (u32, u32)) -> [u32; 4] {
    let mut state = counter;
    let (mut low_key, mut high_key) = key;
    for _ in 0..10 {
        let (high0, low0) = wide_product(0xd251_1f53, state[0]);
        let (high1, low1) = wide_product(0xcd9e_8d57, state[2]);
        state = [high1 ^ state[1] ^ low_key, low1, high0 ^ state[3] ^ high_key, low0];
        low_key = low_key.wrapping_add(0x9e37_79b9);
        high_key = high_key.wrapping_add(0xbb67_ae85);
    }
    state
}

/// Generates four numbers a thread.
#[cluster_kernel(block = 64)]
pub(super) fn generate(out: &mut [u32], low_key: u32, high_key: u32, offset: u64) {
    let i = this_grid().thread_rank();
    let counter = i as u64 + offset;
    let numbers = philox([counter as u32, (counter >> 32) as u32, 0, 0], (low_key, high_key));
    for k in 0..4 {
        if i * 4 + k < out.len() {
            out[i * 4 + k] = numbers[k];
        }
    }
}

/// Dropout with a mask that the generator reproduces in the backward pass (PyTorch's `fused_dropout_kernel`).
#[cluster_kernel(block = 64)]
pub(super) fn dropout(x: &[f32], y: &mut [f32], seed: u64, threshold: u32, scale: f32) {
    let i = this_grid().thread_rank() as u32;
    let numbers = philox([i, 0, 0, 0], (seed as u32, (seed >> 32) as u32));
    for k in 0..4 {
        let at = i as usize * 4 + k;
        if at < x.len() {
            y[at] = if numbers[k] < threshold { 0.0 } else { x[at] * scale };
        }
    }
}

/// Sobol's sequence by Gray codes (Joe and Kuo; the CUDA sample `SobolQRNG`): a block row a dimension.
#[cluster_kernel(block = 64)]
fn sobol(directions: &[u32], out: &mut [u32], count: u32) {
    let grid = this_grid();
    let dimension = grid.block_index().y;
    let i = grid.block_index().x * 64 + this_thread_block().thread_index().x;
    if i >= count {
        return;
    }
    let mut gray = i ^ i >> 1;
    let mut point = 0;
    while gray != 0 {
        point ^= directions[dimension * 32 + gray.trailing_zeros()];
        gray &= gray - 1;
    }
    out[dimension * count + i] = point;
}

/// How many points of a square lie in the circle, on integers so that the count is exact (the CUDA sample
/// `MC_EstimatePiP`).
#[cluster_kernel(block = 128)]
pub(super) fn circle(inside: &mut [u64], points: u32, seed: u32) {
    let block = this_thread_block();
    let grid = this_grid();
    let scratch = shared_array::<u64, 128>();
    let mut count = 0;
    for i in (grid.thread_rank() as u32..points).step_by(grid.num_threads()) {
        let [x, y, _, _] = philox([i, 0, 0, 0], (seed, 0));
        let (x, y) = ((x >> 1) as u64, (y >> 1) as u64);
        if x * x + y * y < 1 << 62 {
            count += 1;
        }
    }
    count = super::blocks::block_reduce(&block, &scratch, count, |a, b| a + b);
    if block.thread_rank() == 0 {
        inside.atomic(0).fetch_add(count, Relaxed);
    }
}

const WIDTH: u32 = 32;
const LINES: u32 = 4;
const SPINS: usize = (WIDTH * LINES) as usize;

/// The Ising model by Metropolis' rule on a checkerboard (Preis and others, "GPU accelerated Monte Carlo simulation of
/// the 2D and 3D Ising model", 2009): a torus over the blocks of a cluster, whose edges are read from their neighbours.
/// A thread draws its number while the others arrive. `thresholds` has the chance of a flip for 0 to 4 equal neighbours.
///
/// # Safety
/// All neighbours of a black field are white, and between two barriers only the fields of one colour change.
#[cluster_kernel(cluster = 4, block = (32, 4), unchecked(overwrite_while_read))]
fn ising(lattice: &mut [i8], thresholds: &[u32], sweeps: u32, seed: u32) {
    let cluster = this_cluster();
    let spins = shared_array::<i8, SPINS>();
    let thread = this_thread_block().thread_index();
    let (x, y) = (thread.x, thread.y);
    let i = this_thread_block().thread_rank();
    let at = this_grid().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let above = cluster.map_shared_rank(&spins, (rank + blocks - 1) % blocks);
    let below = cluster.map_shared_rank(&spins, (rank + 1) % blocks);
    spins[i] = lattice[at];
    for half in 0..2 * sweeps {
        let token = cluster.barrier_arrive();
        let [number, _, _, _] = philox([at as u32, half, 0, 0], (seed, 1));
        cluster.barrier_wait(token);
        if (x + y + half) % 2 == 0 {
            let north = if y > 0 { spins[i - WIDTH] } else { above[(LINES - 1) * WIDTH + x] };
            let south = if y < LINES - 1 { spins[i + WIDTH] } else { below[x] };
            let west = spins[y * WIDTH + (x + WIDTH - 1) % WIDTH];
            let east = spins[y * WIDTH + (x + 1) % WIDTH];
            let equal = (4 + spins[i] * (north + south + west + east)) / 2;
            if number < thresholds[equal as u32] {
                spins[i] = -spins[i];
            }
        }
    }
    cluster.sync();
    lattice[at] = spins[i];
}

/// Runs `philox` with a key whose upper half is zero.
fn numbers(counter: u64, key: u64) -> [u32; 4] {
    philox([counter as u32, (counter >> 32) as u32, 0, 0], (key as u32, (key >> 32) as u32))
}

/// Compares with the vectors that the authors publish.
fn known_answers(_: &Device) -> Outcome {
    let hex = |i: usize| format!("number {i}");
    same(&numbers(0, 0), &[0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8], hex)?;
    let ones = philox([u32::MAX; 4], (u32::MAX, u32::MAX));
    same(&ones, &[0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd], hex)
}

fn generated(device: &Device) -> Outcome {
    for (len, offset) in [(256, 0), (777, u64::from(u32::MAX) - 3)] {
        let got = read!(device, len, |out| generate(out, 7, 8, offset).grid(len.div_ceil(256) as u32));
        let want = (0..len).map(|i| numbers(i as u64 / 4 + offset, 8 << 32 | 7)[i % 4]);
        same(&got, &want.collect::<Vec<_>>(), |i| format!("{i} of {len}"))?;
    }
    Ok(())
}

fn dropped(device: &Device) -> Outcome {
    let x = super::reals(111, 1001);
    let input = device.upload(&x)?;
    let got = read!(device, 1001, |out| dropout(&input, out, 1 << 40 | 5, 1 << 30, 4.0 / 3.0).grid(4));
    let keep = |i: usize| if numbers(i as u64 / 4, 1 << 40 | 5)[i % 4] < 1 << 30 { 0.0 } else { x[i] * (4.0 / 3.0) };
    same(&got, &(0..1001).map(keep).collect::<Vec<_>>(), |i| format!("{i}"))
}

fn low_discrepancy(device: &Device) -> Outcome {
    let count = 100u32;
    // The first dimension has the powers of two, the second those of the polynomial x + 1.
    let mut directions: Vec<u32> = (0..32).map(|i| 1 << (31 - i)).collect();
    directions.push(1 << 31);
    for i in 1..32 {
        let before = directions[31 + i];
        directions.push(before ^ before >> 1);
    }
    let input = device.upload(&directions)?;
    let got = read!(device, 200, |out| sobol(&input, out, count).grid((2, 2)));
    let mut want = Vec::new();
    for dimension in 0..2 {
        let mut point = 0u32;
        for i in 0..count {
            want.push(point);
            point ^= directions[dimension * 32 + (i + 1).trailing_zeros() as usize];
        }
    }
    same(&got, &want, |i| format!("{i}"))
}

fn circles(device: &Device) -> Outcome {
    for (points, grid) in [(1000, 1), (3001, 3)] {
        let got = read!(device, 1, |out| circle(out, points, 9).grid(grid));
        let inside = |i: &u32| {
            let [x, y, ..] = numbers(u64::from(*i), 9).map(|number| u64::from(number >> 1));
            x * x + y * y < 1 << 62
        };
        same(&got, &[(0..points).filter(inside).count() as u64], |_| format!("{points} points"))?;
    }
    Ok(())
}

fn spins_on_a_torus(device: &Device) -> Outcome {
    let (width, height) = (32, 16);
    let thresholds: Vec<u32> = [1.0, 1.0, 1.0, 0.17, 0.03].map(|chance: f64| (chance * 4294967295.0) as u32).to_vec();
    for sweeps in [0, 5] {
        let mut spins: Vec<i8> = below(2, 112, 2 * width * height).into_iter().map(|bit| 2 * bit as i8 - 1).collect();
        let (mut lattice, chances) = (device.upload(&spins)?, device.upload(&thresholds)?);
        // SAFETY: it takes any lattice.
        unsafe { ising(&mut lattice, &chances, sweeps, 3) }.grid(8).launch(device)?;
        for (half, at) in (0..2 * sweeps).flat_map(|half| (0..2 * width * height).map(move |at| (half, at))) {
            let (torus, x, y) = (at / (width * height), at % width, at / width % height);
            if !(x + y + half as usize).is_multiple_of(2) {
                continue;
            }
            let spin = |x: usize, y: usize| spins[(torus * height + y % height) * width + x % width];
            let around = spin(x, y + height - 1) + spin(x, y + 1) + spin(x + width - 1, y) + spin(x + 1, y);
            let equal = (4 + spins[at] * around) / 2;
            let number = philox([at as u32, half, 0, 0], (3, 1))[0];
            if number < thresholds[equal as usize] {
                spins[at] = -spins[at];
            }
        }
        same(&lattice.read()?, &spins, |i| format!("{sweeps} sweeps, spin {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::random_numbers",
        checks: check_list![known_answers, generated, dropped, low_discrepancy, circles, spins_on_a_torus],
        kernels: kernel_list![generate, dropout, sobol, circle, ising],
    }
}
