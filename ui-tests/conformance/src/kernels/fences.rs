//! Kernels whose barriers of the cluster get each fence, for each reason. On a GPU they check many values, some of which would be
//! wrong if a fence ordered less than it must; `tests/fences.rs` makes each fence weaker, and asks the simulator.

use phalanx::prelude::*;
use phalanx::{BarrierFence, Result};

use crate::{Kernel, Module, Outcome, check_list};

const BLOCK: u32 = 128;

/// A kernel of this file, with the fences of its arrivals in the order of the source.
pub struct Fenced {
    /// The kernel's name.
    pub name: &'static str,
    /// The fences: `r` for relaxed, `s` for shared, `f` for full.
    pub fences: &'static str,
    /// Whether the kernel relies on every fence that is not relaxed, in every run.
    pub relies: bool,
    /// Returns the fences that the compiler chose.
    pub barriers: fn() -> Result<Vec<BarrierFence>>,
    /// Runs so many blocks for so many rounds, and returns how many words each thread found wrong.
    pub run: fn(&Device, u32, u32) -> Result<Buffer<u32>>,
}

/// What a thread writes in a round: no other thread writes it, nor does this one again.
#[device]
fn value_of(round: u32, i: u32) -> u32 {
    round * 4096 + i + 1
}

/// A device function that writes shared memory.
#[device]
fn fill(cells: &SharedArray<u32, 128>, i: u32, value: u32) {
    cells[i] = value;
}

/// A device function that reads the memory of a peer.
#[device]
fn peek(cells: &RemoteArray<u32, 128>, i: u32) -> u32 {
    cells[i]
}

/// A device function that calls another.
#[device]
fn fill_round(cells: &SharedArray<u32, 128>, i: u32, round: u32, rank: u32) {
    fill(cells, i, value_of(round, rank));
}

/// A device function that is given a closure.
#[device]
fn sum_of(count: u32, word: impl Fn(u32) -> u32) -> u32 {
    let mut sum = 0;
    for k in 0..count {
        sum += word(k);
    }
    sum
}

/// A trait whose method accesses no memory.
#[device]
trait Encoded {
    fn decoded(self) -> u32;
}

#[device]
impl Encoded for u32 {
    fn decoded(self) -> u32 {
        self - 1
    }
}

/// A device function with barriers, between which it reads its peers' words: whatever its callers do, the second one waits for its own reads
/// alone.
#[device]
fn sum_of_peers(cluster: &Cluster, cells: &SharedArray<u32, 128>, i: u32, value: u32) -> u32 {
    cells[i] = value;
    cluster.sync();
    let mut sum = 0;
    for step in 1..4 {
        sum += cluster.map_shared_rank(cells, (cluster.block_rank() + step) % 4)[i];
    }
    cluster.sync();
    sum
}

/// A device function whose barrier orders what its callers did.
#[device]
fn meet(cluster: &Cluster) {
    cluster.sync();
}

/// A block's own words are read by a peer, and then written anew.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn pull(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let rank = (cluster.block_rank() + 1) % 4;
    let peer = cluster.map_shared_rank(&cells, rank);
    let other = (i + 37) % BLOCK;
    let mut errors = 0;
    cluster.sync();
    for round in 0..rounds {
        cells[i] = value_of(round, cluster.thread_rank());
        cluster.sync();
        errors += (peer[other] != value_of(round, rank * BLOCK + other)) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Many words are on their way from peers when their owners may write anew.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn pull_many(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let other = (i + 36) % BLOCK / 4 * 4;
    let mut errors = 0;
    cluster.sync();
    for round in 0..rounds {
        cells[i] = value_of(round, cluster.thread_rank());
        cluster.sync();
        let mut sum = 0;
        for step in 1..4 {
            let rank = (cluster.block_rank() + step) % 4;
            let four = cluster.map_shared_rank(&cells, rank).load_vec::<4>(other);
            let one = cluster.map_shared_rank(&cells, rank)[BLOCK - 1 - i];
            sum += four[0] + four[1] + four[2] + four[3] + one;
            let first = rank * BLOCK;
            sum -= 4 * value_of(round, first + other) + 6 + value_of(round, first + BLOCK - 1 - i);
        }
        let read = cluster.barrier_arrive();
        errors += (sum != 0) as u32;
        cluster.barrier_wait(read);
    }
    out[this_grid().thread_rank()] = errors;
}

/// Closures read the words, one of them for a function, and a method decodes them.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn pull_by_closures(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let rank = (cluster.block_rank() + 1) % 4;
    let peer = cluster.map_shared_rank(&cells, rank);
    let mut errors = 0;
    cluster.sync();
    for round in 0..rounds {
        cells[i] = value_of(round, cluster.thread_rank());
        cluster.sync();
        let word = move |k: u32| peer[(i + 36 + k) % BLOCK];
        let sum = sum_of(4, |k| word(k)) + (4..7).map(|k| word(k).decoded()).sum::<u32>();
        let first = rank * BLOCK;
        errors += (sum != (0..7).map(|k| value_of(round, first + (i + 36 + k) % BLOCK) - k / 4).sum::<u32>()) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// One thread of each block writes, and the others have nothing to order.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn elected(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let rank = (cluster.block_rank() + 3) % 4;
    let peer = cluster.map_shared_rank(&cells, rank);
    let mut errors = 0;
    for round in 0..rounds {
        if i == round % BLOCK {
            cells[5] = value_of(round, cluster.block_rank());
        }
        cluster.sync();
        errors += (peer[5] != value_of(round, rank)) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// The barrier of the cluster is the block's too: threads of one block exchange words.
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn within_blocks(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let other = (i + 37) % BLOCK;
    let mut errors = 0;
    for round in 0..rounds {
        cells[i] = value_of(round, i);
        cluster.sync();
        errors += (cells[other] != value_of(round, other)) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Blocks write into each other's memory.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn push(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&cells, (cluster.block_rank() + 1) % 4);
    let from = (cluster.block_rank() + 3) % 4;
    let other = (i + 37) % BLOCK;
    let mut errors = 0;
    cluster.sync();
    for round in 0..rounds {
        peer[i] = value_of(round, cluster.thread_rank());
        cluster.sync();
        errors += (cells[other] != value_of(round, from * BLOCK + other)) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Global memory carries the words.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn through_global(global: &mut [u32], out: &mut [u32], rounds: u32) {
    let (cluster, grid) = (this_cluster(), this_grid());
    let (first, i) = (grid.cluster_rank() * 512, cluster.thread_rank());
    let other = (i + 165) % 512;
    let mut errors = 0;
    for round in 0..rounds {
        global[first + i as usize] = value_of(round, i);
        cluster.sync();
        errors += (global[first + other as usize] != value_of(round, other)) as u32;
        cluster.sync();
    }
    out[grid.thread_rank()] = errors;
}

/// The arrival and the wait are apart, with work on values between them.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn split(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let rank = (cluster.block_rank() + 2) % 4;
    let peer = cluster.map_shared_rank(&cells, rank);
    let other = (i + 37) % BLOCK;
    let mut errors = 0;
    for round in 0..rounds {
        cells[i] = value_of(round, cluster.thread_rank());
        let written = cluster.barrier_arrive();
        let expected = value_of(round, rank * BLOCK + other);
        cluster.barrier_wait(written);
        let found = peer[other];
        let read = cluster.barrier_arrive();
        errors += (found != expected) as u32;
        cluster.barrier_wait(read);
    }
    out[this_grid().thread_rank()] = errors;
}

/// What a device function does counts, and what it does not do costs nothing.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn in_functions(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let rank = (cluster.block_rank() + 1) % 4;
    let peer = cluster.map_shared_rank(&cells, rank);
    let other = value_of(0, i + 36) % BLOCK;
    let mut errors = 0;
    meet(&cluster);
    for round in 0..rounds {
        fill_round(&cells, i, round, cluster.thread_rank());
        cluster.sync();
        errors += (peek(&peer, other) != value_of(round, rank * BLOCK + other)) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// All barriers are in a device function, which leaves nothing for a later one to order.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn between_calls(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let mut errors = 0;
    for round in 0..rounds {
        let sum = sum_of_peers(&cluster, &cells, i, value_of(round, cluster.thread_rank()));
        let rank = cluster.block_rank();
        let others = (1..4).map(|step| value_of(round, (rank + step) % 4 * BLOCK + i)).sum::<u32>();
        errors += (sum != others) as u32;
    }
    out[this_grid().thread_rank()] = errors;
}

/// A peer's atomics count in a block's memory, which the block reads and clears.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn counted(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&cells, (cluster.block_rank() + 1) % 4);
    let mut errors = 0;
    for _ in 0..rounds {
        cells[i] = 0;
        cluster.sync();
        for k in 0..4 {
            peer.atomic((i + k * 7) % BLOCK).fetch_add(1, Relaxed);
        }
        cluster.sync();
        errors += (cells[i] != 4) as u32;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Words are sent to a peer, which gives the place back by an arrival at the sender's phase barrier: one thread arrives for all that
/// have read.
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn credits(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let cells = shared_array::<u32, 128>();
    let (full, free) = (shared_cluster_barrier(), shared_cluster_barrier());
    full.init_collective(&cluster, 1);
    free.init_collective(&cluster, 1);
    let i = block.thread_rank();
    let rank = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&cells, rank);
    let (full_there, free_there) = (cluster.map_shared_rank(&full, rank), cluster.map_shared_rank(&free, rank));
    let other = (i + 37) % BLOCK;
    let mut errors = 0;
    for round in 0..rounds {
        if i == 0 {
            full.expect_tx(4 * BLOCK);
            let _ = full.arrive();
        }
        there.store_async(i, value_of(round, cluster.thread_rank()), &full_there);
        full.wait_parity(round % 2 == 1);
        errors += (cells[other] != value_of(round, rank * BLOCK + other)) as u32;
        block.sync();
        if i == 0 {
            free_there.arrive();
        }
        free.wait_parity(round % 2 == 1);
    }
    out[this_grid().thread_rank()] = errors;
    cluster.sync();
}

/// A block's words are read by its own threads, which tell a peer, which tells the thread that overwrites them.
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn relayed(_global: &mut [u32], out: &mut [u32], rounds: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let cells = shared_array::<u32, 128>();
    let full = shared_barrier();
    let (read, free) = (shared_cluster_barrier(), shared_cluster_barrier());
    full.init_collective(&block, 1);
    read.init_collective(&cluster, BLOCK - 32);
    free.init_collective(&cluster, 1);
    let i = block.thread_rank();
    let rank = 1 - cluster.block_rank();
    let (read_there, free_there) = (cluster.map_shared_rank(&read, rank), cluster.map_shared_rank(&free, rank));
    let mut errors = 0;
    if i == 0 {
        for round in 0..rounds {
            cells[7] = value_of(round, cluster.block_rank());
            let _ = full.arrive();
            free.wait_parity(round % 2 == 1);
        }
    } else if i == 1 {
        for round in 0..rounds {
            read.wait_parity(round % 2 == 1);
            free_there.arrive();
        }
    } else if i >= 32 {
        for round in 0..rounds {
            full.wait_parity(round % 2 == 1);
            errors += (cells[7] != value_of(round, cluster.block_rank())) as u32;
            read_there.arrive();
        }
    }
    out[this_grid().thread_rank()] = errors;
    cluster.sync();
}

/// Global memory carries the words, and a phase barrier the news.
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn told_through_global(global: &mut [u32], out: &mut [u32], rounds: u32) {
    let (cluster, block, grid) = (this_cluster(), this_thread_block(), this_grid());
    let written = shared_cluster_barrier();
    written.init_collective(&cluster, 1);
    let rank = 1 - cluster.block_rank();
    let written_there = cluster.map_shared_rank(&written, rank);
    let (first, i) = (grid.cluster_rank() * 256, block.thread_rank());
    let other = rank * BLOCK + (i + 37) % BLOCK;
    let mut errors = 0;
    for round in 0..rounds {
        global[first + cluster.thread_rank() as usize] = value_of(round, cluster.thread_rank());
        block.sync();
        if i == 0 {
            written_there.arrive();
        }
        written.wait_parity(round % 2 == 1);
        errors += (global[first + other as usize] != value_of(round, other)) as u32;
        cluster.sync();
    }
    out[grid.thread_rank()] = errors;
}

/// Makes the table of the kernels.
macro_rules! fenced {
    ($($name:ident: $fences:literal $relies:literal;)*) => {
        /// The kernels of this file.
        pub const FENCED: &[Fenced] = &[$(Fenced {
            name: stringify!($name),
            fences: $fences,
            relies: $relies,
            barriers: $name::barriers,
            run: |device, blocks, rounds| {
                let all = (blocks * BLOCK) as usize;
                let (mut global, mut out) = (device.zeros(all)?, device.zeros(all)?);
                $name(&mut global, &mut out, rounds).grid(blocks).launch(device)?;
                Ok(out)
            },
        }),*];

        fn kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<$name>(stringify!($name))),*]
        }
    };
}

fenced! {
    pull: "rss" true;
    pull_many: "rss" true;
    pull_by_closures: "rss" true;
    elected: "ss" true;
    within_blocks: "ss" true;
    push: "rfs" true;
    through_global: "ff" true;
    split: "ss" true;
    in_functions: "rsf" true;
    between_calls: "ss" true;
    counted: "sfs" true;
    credits: "sf" true;
    relayed: "ssf" true;
    told_through_global: "ff" true;
}

fn many_values(device: &Device) -> Outcome {
    let (blocks, rounds) = if device.is_simulator() { (8, 3) } else { (264, 20_000) };
    for Fenced { name, run, .. } in FENCED {
        let wrong: u64 = run(device, blocks, rounds)?.read()?.into_iter().map(u64::from).sum();
        if wrong > 0 {
            return Err(format!("{name}: {wrong} words were wrong").into());
        }
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "fences", checks: check_list![many_values], kernels: kernels() }]
}
