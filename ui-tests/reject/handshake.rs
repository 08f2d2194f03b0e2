//! Two blocks that meet at phase barriers in ways of which it is not known that the wait sees the other's arrivals.

use phalanx::prelude::*;

/// Half of the arrivals are enough.
#[cluster_kernel(cluster = 2, block = 64)]
fn too_few(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 32);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, other)[i] = i;
    cluster.map_shared_rank(&bar, other).arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

/// The phase before the first is over.
#[cluster_kernel(cluster = 2, block = 64)]
fn of_no_phase(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, other)[i] = i;
    cluster.map_shared_rank(&bar, other).arrive();
    bar.wait_parity(true);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 64)]
fn at_one_block(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, other)[i] = i;
    cluster.map_shared_rank(&bar, 1).arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

/// The write comes after the arrival.
#[cluster_kernel(cluster = 2, block = 64)]
fn after_the_arrival(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&bar, other).arrive();
    cluster.map_shared_rank(&array, other)[i] = i;
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

/// One thread may arrive twice in a phase, and another not at all.
#[cluster_kernel(cluster = 2, block = 64)]
fn in_a_loop(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    for round in 0..rounds {
        cluster.map_shared_rank(&array, other)[i] = i;
        cluster.map_shared_rank(&bar, other).arrive();
        bar.wait_parity(false);
        out[cluster.thread_rank()] = array[63 - i];
    }
    cluster.sync();
}

/// Another's arrivals count too.
#[cluster_kernel(cluster = 2, block = 64)]
fn with_its_own(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let other = 1 - cluster.block_rank();
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, other)[i] = i;
    let _ = bar.arrive();
    cluster.map_shared_rank(&bar, other).arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

/// The block that tells this one is not the one that writes here.
#[cluster_kernel(cluster = 4, block = 64)]
fn of_four(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    let (next, last) = ((cluster.block_rank() + 1) % 4, (cluster.block_rank() + 3) % 4);
    let i = this_thread_block().thread_rank();
    cluster.map_shared_rank(&array, next)[i] = i;
    cluster.map_shared_rank(&bar, last).arrive();
    bar.wait_parity(false);
    out[cluster.thread_rank()] = array[63 - i];
    cluster.sync();
}

fn main() {}
