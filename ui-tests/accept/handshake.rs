//! Two blocks that synchronize at phase barriers of the cluster's scope: what they did before happens-before what they do after.

use phalanx::prelude::*;

/// Each writes into the other, and reads what it got.
#[cluster_kernel(cluster = 2, block = 64)]
fn written_by_the_peer(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, block.num_threads());
    let rank = cluster.block_rank();
    let i = block.thread_rank();
    let theirs = cluster.map_shared_rank(&array, 1 - rank);
    let peer = cluster.map_shared_rank(&bar, 1 - rank);
    theirs[i] = cluster.thread_rank();
    peer.arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
}

/// The peer reads what the owner wrote.
#[cluster_kernel(cluster = 2, block = 64)]
fn read_by_the_peer(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    let done = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    done.init_collective(&cluster, 64);
    let i = this_thread_block().thread_rank();
    let other = cluster.block_rank() ^ 1;
    array[i] = cluster.thread_rank();
    let first = false;
    cluster.map_shared_rank(&bar, other).arrive();
    bar.wait_parity(first);
    out[cluster.thread_rank()] = cluster.map_shared_rank(&array, other)[63 - i];
    cluster.map_shared_rank(&done, other).arrive();
    done.wait_parity(false);
    array[i] = 0;
}

/// Two pairs of four blocks.
#[cluster_kernel(cluster = 4, block = 64)]
fn of_four(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = cluster.block_rank() ^ 1;
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, other)[i] = i;
    cluster.map_shared_rank(&bar, other).arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<written_by_the_peer>,
    phalanx::Program::of::<read_by_the_peer>,
    phalanx::Program::of::<of_four>,
];
