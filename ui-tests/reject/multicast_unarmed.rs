//! Multicasts that a receiver does not expect, that come before it has read the tile before, or of which the list of receivers is wrong.

use phalanx::prelude::*;

type Part = [Swizzled<bf16, 64>; 16];

/// No block expects the tile: each phase ends with the arrival.
#[cluster_kernel(cluster = 2, block = 32)]
fn expected_by_none(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        if cluster.block_rank() == 0 {
            input.multicast_async([0, 0], &tiles[0], &full, &cluster);
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
    cluster.sync();
}

/// Only the sender expects the tile.
#[cluster_kernel(cluster = 2, block = 32)]
fn expected_by_one(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        if cluster.block_rank() == 0 {
            input.expect_multicast(&tiles[0], &full);
            input.multicast_async([0, 0], &tiles[0], &full, &cluster);
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
    cluster.sync();
}

/// The second block of each row waits for its peers, and the first one sends.
#[cluster_kernel(cluster = (2, 2), block = 64)]
fn waited_for_by_another(input: &TensorMap<Part>, out: &mut [f32], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, at) = (block.thread_rank(), cluster.block_index());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    let sent = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    sent.init_collective(&cluster, 64);
    if i == 32 {
        for step in 0..steps {
            if at.x == 1 {
                sent.wait_parity(step % 2 == 0);
            }
            input.expect_multicast(&tiles[0], &full);
            if at.x == 0 {
                input.multicast_async([0, step as i32 * 64], &tiles[0], &full, cluster.row());
            }
            let _ = full.arrive();
        }
    } else if i < 32 {
        for step in 0..steps {
            full.wait_parity(step % 2 == 1);
            out[i] = tiles[0][0][i].to_f32();
            cluster.map_shared_rank(&sent, at.y * 2).arrive();
        }
    }
    cluster.sync();
}

/// Each block waits for its own threads alone.
#[cluster_kernel(cluster = 2, block = 64)]
fn released_by_itself(input: &TensorMap<Part>, out: &mut [f32], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let tiles = shared_array::<Part, 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 32);
    if i == 32 {
        for step in 0..steps {
            empty[step % 2].wait_parity(step / 2 % 2 == 0);
            input.expect_multicast(&tiles[step % 2], &full[step % 2]);
            if cluster.block_rank() == 0 {
                input.multicast_async([0, step as i32 * 64], &tiles[step % 2], &full[step % 2], &cluster);
            }
            let _ = full[step % 2].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            full[step % 2].wait_parity(step / 2 % 2 == 1);
            sum += tiles[step % 2][0][i].to_f32();
            let _ = empty[step % 2].arrive();
        }
        out[cluster.block_rank() * 32 + i] = sum;
    }
    cluster.sync();
}

/// Two tiles arrive, and one is expected.
#[cluster_kernel(cluster = 2, block = 32)]
fn half_the_bytes(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let rank = cluster.block_rank();
    let tiles = shared_array::<Part, 2>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        input.expect_multicast(&tiles[rank], &full);
        input.multicast_async([rank as i32 * 16, 0], &tiles[rank], &full, &cluster);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[1 - rank][0][block.thread_rank()];
    cluster.sync();
}

/// A receiver is missing in the list.
#[cluster_kernel(cluster = 2, block = 32)]
fn one_is_left_out(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        input.expect_multicast(&tiles[0], &full);
        if cluster.block_rank() == 0 {
            input.multicast_async([0, 0], &tiles[0], &full, [0]);
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
    cluster.sync();
}

/// A receiver does not exist.
#[cluster_kernel(cluster = 2, block = 32)]
fn one_too_many(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        input.expect_multicast(&tiles[0], &full);
        if cluster.block_rank() == 0 {
            input.multicast_async([0, 0], &tiles[0], &full, [0, 1, 2]);
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
    cluster.sync();
}

/// The tile is read before the barrier shows that its bytes are there.
#[cluster_kernel(cluster = 2, block = 1)]
fn read_early(input: &TensorMap<Part>, out: &mut [bf16]) {
    let cluster = this_cluster();
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    input.expect_multicast(&tiles[0], &full);
    if cluster.block_rank() == 0 {
        input.multicast_async([0, 0], &tiles[0], &full, &cluster);
    }
    let _ = full.arrive();
    out[cluster.thread_rank()] = tiles[0][0][0];
    full.wait_parity(false);
    cluster.sync();
}

/// The operands are not those of a multicast.
#[cluster_kernel(block = 32)]
fn operands(input: &TensorMap<Part>) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let own = shared_barrier();
    own.init_collective(&block, 32);
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 32);
    input.expect_multicast(&tiles[0], &own);
    input.multicast_async([0, 0], &tiles[0], &own, [0, 1]);
    input.multicast_async([0, 0], &tiles[0], &full);
    input.multicast_async([0, 0], &tiles[0], &full, &block);
    input.multicast_async([0, 0], &tiles[0], &full, 3);
    input.multicast_async([0, 0], &tiles[0], &full, []);
    input.multicast_async([0, 0], &tiles[0], &full, &cluster);
}

/// Callers would not see which blocks expect the tile.
#[device]
fn sends(input: &TensorMap<Part>, tile: &SharedArray<Swizzled<bf16, 64>, 16>, full: &ClusterBarrier) {
    input.expect_multicast(tile, full);
    input.multicast_async([0, 0], tile, full, [0, 1]);
}

fn main() {}
