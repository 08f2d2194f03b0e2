//! Each rule switched off where it is broken.

use phalanx::prelude::*;

#[cluster_kernel(unchecked(token_never_waited))]
fn dropped() {
    let token = this_cluster().barrier_arrive();
}

#[cluster_kernel(unchecked(token_never_waited, arrive_while_pending))]
fn two_of_two() {
    let cluster = this_cluster();
    let first = cluster.barrier_arrive();
    let second = cluster.barrier_arrive();
}

#[device(unchecked(collective_while_pending))]
fn needed_in_a_device_function(cluster: &Cluster) {
    let token = cluster.barrier_arrive();
    cluster.sync();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn caller() {
    let cluster = this_cluster();
    unsafe { needed_in_a_device_function(&cluster) }
}

/// A block is `unsafe` in place of the kernel.
#[cluster_kernel(cluster = 2, block = 32)]
fn in_blocks(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let rank = this_thread_block().thread_rank();
    let array = shared_array::<u32, 32>();
    array[rank] = rounds;
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    for round in 0..rounds {
        if round == 0 {
            cluster.sync();
        }
        // SAFETY: the first round has met the peer.
        out[rank] += #[unchecked(remote_before_entry, exit_before_peers_done)]
        unsafe {
            peer[rank]
        };
    }
    let read = |i: u32| {
        #[unchecked(remote_before_entry, exit_before_peers_done)]
        unsafe {
            peer[i]
        }
    };
    out[rank] += read(rank);
    #[unchecked(divergent_collective)]
    unsafe {
        if out[rank] == 0 {
            needed_by_all(&cluster);
        }
    }
}

#[device]
fn needed_by_all(cluster: &Cluster) {
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<dropped>,
    phalanx::Program::of::<two_of_two>,
    phalanx::Program::of::<caller>,
    phalanx::Program::of::<in_blocks>,
];
