//! What barriers guarantee for memory, many times: what was done before an arrival is visible after the wait (message
//! passing, and store buffering, since all write and all read), and what comes after the wait was not done before
//! others had arrived (write after read). In shared memory, in that of peers and in global memory, by each barrier, and
//! by copies that read what threads wrote and write what threads read. On a GPU more than 10^9 values are checked for
//! each, some of which would be wrong if a barrier or a fence ordered less.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list};

const BLOCK: u32 = 256;

/// Returns what thread `i` writes in an iteration: no other thread writes it, nor does this one ever again.
#[device]
fn value_of(round: u32, i: u32) -> u32 {
    round * 4096 + i
}

/// Counts the wrong values of a thread: 1 for one that is too old, 65536 for one that is too new.
#[device]
fn wrong(found: u32, round: u32, i: u32) -> u32 {
    let right = value_of(round, i);
    if found == right {
        0
    } else if found < right {
        1
    } else {
        65536
    }
}

/// Makes a test in the block's memory: a barrier is `$arrive` and `$wait`.
macro_rules! within_a_block {
    ($($name:ident: $(with $barrier:ident = $shared:ident(),)? |$block:ident| $arrive:expr; |$token:ident| $wait:expr;)*) => {$(
        #[cluster_kernel(block = BLOCK)]
        fn $name(out: &mut [u32], rounds: u32) {
            let $block = this_thread_block();
            let cells = shared_array::<u32, 256>();
            $(
                let $barrier = $shared();
                $barrier.init_collective(&$block, BLOCK);
            )?
            let i = $block.thread_rank();
            let mut errors = 0;
            for round in 0..rounds {
                cells[i] = value_of(round, i);
                let $token = $arrive;
                errors += wrong(cells[i], round, i);
                let other = (i * 7 + round + 1) % BLOCK;
                $wait;
                errors += wrong(cells[other], round, other);
                let $token = $arrive;
                errors += wrong(cells[i], round, i);
                $wait;
            }
            out[this_grid().thread_rank()] = errors;
        }
    )*};
}

within_a_block! {
    block_split: |block| block.barrier_arrive(); |token| block.barrier_wait(token);
    block_sync: |block| block.sync(); |_token| ();
    phase_barrier: with full = shared_barrier(), |block| full.arrive(); |token| full.wait(token);
}

/// Reads what peers wrote to memory of their own.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn reads_of_peers(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 256>();
    let i = this_thread_block().thread_rank();
    let mut errors = 0;
    for round in 0..rounds {
        cells[i] = value_of(round, cluster.thread_rank());
        let token = cluster.barrier_arrive();
        let rank = (cluster.block_rank() + 1 + round % 3) % 4;
        let other = (i * 7 + round + 1) % BLOCK;
        let peer = cluster.map_shared_rank(&cells, rank);
        cluster.barrier_wait(token);
        errors += wrong(peer[other], round, rank * BLOCK + other);
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Writes to memory of peers, which read their own.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn writes_to_peers(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let cells = shared_array::<u32, 256>();
    let i = this_thread_block().thread_rank();
    let mut errors = 0;
    cluster.sync();
    for round in 0..rounds {
        let distance = 1 + round % 3;
        let peer = cluster.map_shared_rank(&cells, (cluster.block_rank() + distance) % 4);
        peer[i] = value_of(round, cluster.thread_rank());
        let token = cluster.barrier_arrive();
        let other = (i * 7 + round + 1) % BLOCK;
        cluster.barrier_wait(token);
        let from = (cluster.block_rank() + 4 - distance) % 4;
        errors += wrong(cells[other], round, from * BLOCK + other);
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Makes a test in global memory, among the threads of a group: those `$count` whose first is `$first`.
macro_rules! in_global_memory {
    ($($name:ident: $($option:ident = $size:literal)?; |$group:ident, $grid:ident| $this:ident(), $count:expr;)*) => {$(
        #[cluster_kernel($($option = $size,)? block = BLOCK)]
        fn $name(cells: &mut [u32], out: &mut [u32], rounds: u32) {
            let $group = $this();
            let $grid = this_grid();
            let count = $count;
            let (first, i) = ($grid.thread_rank() / count * count, $grid.thread_rank() % count);
            let mut errors = 0;
            for round in 0..rounds {
                cells[first + i] = value_of(round, i as u32 % 4096);
                let token = $group.barrier_arrive();
                let other = (i * 7 + round as usize + 1) % count;
                $group.barrier_wait(token);
                errors += wrong(cells[first + other], round, other as u32 % 4096);
                $group.sync();
            }
            out[$grid.thread_rank()] = errors;
        }
    )*};
}

in_global_memory! {
    block_in_global: ; |group, grid| this_thread_block(), 256_usize;
    cluster_in_global: cluster = 4; |group, grid| this_cluster(), 1024_usize;
    grid_in_global: ; |group, grid| this_grid(), grid.num_threads();
}

/// Lets bulk copies read global memory that threads wrote, and write what threads read: each round is made by threads and by copies in
/// turn, in global and in shared memory.
#[cluster_kernel(block = BLOCK)]
fn copies_in_global(cells: &mut [u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let staged = shared_array::<u32, 256>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let (first, i) = (this_grid().block_rank() as usize * 256, block.thread_rank());
    let mut errors = 0;
    for round in 0..rounds {
        let other = (i * 7 + round + 1) % BLOCK;
        cells[first + i as usize] = value_of(2 * round, i);
        block.sync();
        if i == 0 {
            full.expect_tx(4 * BLOCK);
            bulk_copy_async(&staged, &cells[first..first + 256], &full);
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        errors += wrong(staged[other], 2 * round, other);
        block.sync();
        staged[i] = value_of(2 * round + 1, i);
        block.sync();
        if i == 0 {
            bulk_copy_async(&mut cells[first..first + 256], &staged);
            bulk_wait_group::<0>();
        }
        block.sync();
        errors += wrong(cells[first + other as usize], 2 * round + 1, other);
        block.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

type Quarter = [[u32; 64]; 4];

/// Lets each block load tiles of a tensor that its peers stored.
#[cluster_kernel(cluster = 4, block = BLOCK)]
fn tiles_of_peers(cells: &mut TensorMap<Quarter>, out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let tiles = shared_array::<Quarter, 1>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let first = this_grid().cluster_rank() as u32 * 4;
    let mut errors = 0;
    for round in 0..rounds {
        tiles[0][i / 64][i % 64] = value_of(round, rank * BLOCK + i);
        block.sync();
        if i == 0 {
            cells.store_async([((first + rank) * 4) as i32, 0], &tiles[0]);
            bulk_wait_group::<0>();
        }
        cluster.sync();
        let peer = (rank + 1 + round % 3) % 4;
        if i == 0 {
            cells.load_async([((first + peer) * 4) as i32, 0], &tiles[0], &full);
            let _ = full.arrive();
        }
        full.wait_parity(round % 2 == 1);
        let other = (i * 7 + round + 1) % BLOCK;
        errors += wrong(tiles[0][other / 64][other % 64], round, peer * BLOCK + other);
        cluster.sync();
    }
    out[this_grid().thread_rank()] = errors;
}

/// Returns so many blocks and iterations that each kernel checks more than 10^9 values on a GPU.
fn shape(device: &Device, most: u32) -> (u32, u32) {
    if device.is_simulator() { (8, 6) } else { (most, 1_000_000_000 / (most * BLOCK) + 1) }
}

fn judge(out: &Buffer<u32>) -> Outcome {
    let errors = out.read()?;
    let (old, new) =
        errors.iter().fold((0, 0), |(old, new), e| (old + u64::from(e % 65536), new + u64::from(e / 65536)));
    match (old, new) {
        (0, 0) => Ok(()),
        _ => Err(format!("{old} values were too old and {new} too new").into()),
    }
}

fn in_shared_memory(device: &Device) -> Outcome {
    let (blocks, rounds) = shape(device, 264);
    let mut out = device.zeros((blocks * BLOCK) as usize)?;
    block_split(&mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)?;
    block_sync(&mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)?;
    phase_barrier(&mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)
}

fn in_memory_of_peers(device: &Device) -> Outcome {
    let (blocks, rounds) = shape(device, 264);
    let mut out = device.zeros((blocks * BLOCK) as usize)?;
    reads_of_peers(&mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)?;
    writes_to_peers(&mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)
}

fn in_memory_of_the_device(device: &Device) -> Outcome {
    let (blocks, rounds) = shape(device, 132);
    let all = (blocks * BLOCK) as usize;
    let (mut cells, mut out) = (device.zeros(all)?, device.zeros(all)?);
    block_in_global(&mut cells, &mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)?;
    cluster_in_global(&mut cells, &mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)?;
    grid_in_global(&mut cells, &mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)
}

fn by_copies(device: &Device) -> Outcome {
    let (blocks, rounds) = shape(device, 264);
    let all = (blocks * BLOCK) as usize;
    let (mut cells, mut out) = (device.zeros(all)?, device.zeros(all)?);
    copies_in_global(&mut cells, &mut out, rounds / 2 + 1).grid(blocks).launch(device)?;
    judge(&out)?;
    let mut cells = device.zeros(all)?;
    let mut tensor = cells.tensor_mut([blocks as usize * 4, 64])?;
    tiles_of_peers(&mut tensor, &mut out, rounds).grid(blocks).launch(device)?;
    judge(&out)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "litmus",
        checks: check_list![in_shared_memory, in_memory_of_peers, in_memory_of_the_device, by_copies],
        kernels: kernel_list![
            block_split,
            block_sync,
            phase_barrier,
            reads_of_peers,
            writes_to_peers,
            block_in_global,
            cluster_in_global,
            grid_in_global,
            copies_in_global,
            tiles_of_peers
        ],
    }]
}
