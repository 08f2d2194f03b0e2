//! An atlas of distributed shared memory: the latency of a load from each peer, and the bandwidth of loads and of atomic
//! additions, by the size of the cluster and by which peer a block turns to. A load of the chase includes its bounds check.

use std::fmt::Write;

use phalanx::Launch;
use phalanx::prelude::*;
use serde::{Deserialize, Serialize};

use crate::memory::{self, Memory};
use crate::timing::{Clock, Times};
use crate::{Result, compare};

const BLOCK: usize = 1024;
/// The words of a block: 16 bytes for each thread.
const WORDS: usize = 4 * BLOCK;
/// The accesses of a round to one peer.
const PARTS: u32 = 8;
/// The loads of a chase.
const STEPS: u32 = 256;
/// The distance of two loads of a chase, in words.
const STRIDE: u32 = 33;

/// The multiprocessor's clock.
#[device]
fn clock() -> u64 {
    let ticks: u64;
    unsafe { cuda!("ticks = u64(static_cast<unsigned long long>(clock64()));", out(ticks); else || 0) }
    ticks
}

/// Follows a chain of indexes through the memory of each peer in turn. `cycles` gets the time of a load for each pair of
/// blocks, and `ends` where the chain ended.
#[cluster_kernel(cluster = C, block = 32, non_portable)]
fn chase<const C: usize>(cycles: &mut [u64], ends: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let chain = shared_array::<u32, WORDS>();
    let i = block.thread_rank();
    for at in (i..WORDS as u32).step_by(32) {
        chain[at] = (at + STRIDE) % WORDS as u32;
    }
    cluster.sync();
    for turn in 0..C as u32 {
        let peer = (cluster.block_rank() + turn) % C as u32;
        let remote = cluster.map_shared_rank(&chain, peer);
        if i == 0 {
            let mut at = 0;
            let start = clock();
            for _ in 0..STEPS {
                at = remote[at];
            }
            let end = clock();
            let pair = cluster.block_rank() * C as u32 + peer;
            cycles[pair] = (end - start) / STEPS as u64;
            ends[pair] = at;
        }
        cluster.sync(); // one pair a block at a time
    }
}

/// The peers that blocks turn to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Peers {
    /// Each block turns to itself, through the mapping.
    Own,
    /// Each block turns to the next one.
    Next,
    /// Each block turns to all others in rotation, each to another one at a time.
    Rotated,
    /// All blocks turn to all blocks in the same order.
    InStep,
}

const PEERS: [(Peers, &str); 4] =
    [(Peers::Own, "own"), (Peers::Next, "next"), (Peers::Rotated, "all, rotated"), (Peers::InStep, "all, in step")];

/// Returns the peer of a round, for a choice of [`Peers`] as a number.
#[device]
fn peer(peers: u32, rank: u32, round: u32, blocks: u32) -> u32 {
    match peers {
        0 => rank,
        1 => (rank + 1) % blocks,
        2 => (rank + 1 + round % (blocks - 1)) % blocks,
        _ => round % blocks,
    }
}

/// Loads `PARTS` times 16 bytes a thread and round, and adds them up.
#[cluster_kernel(cluster = C, block = 1024, non_portable)]
fn loads<const C: usize>(sums: &mut [u32], peers: u32, rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let words = shared_array::<u32, WORDS>();
    let i = block.thread_rank();
    words.store_vec(i * 4, u32x4::splat(i));
    cluster.sync();
    let mut sum = 0;
    for round in 0..rounds {
        let remote = cluster.map_shared_rank(&words, peer(peers, cluster.block_rank(), round, C as u32));
        for part in 0..PARTS {
            let v = remote.load_vec::<4>((i + part * 32 + round) % BLOCK as u32 * 4);
            sum += (v[0] ^ v[1]) + (v[2] | v[3]);
        }
    }
    sums[this_grid().thread_rank()] = sum;
    cluster.sync(); // no block exits while a peer reads it
}

/// Adds one to `PARTS` words a thread and round.
#[cluster_kernel(cluster = C, block = 1024, non_portable)]
fn additions<const C: usize>(sums: &mut [u32], peers: u32, rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let words = shared_array::<u32, WORDS>();
    let i = block.thread_rank();
    words.store_vec(i * 4, u32x4::splat(0));
    cluster.sync();
    for round in 0..rounds {
        let remote = cluster.map_shared_rank(&words, peer(peers, cluster.block_rank(), round, C as u32));
        for part in 0..PARTS {
            remote.atomic((i + (part + round) * 32) % WORDS as u32).fetch_add(1, Relaxed);
        }
    }
    cluster.sync();
    let v = words.load_vec::<4>(i * 4);
    sums[this_grid().thread_rank()] = v[0] + v[1] + v[2] + v[3];
}

/// The measurements of clusters of one size.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page {
    /// The number of blocks in a cluster.
    pub cluster: u32,
    /// The number of blocks that were resident.
    pub blocks: u32,
    /// The cycles of a load, for each pair of a block and its peer.
    pub latency: Vec<u64>,
    /// The times of launches, and the bandwidth in GB/s of all blocks together.
    pub bandwidth: Vec<Bandwidth>,
}

/// The bandwidth of one operation with one choice of peers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The operation.
    pub operation: String,
    /// The choice of peers.
    pub peers: Peers,
    /// The time of a launch.
    pub times: Times,
    /// The bandwidth in GB/s.
    pub bandwidth: f64,
}

type Chase = for<'a> fn(&'a mut Buffer<u64>, &'a mut Buffer<u32>) -> Launch<'a>;
type Traffic = for<'a> fn(&'a mut Buffer<u32>, u32, u32) -> Launch<'a>;

/// The kernels of one size of cluster: the size, the chase, the loads and the additions.
type Kernels = (u32, Chase, Traffic, Traffic);

const SIZES: [Kernels; 4] = [
    (2, chase::<2>, loads::<2>, additions::<2>),
    (4, chase::<4>, loads::<4>, additions::<4>),
    (8, chase::<8>, loads::<8>, additions::<8>),
    (16, chase::<16>, loads::<16>, additions::<16>),
];

/// Measures on a GPU, or runs the kernels at a small size in the simulator, where all times are zero.
pub fn measure(device: &Device) -> Result<Vec<Page>> {
    let mut clock = memory::stream(device)?.map(Clock::new).transpose()?;
    SIZES.iter().map(|kernels| page(device, &mut clock, kernels)).collect()
}

fn page(device: &Device, clock: &mut Option<Clock>, &(cluster, chase, loads, additions): &Kernels) -> Result<Page> {
    let pairs = (cluster * cluster) as usize;
    let (mut cycles, mut ends) = (device.zeros(pairs)?, device.zeros(pairs)?);
    chase(&mut cycles, &mut ends).grid(cluster).launch(device)?;
    compare::equal("the ends of chains", &ends.read()?, &vec![STEPS * STRIDE % WORDS as u32; pairs])?;

    let rounds = if clock.is_some() { 512 } else { 4 };
    let clusters = loads(&mut device.zeros(1)?, 0, 0).occupancy(device)?.clusters;
    let blocks = clusters as u32 * cluster;
    let mut sums = Memory::zeros(device, blocks as usize * BLOCK)?;
    let mut bandwidth = Vec::new();
    for (operation, kernel, bytes) in [("load", loads, 16), ("addition", additions, 4)] {
        for (peers, name) in PEERS {
            let number = peers as u32;
            kernel(&mut sums.buffer, number, rounds).grid(blocks).launch(device)?;
            let got = sums.read(0..sums.buffer.len())?;
            check(operation, &got, rounds)
                .map_err(|error| format!("{operation}, {name}, cluster of {cluster}: {error}"))?;
            let times = match clock {
                None => Times::of(vec![0.0]),
                Some(clock) => {
                    let launch = &mut |_| Ok(kernel(&mut sums.buffer, number, rounds).grid(blocks).enqueue(device)?);
                    clock.time(&mut [launch])?[0]
                }
            };
            let bytes = u64::from(blocks) * BLOCK as u64 * u64::from(rounds * PARTS) * bytes;
            let rate = bytes as f64 / times.median / 1e3;
            bandwidth.push(Bandwidth { operation: operation.into(), peers, times, bandwidth: rate });
        }
    }
    Ok(Page { cluster, blocks, latency: cycles.read()?, bandwidth })
}

/// Checks the sums of each thread's loads, or of each thread's part of the counts, whose total is known.
fn check(operation: &str, got: &[u32], rounds: u32) -> Result<()> {
    if operation == "load" {
        let loaded = |i: usize, round: u32| (0..PARTS).map(move |part| (i as u32 + part * 32 + round) % BLOCK as u32);
        let of = |i: usize| (0..rounds).flat_map(|round| loaded(i, round)).sum();
        return compare::equal("sums", got, &(0..got.len()).map(|at| of(at % BLOCK)).collect::<Vec<u32>>());
    }
    let total: u64 = got.iter().map(|&count| u64::from(count)).sum();
    compare::equal("the total", &[total], &[got.len() as u64 * u64::from(rounds * PARTS)])
}

/// Returns the atlas as Markdown.
pub fn markdown(pages: &[Page]) -> String {
    let mut text = "| cluster | blocks | latency: own, cycles | latency: peers, cycles |".to_string();
    let kinds = pages.first().map_or(&[][..], |page| &page.bandwidth);
    let name = |peers: Peers| PEERS.iter().find(|(of, _)| *of == peers).map_or("", |(_, name)| name);
    for kind in kinds {
        let _ = write!(text, " {}: {}, GB/s |", kind.operation, name(kind.peers));
    }
    text += "\n|---|---|---|---|";
    text += &"---|".repeat(kinds.len());
    for page in pages {
        let size = page.cluster as usize;
        let is_own = |pair: usize| pair / size == pair % size;
        let bounds = |own: bool| {
            let chosen =
                || page.latency.iter().enumerate().filter(|(pair, _)| is_own(*pair) == own).map(|(_, cycles)| *cycles);
            format!("{} to {}", chosen().min().unwrap_or(0), chosen().max().unwrap_or(0))
        };
        let _ = write!(text, "\n| {size} | {} | {} | {} |", page.blocks, bounds(true), bounds(false));
        page.bandwidth.iter().for_each(|one| {
            let _ = write!(text, " {:.0} |", one.bandwidth);
        });
    }
    text + "\n"
}
