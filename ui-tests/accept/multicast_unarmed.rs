//! The closest kernels to those of `reject/multicast_unarmed.rs` that are right.

use phalanx::prelude::*;

type Part = [Swizzled<bf16, 64>; 16];
type Tile = [[f32; 32]; 8];

/// Both blocks expect the tile.
#[cluster_kernel(cluster = 2, block = 32)]
fn expected_by_all(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        input.expect_multicast(&tiles[0], &full);
        if cluster.block_rank() == 0 {
            input.multicast_async([0, 0], &tiles[0], &full, &cluster);
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
    cluster.sync();
}

/// Only the receiver expects the tile, which is not the sender.
#[cluster_kernel(cluster = 2, block = 32)]
fn for_the_other(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if cluster.block_rank() == 1 {
        if block.thread_rank() == 0 {
            input.expect_multicast(&tiles[0], &full);
            let _ = full.arrive();
        }
        full.wait_parity(false);
        out[block.thread_rank()] = tiles[0][0][block.thread_rank()];
    } else if block.thread_rank() == 0 {
        input.multicast_async([0, 0], &tiles[0], &full, [1]);
    }
    cluster.sync();
}

/// The sender waits for the threads of both blocks.
#[cluster_kernel(cluster = 2, block = 64)]
fn released_by_both(input: &TensorMap<Part>, out: &mut [f32], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let tiles = shared_array::<Part, 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 64);
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
            for rank in 0..2 {
                cluster.map_shared_rank(&empty[step % 2], rank).arrive();
            }
        }
        out[cluster.block_rank() * 32 + i] = sum;
    }
    cluster.sync();
}

/// A barrier of the cluster tells the sender as well.
#[cluster_kernel(cluster = 2, block = 32)]
fn released_by_the_cluster(input: &TensorMap<Part>, out: &mut [bf16], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    for step in 0..steps {
        if block.thread_rank() == 0 {
            input.expect_multicast(&tiles[0], &full);
            if cluster.block_rank() == 0 {
                input.multicast_async([0, step as i32 * 64], &tiles[0], &full, &cluster);
            }
            let _ = full.arrive();
        }
        full.wait_parity(step % 2 == 1);
        out[step * 64 + cluster.thread_rank()] = tiles[0][0][block.thread_rank()];
        cluster.sync();
    }
}

/// Each tile of a first loop is sent once, into empty memory.
#[cluster_kernel(cluster = 2, block = 32)]
fn each_once(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tiles = shared_array::<Part, 4>();
    let full = shared_cluster_barriers::<4>();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        for stage in 0..4u32 {
            input.expect_multicast(&tiles[stage], &full[stage]);
            if cluster.block_rank() == 0 {
                input.multicast_async([0, stage as i32 * 64], &tiles[stage], &full[stage], &cluster);
            }
            let _ = full[stage].arrive();
        }
    }
    for stage in 0..4u32 {
        full[stage].wait_parity(false);
        out[stage * 64 + cluster.thread_rank()] = tiles[stage][0][block.thread_rank()];
    }
    cluster.sync();
}

/// Each block sends one of two tiles, and all expect both.
#[cluster_kernel(cluster = 2, block = 32)]
fn all_of_the_bytes(input: &TensorMap<Part>, out: &mut [bf16]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let rank = cluster.block_rank();
    let tiles = shared_array::<Part, 2>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    if block.thread_rank() == 0 {
        input.expect_multicast(&tiles[0], &full);
        input.expect_multicast(&tiles[1], &full);
        input.multicast_async([rank as i32 * 16, 0], &tiles[rank], &full, [rank, 1 - rank]);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[cluster.thread_rank()] = tiles[1 - rank][0][block.thread_rank()];
    cluster.sync();
}

/// Only the first block of each row sends, and only it waits for its peers. A tile has a name that the language has, too.
#[cluster_kernel(cluster = (2, 2), block = 64)]
fn along_rows(input: &TensorMap<Tile>, out: &mut [f32], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, at) = (block.thread_rank(), cluster.block_index());
    let tiles = shared_array::<Tile, 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    let sent = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 32);
    sent.init_collective(&cluster, 64);
    if i == 32 {
        for step in 0..steps {
            let stage = step % 2;
            empty[stage].wait_parity(step / 2 % 2 == 0);
            input.expect_multicast(&tiles[stage], &full[stage]);
            if at.x == 0 {
                sent[stage].wait_parity(step / 2 % 2 == 0);
            }
            if at.x == 0 {
                let row = (step * 2 + at.y) as i32 * 8;
                input.multicast_async([row, 0], &tiles[stage], &full[stage], cluster.row());
            }
            let _ = full[stage].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            let stage = step % 2;
            full[stage].wait_parity(step / 2 % 2 == 1);
            sum += tiles[stage][0][i];
            let _ = empty[stage].arrive();
            cluster.map_shared_rank(&sent[stage], at.y * 2).arrive();
        }
        out[cluster.block_rank() * 32 + i] = sum;
    }
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<expected_by_all>,
    phalanx::Program::of::<for_the_other>,
    phalanx::Program::of::<released_by_both>,
    phalanx::Program::of::<released_by_the_cluster>,
    phalanx::Program::of::<each_once>,
    phalanx::Program::of::<all_of_the_bytes>,
    phalanx::Program::of::<along_rows>,
];
