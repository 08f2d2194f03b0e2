//! The source or the destination of an asynchronous copy is used before a wait has shown its end.

use phalanx::prelude::*;

/// The destination is read before the wait.
#[cluster_kernel(block = 64)]
fn read_early(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    memcpy_async(&block, &tile, &input[..64], &bar);
    let token = bar.arrive();
    out[block.thread_rank()] = tile[0];
    bar.wait(token);
}

/// A barrier of the block does not wait for the bytes.
#[cluster_kernel(block = 64)]
fn synced_only(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let rows = shared_array::<[f32; 64], 2>();
    memcpy_async(&block, &rows[1], &input[..64]);
    block.sync();
    out[block.thread_rank()] = rows[1][block.thread_rank()];
    block.wait_async();
}

/// Both the destination and the source are written.
#[cluster_kernel(block = 64)]
fn written_early(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    let back = shared_array::<f32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
    tile[block.thread_rank()] = 1.0;
    block.wait_async();
    back[block.thread_rank()] = tile[0];
    block.sync();
    if block.thread_rank() == 0 {
        bulk_copy_async(&mut out[..64], &back);
        back[0] = 5.0;
        bulk_wait_group_read::<0>();
    }
}

/// Nobody waits for them.
#[cluster_kernel(block = 64)]
fn left_behind(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    tile[block.thread_rank()] = input[block.thread_rank()];
    block.sync();
    if block.thread_rank() == 0 {
        bulk_copy_async(&mut out[..64], &tile);
    }
}

/// Nor for a group's.
#[cluster_kernel(block = 64)]
fn never_waited(input: &[f32]) {
    let block = this_thread_block();
    let tile = shared_array::<f32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
}

/// The use is in a device function.
#[device]
fn of_a_row(block: &ThreadBlock, row: &SharedSlice<f32>, input: &[f32]) -> f32 {
    memcpy_async(block, row, input);
    let early = row[0];
    block.wait_async();
    early
}

/// Whether the copy is complete is asked once, and the answer only counted.
#[cluster_kernel(block = 64)]
fn asked_in_vain(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    memcpy_async(&block, &tile, &input[..64], &bar);
    let token = bar.arrive();
    let mut spins = 0.0;
    if !bar.try_wait(&token) {
        spins += 1.0;
    }
    out[i] = tile[63 - i] + spins * 0.0;
}

/// Whether the thread waits, the data decide.
#[cluster_kernel(block = 64)]
fn waited_for_some_data(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 64>();
    tile[i] = input[i];
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &tile);
        if input[5] > 0.0 {
            bulk_wait_group_read::<0>();
        }
    }
}

fn main() {}

/// The owner reads its inbox while peers still send to it: no barrier of the cluster waits for a copy.
#[cluster_kernel(cluster = 2, block = 64)]
fn read_before_it_arrives(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    bar.expect_tx(4);
    let _ = bar.arrive();
    let other = 1 - cluster.block_rank();
    let there = cluster.map_shared_rank(&inbox, other);
    there.store_async(i, input[i], &cluster.map_shared_rank(&bar, other));
    cluster.sync();
    out[i] = inbox[i];
    bar.wait_parity(false);
    inbox[i] = 0;
    cluster.sync();
}

/// What is being sent is overwritten, and so is what a peer sends to.
#[cluster_kernel(cluster = 2, block = 64)]
fn overwritten_while_sent(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let outbox = shared_array::<u32, 64>();
    let inbox = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 1);
    outbox[i] = input[i];
    block.sync();
    if i == 0 {
        let other = 1 - cluster.block_rank();
        bar.expect_tx(256);
        bulk_copy_async(&cluster.map_shared_rank(&inbox, other), &outbox, &cluster.map_shared_rank(&bar, other));
        let _ = bar.arrive();
        outbox[0] = 5;
        inbox[0] = 5;
    }
    bar.wait_parity(false);
    out[i] = inbox[i];
    cluster.sync();
}

/// After a wait for the reads, the destination may not be written yet.
#[cluster_kernel(block = 64)]
fn read_back(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 64>();
    row[i] = input[i];
    block.sync();
    if i == 0 {
        bulk_copy_async(&mut out[..64], &row);
        bulk_wait_group_read::<0>();
        out[64] = out[3] + 1.0;
    }
}

/// The copy may still read its source.
#[cluster_kernel(block = 64)]
fn source_changed(data: &mut [u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<u32, 64>();
    memcpy_async(&block, &row, &data[..64]);
    data[i] = 0;
    block.wait_async();
    out[i] = row[63 - i];
}

/// `wait_prior` leaves the copy of the stage that is read.
#[cluster_kernel(block = 64)]
fn one_copy_too_few(data: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let stages = shared_array::<[u32; 64], 2>();
    let i = block.thread_rank();
    memcpy_async(&block, &stages[0], &data[..64]);
    for k in 0..4u32 {
        if k < 3 {
            memcpy_async(&block, &stages[(k + 1) % 2], &data[(k + 1) * 64..(k + 2) * 64]);
            block.wait_prior::<2>();
        } else {
            block.wait_async();
        }
        out[k * 64 + i] = stages[k % 2][63 - i];
        block.sync();
    }
}

/// Where `rows` is 0, nothing waits for the first copy.
#[cluster_kernel(block = 64)]
fn no_round(data: &[u32], out: &mut [u32], rows: u32) {
    let block = this_thread_block();
    let row = shared_array::<u32, 64>();
    let i = block.thread_rank();
    memcpy_async(&block, &row, &data[..64]);
    for k in 0..rows {
        block.wait_async();
        out[k * 64 + i] = row[63 - i];
    }
}

/// What the thread has sent to its own block has not arrived.
#[cluster_kernel(cluster = 2, block = 64)]
fn own_inbox(data: &[u32], out: &mut [u32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let inbox = shared_array::<u32, 64>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    let (i, me) = (block.thread_rank(), cluster.block_rank());
    if i == 0 {
        full.expect_tx(256);
        let _ = full.arrive();
    }
    cluster.map_shared_rank(&inbox, me).store_async(i, data[i], &cluster.map_shared_rank(&full, me));
    out[cluster.thread_rank()] = inbox[i];
    full.wait_parity(false);
}
