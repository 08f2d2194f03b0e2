//! Numbers by the million: prices of options, random paths, factors of small matrices, ways through small graphs.

use std::f32::consts::TAU;

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "solvers", about: "options, random paths, Cholesky factors, shortest ways", cases };

/// An option on a share: today's price, the price at which it may be bought, and how long and how much the price moves.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Contract {
    spot: f32,
    strike: f32,
    years: f32,
    volatility: f32,
}

/// The coefficients of a polynomial for the tail of the normal distribution (Abramowitz and Stegun, 26.2.17).
const TAIL: [f32; 5] = [0.319_381_53, -0.356_563_78, 1.781_477_9, -1.821_255_9, 1.330_274_5];

/// The normal distribution.
#[device]
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let polynomial = TAIL.iter().rev().fold(0.0, |sum: f32, &coefficient| sum.mul_add(t, coefficient));
    let tail = 0.398_942_3 * fast::exp(-0.5 * x * x) * polynomial * t;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The prices of calls and puts (Black and Scholes, 1973).
#[cluster_kernel(block = 256)]
fn options(contracts: &[Contract], prices: &mut [[f32; 2]], rate: f32) {
    let i = this_grid().thread_rank();
    let Some(&Contract { spot, strike, years, volatility }) = contracts.get(i) else {
        return;
    };
    let spread = volatility * years.sqrt();
    let drift = (0.5 * volatility * volatility + rate) * years;
    let upper = (fast::ln(spot / strike) + drift) / spread;
    let lower = upper - spread;
    let owed = strike * fast::exp(-rate * years);
    let call = spot * normal(upper) - owed * normal(lower);
    prices[i] = [call, call - spot + owed];
}

/// Numbers from a counter (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Philox {
    key: [u32; 2],
    counter: [u32; 4],
}

#[device]
impl Philox {
    fn draw(&mut self) -> [u32; 4] {
        let (mut key, mut x) = (self.key, self.counter);
        for _ in 0..10 {
            let (a, b) = (u64::from(x[0]) * 0xd251_1f53, u64::from(x[2]) * 0xcd9e_8d57);
            x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
            key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
        }
        self.counter[0] += 1;
        x
    }
}

/// A number between 0 and 1, neither of which it is.
#[device]
fn unit(bits: u32) -> f32 {
    ((bits >> 9) as f32 + 0.5) / (1 << 23) as f32
}

/// Normally distributed numbers (Box and Muller, 1958).
#[device]
fn normals([a, b, c, d]: [u32; 4]) -> [f32; 4] {
    let radius = |bits: u32| (-2.0 * fast::ln(unit(bits))).sqrt();
    let angle = |bits: u32| TAU * unit(bits) - TAU / 2.0;
    let (first, second) = (angle(b), angle(d));
    [
        radius(a) * fast::cos(first),
        radius(a) * fast::sin(first),
        radius(c) * fast::cos(second),
        radius(c) * fast::sin(second),
    ]
}

/// The paths for each contract, and the steps of a path.
const PATHS: u32 = 4096;
const STEPS: u32 = 32;

/// The prices of Asian options, which pay by the mean of the price: a block for each contract.
#[cluster_kernel(block = 256)]
fn paths(contracts: &[Contract], prices: &mut [f32], rate: f32, seed: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<f32, 8>();
    let contract = this_grid().block_rank();
    let Contract { spot, strike, years, volatility } = contracts[contract];
    let step = years / STEPS as f32;
    let (drift, spread) = ((rate - 0.5 * volatility * volatility) * step, volatility * step.sqrt());

    let mut paid = 0.0;
    for path in (block.thread_rank()..PATHS).step_by(256) {
        let mut random = Philox { key: [seed, contract as u32], counter: [0, path, 0, 0] };
        let (mut logarithm, mut total) = (0.0, 0.0);
        for _ in 0..STEPS / 4 {
            for x in normals(random.draw()) {
                logarithm += spread.mul_add(x, drift);
                total += fast::exp(logarithm);
            }
        }
        paid += (spot * total / STEPS as f32 - strike).max(0.0);
    }

    let paid = warp.reduce(paid, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = paid;
    }
    block.sync();
    if block.thread_rank() == 0 {
        let mean = of_warps.iter().sum::<f32>() / PATHS as f32;
        prices[contract] = fast::exp(-rate * years) * mean;
    }
}

/// The rows and columns of a matrix.
const ORDER: usize = 16;

/// Lower triangles `l` with `l * l^T` equal to matrices, rows one below the other: a thread for each row.
#[cluster_kernel(block = 128)]
fn cholesky(matrices: &[[f32; ORDER]], factors: &mut [[f32; ORDER]]) {
    let tile = tiled_partition::<16>(&this_thread_block());
    let lane = tile.thread_rank() as usize;
    let at = this_grid().thread_rank();
    let mut row = matrices[at];
    for k in 0..ORDER {
        let pivot = tile.shfl(row[k], k as u32).sqrt();
        row[k] = if lane == k { pivot } else { row[k] / pivot };
        for j in k + 1..ORDER {
            row[j] -= row[k] * tile.shfl(row[k], j as u32);
        }
    }
    for (k, x) in row.iter_mut().enumerate() {
        if k > lane {
            *x = 0.0;
        }
    }
    factors[at] = row;
}

/// The vertices of a graph.
const VERTICES: usize = 64;

/// The lengths of the shortest ways in graphs (Floyd, 1962): a block for each.
#[cluster_kernel(block = 256)]
fn shortest(edges: &[[f32; VERTICES]], lengths: &mut [[f32; VERTICES]]) {
    let block = this_thread_block();
    let ways = shared_array::<[f32; VERTICES], VERTICES>();
    let first = this_grid().block_rank() * VERTICES;
    for i in (block.thread_rank() as usize..VERTICES * VERTICES).step_by(256) {
        let (from, to) = (i / VERTICES, i % VERTICES);
        ways[from][to] = edges[first + from][to];
    }
    block.sync();
    for via in 0..VERTICES {
        for i in (block.thread_rank() as usize..VERTICES * VERTICES).step_by(256) {
            let (from, to) = (i / VERTICES, i % VERTICES);
            let detour = ways[from][via] + ways[via][to];
            if from != via && to != via && detour < ways[from][to] {
                ways[from][to] = detour;
            }
        }
        block.sync();
    }
    for i in (block.thread_rank() as usize..VERTICES * VERTICES).step_by(256) {
        let (from, to) = (i / VERTICES, i % VERTICES);
        lengths[first + from][to] = ways[from][to];
    }
}

const TWINS: &str = include_str!("../../twins/solvers.cu");

fn contracts(seed: u64, count: usize) -> Vec<Contract> {
    data::random(seed, count, |bits| {
        let part = |shift: u32| ((bits >> shift) & 0xffff) as f32 / 65536.0;
        Contract {
            spot: 5.0 + 25.0 * part(0),
            strike: 5.0 + 25.0 * part(16),
            years: 0.25 + 2.0 * part(32),
            volatility: 0.1 + 0.4 * part(48),
        }
    })
}

/// The normal distribution in `f64`, by a series that converges everywhere (Marsaglia, 2004).
fn normal_exactly(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while sum + term != sum {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

fn priced(contract: &Contract, rate: f64) -> [f64; 2] {
    let Contract { spot, strike, years, volatility } = *contract;
    let [spot, strike, years, volatility] = [spot, strike, years, volatility].map(f64::from);
    let spread = volatility * years.sqrt();
    let upper = ((spot / strike).ln() + (0.5 * volatility * volatility + rate) * years) / spread;
    let owed = strike * (-rate * years).exp();
    let call = spot * normal_exactly(upper) - owed * normal_exactly(upper - spread);
    [call, call - spot + owed]
}

fn mean_priced(contract: &Contract, rank: usize, rate: f64, seed: u32) -> f64 {
    let Contract { spot, strike, years, volatility } = *contract;
    let [spot, strike, years, volatility] = [spot, strike, years, volatility].map(f64::from);
    let step = years / f64::from(STEPS);
    let paid = |path: u32| {
        let mut random = Philox { key: [seed, rank as u32], counter: [0, path, 0, 0] };
        let (mut logarithm, mut total) = (0.0f64, 0.0);
        for _ in 0..STEPS / 4 {
            let units = random.draw().map(|bits| f64::from(unit(bits)));
            for pair in units.chunks(2) {
                let angle = std::f64::consts::TAU * (pair[1] - 0.5);
                for turned in [angle.cos(), angle.sin()] {
                    let x = (-2.0 * pair[0].ln()).sqrt() * turned;
                    logarithm += volatility * step.sqrt() * x + (rate - 0.5 * volatility * volatility) * step;
                    total += logarithm.exp();
                }
            }
        }
        (spot * total / f64::from(STEPS) - strike).max(0.0)
    };
    (0..PATHS).map(paid).sum::<f64>() / f64::from(PATHS) * (-rate * years).exp()
}

/// Symmetric matrices whose diagonals exceed the sums of their rows.
fn symmetric(seed: u64, count: usize) -> Vec<[f32; ORDER]> {
    let numbers = data::reals(seed, count * ORDER * ORDER);
    let entry = |i: usize, row: usize, column: usize| match row.cmp(&column) {
        std::cmp::Ordering::Equal => 1.5 * ORDER as f32,
        _ => numbers[(i * ORDER + row.min(column)) * ORDER + row.max(column)],
    };
    let row = |at: usize| std::array::from_fn(|column| entry(at / ORDER, at % ORDER, column));
    (0..count * ORDER).map(row).collect()
}

fn factored(matrix: &[[f32; ORDER]]) -> Vec<f64> {
    let mut l = vec![[0.0; ORDER]; ORDER];
    for row in 0..ORDER {
        for column in 0..=row {
            let known: f64 = (0..column).map(|k| l[row][k] * l[column][k]).sum();
            let left = f64::from(matrix[row][column]) - known;
            l[row][column] = if row == column { left.sqrt() } else { left / l[column][column] };
        }
    }
    l.concat()
}

fn shortened(edges: &[[f32; VERTICES]]) -> Vec<f64> {
    let mut ways: Vec<Vec<f64>> = edges.iter().map(|row| row.iter().map(|&x| x.into()).collect()).collect();
    for via in 0..VERTICES {
        for from in 0..VERTICES {
            for to in 0..VERTICES {
                ways[from][to] = ways[from][to].min(ways[from][via] + ways[via][to]);
            }
        }
    }
    ways.concat()
}

fn cases(scale: Scale) -> Vec<Case> {
    let count: usize = scale.pick(1 << 24, 1024);
    let drawn: usize = scale.pick(1024, 2);
    let matrices: usize = scale.pick(1 << 18, 64);
    let graphs: usize = scale.pick(1 << 13, 2);
    let (rate, seed) = (0.03f32, 99);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("options", count, "options", count / 256, 256).bytes(24 * count).case(
            move || contracts(190, count),
            2 * count,
            move |_| {
                launch([Argument::Word(count as u64), Argument::Real(rate)], move |device, input, out| {
                    options(input, &mut *out.as_chunks_mut()?, rate).grid((count / 256) as u32).enqueue(device)
                })?
                .like(move |contracts| contracts.iter().flat_map(|contract| priced(contract, rate.into())).collect())
            },
        ),
        pair("paths", drawn, "options", drawn, 256).bytes(20 * drawn).case(
            move || contracts(191, drawn),
            drawn,
            move |_| {
                launch([Argument::Real(rate), Argument::Number(seed)], move |device, input, out| {
                    paths(input, out, rate, seed).grid(drawn as u32).enqueue(device)
                })?
                .like(move |contracts| {
                    let price = |(rank, contract)| mean_priced(contract, rank, rate.into(), seed);
                    contracts.iter().enumerate().map(price).collect::<Vec<f64>>()
                })
            },
        ),
        pair("cholesky", matrices, "matrices", matrices / 8, 128).bytes(8 * ORDER * ORDER * matrices).case(
            move || symmetric(192, matrices),
            ORDER * ORDER * matrices,
            move |_| {
                launch([], move |device, input, out| {
                    cholesky(input, &mut *out.as_chunks_mut()?).grid((matrices / 8) as u32).enqueue(device)
                })?
                .like(|rows| rows.chunks(ORDER).flat_map(factored).collect())
            },
        ),
        pair("shortest", graphs, "graphs", graphs, 256).bytes(8 * VERTICES * VERTICES * graphs).case(
            move || {
                let edge = |(at, x): (usize, f32)| {
                    if at / VERTICES % VERTICES == at % VERTICES { 0.0 } else { 8.0 * (x + 1.0) }
                };
                let edges = data::reals(193, graphs * VERTICES * VERTICES).into_iter().enumerate().map(edge);
                edges.collect::<Vec<f32>>()
            },
            VERTICES * VERTICES * graphs,
            move |_| {
                launch([], move |device, input, out| {
                    let (edges, mut lengths) = (input.as_chunks()?, out.as_chunks_mut()?);
                    shortest(&edges, &mut lengths).grid(graphs as u32).enqueue(device)
                })?
                .like(|edges| edges.as_chunks().0.chunks(VERTICES).flat_map(shortened).collect())
            },
        ),
    ]
}
