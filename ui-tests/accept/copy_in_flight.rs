//! The closest kernels to those of `reject/copy_in_flight.rs` that are right.

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn read_late(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    memcpy_async(&block, &tile, &input[..64], &bar);
    let token = bar.arrive();
    bar.wait(token);
    out[block.thread_rank()] = tile[0];
}

/// The other row is free.
#[cluster_kernel(block = 64)]
fn another_row(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[f32; 64], 2>();
    rows[0][i] = 1.0;
    block.sync();
    memcpy_async(&block, &rows[1], &input[..64]);
    out[i] = rows[0][63 - i];
    block.wait_async();
    out[64 + i] = rows[1][i];
}

/// One thread waits for all: the block's barrier tells them.
#[cluster_kernel(block = 64)]
fn one_waits(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(256);
        bulk_copy_async(&tile, &input[..64], &full);
        let _ = full.arrive();
    }
    if i == 32 {
        full.wait_parity(false);
    }
    block.sync();
    out[i] = tile[63 - i];
}

/// Read while it goes out, and written when it has gone.
#[cluster_kernel(block = 64)]
fn goes_out(input: &[f32], out: &mut [f32], sums: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 64>();
    tile[i] = input[i];
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &tile);
    }
    sums[i] = tile[63 - i];
    if i == 0 {
        bulk_wait_group_read::<0>();
    }
    block.sync();
    tile[i] = 0.0;
}

#[device]
fn of_a_row(block: &ThreadBlock, row: &SharedSlice<f32>, input: &[f32]) -> f32 {
    memcpy_async(block, row, input);
    block.wait_async();
    row[0]
}

/// By a function, which waits.
#[cluster_kernel(block = 64)]
fn by_a_function(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let rows = shared_array::<[f32; 64], 2>();
    out[block.thread_rank()] = of_a_row(&block, &rows[0], &input[..64]) + of_a_row(&block, &rows[1], &input[64..128]);
}

/// The thread asks until the copy is complete, or waits if it is not.
#[cluster_kernel(block = 64)]
fn asked(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tiles = shared_array::<[f32; 64], 2>();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    memcpy_async(&block, &tiles[0], &input[..64], &bars[0]);
    memcpy_async(&block, &tiles[1], &input[64..128], &bars[1]);
    let (first, second) = (bars[0].arrive(), bars[1].arrive());
    let mut spins = 0.0;
    while !bars[0].try_wait(&first) {
        spins += 1.0;
    }
    if !bars[1].try_wait(&second) {
        bars[1].wait(second);
    }
    out[i] = tiles[0][63 - i] + tiles[1][63 - i] + spins * 0.0;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<read_late>,
    phalanx::Program::of::<another_row>,
    phalanx::Program::of::<one_waits>,
    phalanx::Program::of::<goes_out>,
    phalanx::Program::of::<by_a_function>,
    phalanx::Program::of::<asked>,
];

/// The owner reads its inbox after it has waited, and tells the sender so by a barrier of the cluster.
#[cluster_kernel(cluster = 2, block = 64)]
fn read_after_it_arrived(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&inbox, other);
    let mut parity = false;
    for round in 0..4 {
        bar.expect_tx(4);
        let _ = bar.arrive();
        there.store_async(i, input[round * 64 + i], &cluster.map_shared_rank(&bar, other));
        bar.wait_parity(parity);
        parity = !parity;
        out[round * 64 + i] = inbox[i];
        cluster.sync();
    }
}

/// Two inboxes in turn: a block sends to one again only after it has received in the other, which the peer sent after it had read.
#[cluster_kernel(cluster = 2, block = 64)]
fn two_inboxes(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<u32, 128>();
    let bars = shared_cluster_barriers::<2>();
    for stage in 0..2 {
        bars[stage].init_collective(&cluster, 64);
    }
    let other = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&inbox, other);
    for round in 0..8 {
        bars[round % 2].expect_tx(4);
        let _ = bars[round % 2].arrive();
        let full = cluster.map_shared_rank(&bars[round % 2], other);
        there.store_async(round % 2 * 64 + i, input[round * 64 + i], &full);
        bars[round % 2].wait_parity(round / 2 % 2 == 1);
        out[round * 64 + i] = inbox[round % 2 * 64 + i];
    }
    cluster.sync();
}

/// The first copy is waited for in the first round, which there is.
#[cluster_kernel(block = 64)]
fn some_round(data: &[u32], out: &mut [u32], rows: u32) {
    let block = this_thread_block();
    let row = shared_array::<u32, 64>();
    let i = block.thread_rank();
    assert!(rows > 0);
    memcpy_async(&block, &row, &data[..64]);
    for k in 0..rows {
        block.wait_async();
        out[k * 64 + i] = row[63 - i];
    }
}
