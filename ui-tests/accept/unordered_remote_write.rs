//! A barrier of the cluster stands between what comes from peers and what the owner does.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 4, block = 64)]
fn inbox(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    let next = cluster.map_shared_rank(&inbox, (cluster.block_rank() + 1) % cluster.num_blocks());
    next[i] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = inbox[i];
}

/// Bins are cleared before others count.
#[cluster_kernel(cluster = 2, block = 64)]
fn histogram(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    cluster.sync();
    let bin = input[this_grid().thread_rank()] % 128;
    cluster.map_shared_rank(&bins, bin / 64).atomic(bin % 64).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn counted_in_time(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    cluster.sync();
    let bin = input[this_grid().thread_rank()] % 128;
    cluster.map_shared_rank(&bins, bin / 64).atomic(bin % 64).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

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
        cluster.sync();
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn sent_before_the_arrival(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    cluster.map_shared_rank(&inbox, 1 - cluster.block_rank())[i] = input[this_grid().thread_rank()];
    let token = cluster.barrier_arrive();
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
    cluster.sync();
    if rank == 0 {
        let mut sum = 0.0;
        for from in 0..4 {
            sum += parts[from][i];
        }
        out[i] = sum;
    }
    cluster.sync();
}

/// Two inboxes: one is read while the other is filled.
#[cluster_kernel(cluster = 2, block = 64)]
fn two_inboxes(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&inbox, 1 - cluster.block_rank());
    let mut sum = 0;
    cluster.sync();
    for round in 0..rounds {
        peer[round % 2][i] = input[round * 64 + i];
        cluster.sync();
        sum += inbox[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
}

/// Halo cells: peers write the first and the last cell, the owner those between.
#[cluster_kernel(cluster = 4, block = 64)]
fn halo_cells(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let cells = shared_array::<f32, 66>();
    let i = this_thread_block().thread_rank();
    let (rank, blocks) = (cluster.block_rank(), cluster.num_blocks());
    let value = input[this_grid().thread_rank()];
    cluster.sync();
    cells[i + 1] = value;
    if i == 0 {
        cluster.map_shared_rank(&cells, (rank + blocks - 1) % blocks)[65] = value;
    }
    if i == 63 {
        cluster.map_shared_rank(&cells, (rank + 1) % blocks)[0] = value;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = (cells[i] + cells[i + 1] + cells[i + 2]) / 3.0;
}

/// Atomic on both sides.
#[cluster_kernel(cluster = 2, block = 64)]
fn atomic_on_both_sides(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    cluster.sync();
    let bin = input[this_grid().thread_rank()] % 64;
    bins.atomic(bin).fetch_add(1, Relaxed);
    cluster.map_shared_rank(&bins, 1 - cluster.block_rank()).atomic(63 - bin).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

/// Each thread chooses a block by its rank, which has a row for each block that writes.
#[cluster_kernel(cluster = 4, block = 64)]
fn spread_by_thread(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let inbox = shared_array::<[u32; 16], 4>();
    let i = this_thread_block().thread_rank();
    cluster.sync();
    cluster.map_shared_rank(&inbox, i % 4)[cluster.block_rank()][i / 4] = input[this_grid().thread_rank()];
    cluster.sync();
    out[this_grid().thread_rank()] = inbox[i % 4][i / 4];
}

/// The first block has a bin for each thread of the cluster.
#[cluster_kernel(cluster = 2, block = 64)]
fn counted_in_the_first(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let bins = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    bins[i] = 0;
    bins[i + 64] = 0;
    cluster.sync();
    cluster.map_shared_rank(&bins, 0)[input[this_grid().thread_rank()]] += 1;
    cluster.sync();
    out[this_grid().thread_rank()] = bins[i];
}

/// Each block waits for what the one before it sends, and then sends: the read comes first in the text.
#[cluster_kernel(cluster = 4, block = 64)]
fn chain(input: &[u32], out: &mut [u32]) {
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
    ready.wait_parity(false);
    let before = if rank > 0 { prefix[0] } else { 0 };
    if i == 63 && rank < 3 {
        let next = cluster.map_shared_rank(&ready, rank + 1);
        cluster.map_shared_rank(&prefix, rank + 1).store_async(0, before + input[rank], &next);
    }
    out[this_grid().thread_rank()] = before;
}

/// A counter of each block, by atomics.
#[cluster_kernel(cluster = 4, block = 64)]
fn counted_with_atomics(experts: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let count = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    if i == 0 {
        count[0] = 0;
    }
    cluster.sync();
    let of_expert = cluster.map_shared_rank(&count, experts[this_grid().thread_rank()] % 4);
    let slot = of_expert.atomic(0).fetch_add(1, Relaxed);
    cluster.sync();
    out[this_grid().thread_rank()] = slot + count[0];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<inbox>,
    phalanx::Program::of::<histogram>,
    phalanx::Program::of::<counted_in_time>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<sent_before_the_arrival>,
    phalanx::Program::of::<gathered>,
    phalanx::Program::of::<two_inboxes>,
    phalanx::Program::of::<halo_cells>,
    phalanx::Program::of::<atomic_on_both_sides>,
    phalanx::Program::of::<spread_by_thread>,
    phalanx::Program::of::<counted_in_the_first>,
    phalanx::Program::of::<chain>,
    phalanx::Program::of::<counted_with_atomics>,
];
