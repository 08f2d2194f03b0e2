//! Bugs of clusters that others shipped: lifetimes of distributed shared memory, its publication, and the scope of barriers.

use phalanx::prelude::*;

/// <https://github.com/sgl-project/sglang/issues/32907>: a block of a pair leaves while its partner still reads from it.
#[cluster_kernel(cluster = 2, block = 64)]
fn sglang_32907(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let partial = shared_array::<f32, 64>();
    partial[i] = input[this_grid().thread_rank()] * 2.0;
    cluster.sync();
    let partner = cluster.map_shared_rank(&partial, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = partial[i] + partner[i];
}

/// <https://github.com/triton-lang/triton/issues/11730>, mended by <https://github.com/triton-lang/triton/pull/11731>: one block has the result of an atomic, the others read it from
/// its memory, and nothing keeps it there.
#[cluster_kernel(cluster = 4, block = 32)]
fn triton_11730(lock: &mut [u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let seen = shared_array::<u32, 1>();
    if cluster.thread_rank() == 0 {
        seen[0] = lock.atomic(0).swap(1, AcqRel);
    }
    cluster.sync();
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&seen, 0)[0];
}

/// <https://github.com/facebookexperimental/triton/pull/1105>: the last thing that a block does is an access to a peer, which
/// may have left.
#[cluster_kernel(cluster = 2, block = 64)]
fn facebook_triton_1105(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let inbox = shared_array::<u32, 64>();
    inbox[i] = 0;
    cluster.sync();
    out[this_grid().thread_rank()] = inbox[i];
    cluster.sync();
    cluster.map_shared_rank(&inbox, 1 - cluster.block_rank()).atomic(i).fetch_add(input[i], Relaxed);
}

/// <https://github.com/NVlabs/cuda-oxide/tree/main/crates/rustc-codegen-cuda/examples/cluster>: the neighbour's word is read in the
/// kernel's last statement.
#[cluster_kernel(cluster = 4, block = 32)]
fn cuda_oxide_cluster(out: &mut [u32]) {
    let cluster = this_cluster();
    let word = shared_array::<u32, 1>();
    if this_thread_block().thread_rank() == 0 {
        word[0] = 100 + cluster.block_rank();
    }
    cluster.sync();
    if this_thread_block().thread_rank() == 0 {
        let next = (cluster.block_rank() + 1) % cluster.num_blocks();
        out[this_grid().block_rank() as usize] = cluster.map_shared_rank(&word, next)[0];
    }
}

/// <https://github.com/NVlabs/cuda-oxide/blob/main/cuda-oxide-book/advanced/cluster-programming.md>: a thread of each block reads the
/// neighbours' edges, and the barrier after it is the block's own.
#[cluster_kernel(cluster = 4, block = 64)]
fn cuda_oxide_stencil(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let cells = shared_array::<f32, 66>();
    cells[i + 1] = input[this_grid().thread_rank()];
    if i == 0 {
        cells[0] = 0.0;
        cells[65] = 0.0;
    }
    cluster.sync();
    if i == 0 && rank > 0 {
        cells[0] = cluster.map_shared_rank(&cells, rank - 1)[64];
    }
    if i == 0 && rank < 3 {
        cells[65] = cluster.map_shared_rank(&cells, rank + 1)[1];
    }
    block.sync();
    out[this_grid().thread_rank()] = 0.25 * cells[i] + 0.5 * cells[i + 1] + 0.25 * cells[i + 2];
}

/// Its mend: the barrier after the reads is the cluster's.
#[cluster_kernel(cluster = 4, block = 64)]
fn mend_of_cuda_oxide_stencil(input: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let cells = shared_array::<f32, 66>();
    cells[i + 1] = input[this_grid().thread_rank()];
    if i == 0 {
        cells[0] = 0.0;
        cells[65] = 0.0;
    }
    cluster.sync();
    if i == 0 && rank > 0 {
        cells[0] = cluster.map_shared_rank(&cells, rank - 1)[64];
    }
    if i == 0 && rank < 3 {
        cells[65] = cluster.map_shared_rank(&cells, rank + 1)[1];
    }
    cluster.sync();
    out[this_grid().thread_rank()] = 0.25 * cells[i] + 0.5 * cells[i + 1] + 0.25 * cells[i + 2];
}

/// <https://github.com/rchardx/hopper-gemm/issues/3>: what the loop at the end of the producer is for. Without it, the last
/// arrivals at the peer's barrier come to a block that may have left.
#[cluster_kernel(cluster = 2, block = 64)]
fn hopper_gemm_3(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let empty = shared_cluster_barrier();
    empty.init_collective(&cluster, block.num_threads());
    out[this_grid().thread_rank()] = block.thread_rank();
    cluster.map_shared_rank(&empty, 1 - cluster.block_rank()).arrive();
}

/// <https://github.com/NVIDIA/cutlass/issues/3324>: the peer arrives at a barrier whose scope is its own block's.
#[cluster_kernel(cluster = 2, block = 64)]
fn cutlass_3324(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let staged = shared_array::<u32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 64);
    cluster.sync();
    staged[i] = input[i];
    cluster.map_shared_rank(&full, 1 - cluster.block_rank()).arrive();
    full.wait_parity(false);
    out[this_grid().thread_rank()] = cluster.map_shared_rank(&staged, 1 - cluster.block_rank())[i];
    cluster.sync();
}

/// <https://github.com/NVIDIA/cutlass/issues/3643>: each block waits for its own copy, and reads the peer's half too.
#[cluster_kernel(cluster = 2, block = 64)]
fn cutlass_3643(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let half = shared_array::<u32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    cluster.sync();
    if i == 0 {
        full.expect_tx(256);
        bulk_copy_async(&half, &input[..64], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    let theirs = cluster.map_shared_rank(&half, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = half[i] + theirs[i];
    cluster.sync();
}

/// Its mend: the blocks meet after each has waited for its copy.
#[cluster_kernel(cluster = 2, block = 64)]
fn mend_of_cutlass_3643(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let half = shared_array::<u32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if i == 0 {
        full.expect_tx(256);
        bulk_copy_async(&half, &input[..64], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    cluster.sync();
    let theirs = cluster.map_shared_rank(&half, 1 - cluster.block_rank());
    out[this_grid().thread_rank()] = half[i] + theirs[i];
    cluster.sync();
}

/// <https://github.com/triton-lang/triton/issues/11328>: memory that peers write is used again with no barrier of the cluster
/// between.
#[cluster_kernel(cluster = 2, block = 64)]
fn triton_11328(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let tile = shared_array::<u32, 64>();
    cluster.sync();
    let mut sum = 0;
    for round in 0..rounds {
        cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[i] = input[i] + round;
        cluster.sync();
        sum += tile[63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// <https://github.com/NVIDIA/cutlass/issues/3658>: a mask of peers has one that the cluster does not have.
#[cluster_kernel(cluster = 2, block = 32)]
fn cutlass_3658(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let word = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    word[i] = input[i];
    cluster.sync();
    let mut sum = 0;
    for rank in 0..=2 {
        sum += cluster.map_shared_rank(&word, rank)[i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// Its mend: the ranks are those of the cluster.
#[cluster_kernel(cluster = 2, block = 32)]
fn mend_of_cutlass_3658(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let word = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    word[i] = input[i];
    cluster.sync();
    let mut sum = 0;
    for rank in 0..cluster.num_blocks() {
        sum += cluster.map_shared_rank(&word, rank)[i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

fn main() {}
