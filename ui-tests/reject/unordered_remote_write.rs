//! A write into a peer's shared memory that no barrier orders with the peer's own accesses.

use phalanx::prelude::*;

/// The mail is read before it has come.
#[cluster_kernel(cluster = 4, block = 64)]
fn inbox(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    let next = cluster.map_shared_rank(&inbox, (cluster.block_rank() + 1) % cluster.num_blocks());
    next[i] = input[this_grid().thread_rank()];
    out[this_grid().thread_rank()] = inbox[i];
    cluster.sync();
}

/// Bins are cleared while others count already.
#[cluster_kernel(cluster = 2, block = 64)]
fn histogram(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    bins[i] = 0;
    this_thread_block().sync();
    let bin = input[this_grid().thread_rank()] % 128;
    cluster.map_shared_rank(&bins, bin / 64).atomic(bin % 64).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

/// The block's barrier does not wait for others to count.
#[cluster_kernel(cluster = 2, block = 64)]
fn counted_too_early(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    cluster.sync();
    let bin = input[this_grid().thread_rank()] % 128;
    cluster.map_shared_rank(&bins, bin / 64).atomic(bin % 64).fetch_add(1, Relaxed);
    this_thread_block().sync();
    out[this_grid().thread_rank()] = bins[i];
    cluster.sync();
}

/// The next round's mail comes while this round's is read.
#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&inbox, 1 - cluster.block_rank());
    let mut sum = 0;
    cluster.sync();
    for round in 0..rounds {
        peer[i] = input[round * 64 + i];
        cluster.sync();
        sum += inbox[63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// Sent between arrive and wait, read behind that wait.
#[cluster_kernel(cluster = 2, block = 64)]
fn sent_after_the_arrival(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    let token = cluster.barrier_arrive();
    cluster.map_shared_rank(&inbox, 1 - cluster.block_rank())[i] = input[this_grid().thread_rank()];
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = inbox[i];
    cluster.sync();
}

/// The first block adds up what the others send it.
#[cluster_kernel(cluster = 4, block = 64)]
fn gathered(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let parts = shared_array::<[f32; 64], 4>();
    let i = this_thread_block().thread_rank();
    let rank = cluster.block_rank();
    cluster.sync();
    cluster.map_shared_rank(&parts, 0)[rank][i] = input[this_grid().thread_rank()];
    if rank == 0 {
        let mut sum = 0.0;
        for from in 0..4 {
            sum += parts[from][i];
        }
        out[i] = sum;
    }
    cluster.sync();
}

/// Each thread chooses a block by its rank, and the threads of its rank in other blocks choose the same one.
#[cluster_kernel(cluster = 4, block = 64)]
fn spread_by_thread(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    cluster.map_shared_rank(&inbox, i % 4)[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = inbox[i];
}

/// The blocks together have more threads than the first one has bins.
#[cluster_kernel(cluster = 2, block = 64)]
fn counted_in_the_first(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    cluster.sync();
    cluster.map_shared_rank(&bins, 0)[input[this_grid().thread_rank()]] += 1;
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

/// Fewer counters than threads, wherever they are.
#[cluster_kernel(cluster = 4, block = 64)]
fn counted_without_atomics(experts: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let count = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    if i == 0 {
        count[0] = 0;
    }
    cluster.sync();
    let of_expert = cluster.map_shared_rank(&count, experts[this_grid().thread_rank()] % 4);
    let slot = of_expert[0];
    of_expert[0] = slot + 1;
    cluster.sync();
    out[this_grid().thread_rank()] = slot + count[0];
}

fn main() {}

/// All blocks write the same element.
#[cluster_kernel(cluster = 4, block = 64)]
fn written_by_all(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let sums = shared_array::<u32, 64>();
    sums[i] = 0;
    cluster.sync();
    let first = cluster.map_shared_rank(&sums, 0);
    if i == 0 {
        first[0] = cluster.block_rank() as u32;
    }
    cluster.sync();
    out[i] = sums[i];
}

/// Two blocks send to the same elements of a third one.
#[cluster_kernel(cluster = 4, block = 64)]
fn sent_by_two(out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let rank = cluster.block_rank();
    inbox[i] = 0;
    cluster.sync();
    if rank == 1 || rank == 2 {
        cluster.map_shared_rank(&inbox, 0)[i] = rank;
    }
    cluster.sync();
    out[i] = inbox[i];
}

/// One block reads what another one sends to a third.
#[cluster_kernel(cluster = 4, block = 64)]
fn read_by_another(out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let rank = cluster.block_rank();
    inbox[i] = 0;
    cluster.sync();
    let first = cluster.map_shared_rank(&inbox, 0);
    if rank == 1 {
        first[i] = 7;
    }
    if rank == 3 {
        out[i] = first[63 - i];
    }
    cluster.sync();
}

/// A block reads what the one before it sends before it waits.
#[cluster_kernel(cluster = 4, block = 64)]
fn read_before_the_wait(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let prefix = shared_array::<u32, 1>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let (rank, i) = (cluster.block_rank(), this_thread_block().thread_rank());
    if i == 0 {
        if rank > 0 {
            ready.expect_tx(4);
        }
        let _ = ready.arrive();
    }
    let before = if rank > 0 { prefix[0] } else { 0 };
    ready.wait_parity(false);
    if i == 63 && rank < 3 {
        let next = cluster.map_shared_rank(&ready, rank + 1);
        cluster.map_shared_rank(&prefix, rank + 1).store_async(0, before + input[rank], &next);
    }
    out[this_grid().thread_rank()] = before;
}

/// Two threads of a block send to one element: nothing tells the one that the other's number has come.
#[cluster_kernel(cluster = 2, block = 64)]
fn sent_by_two_threads(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let i = this_thread_block().thread_rank();
    if i == 0 {
        ready.expect_tx(64 * 4);
        let _ = ready.arrive();
    }
    let other = 1 - cluster.block_rank();
    cluster.map_shared_rank(&inbox, other).store_async(i % 32, input[i], &cluster.map_shared_rank(&ready, other));
    ready.wait_parity(false);
    out[this_grid().thread_rank()] = inbox[i % 32];
}

/// So do two blocks, at two places.
#[cluster_kernel(cluster = 4, block = 64)]
fn sent_by_two_blocks(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let ready = shared_cluster_barrier();
    ready.init_collective(&cluster, 1);
    let (rank, i) = (cluster.block_rank(), this_thread_block().thread_rank());
    if i == 0 {
        if rank == 0 {
            ready.expect_tx(2 * 32 * 4);
        }
        let _ = ready.arrive();
    }
    let (first, first_ready) = (cluster.map_shared_rank(&inbox, 0), cluster.map_shared_rank(&ready, 0));
    if rank == 1 && i < 32 {
        first.store_async(i, input[i], &first_ready);
    }
    if rank == 2 && i < 32 {
        first.store_async(31 - i, input[i], &first_ready);
    }
    ready.wait_parity(false);
    if rank == 0 {
        out[i] = inbox[i % 32];
    }
}

/// Two of the blocks that tell block 0 write to the same row of its memory.
#[cluster_kernel(cluster = 4, block = 64)]
fn told_by_two_blocks(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let slots = shared_array::<[u32; 64], 2>();
    let arrived = shared_cluster_barrier();
    arrived.init_collective(&cluster, 3 * 64);
    let (rank, i) = (cluster.block_rank(), this_thread_block().thread_rank());
    if rank != 0 {
        cluster.map_shared_rank(&slots, 0)[rank / 2][i] = input[this_grid().thread_rank()];
        cluster.map_shared_rank(&arrived, 0).arrive();
        return;
    }
    arrived.wait_parity(false);
    out[i] = slots[0][i] + slots[1][i];
}
