//! A barrier of the cluster stands between the peers' reads and the owner's next write, or a second buffer.

use phalanx::prelude::*;

/// Values go once round the ring.
#[cluster_kernel(cluster = 4, block = 64)]
fn ring_shift(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&tile, (cluster.block_rank() + 1) % cluster.num_blocks());
    tile[i] = input[this_grid().thread_rank()];
    for _ in 0..cluster.num_blocks() {
        cluster.sync();
        let value = next[i];
        cluster.sync();
        tile[i] = value;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = tile[i];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn round_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut sum = 0;
    for round in 0..rounds {
        tile[i] = input[round * 64 + i];
        cluster.sync();
        sum += peer[63 - i];
        cluster.sync();
    }
    cluster.sync();
    out[this_grid().thread_rank()] = sum;
}

#[cluster_kernel(cluster = 2, block = 64)]
fn read_before_the_arrival(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    tile[i] = input[this_grid().thread_rank()];
    cluster.sync();
    let other = peer[i];
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    tile[i] = other + 1;
    cluster.sync();
    out[this_grid().thread_rank()] = peer[i];
    cluster.sync();
}

/// The maxima of a softmax, and its sums, each in its place.
#[cluster_kernel(cluster = 2, block = 32)]
fn softmax(logits: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let warp = tiled_partition::<32>(&this_thread_block());
    let shared = shared_array::<f32, 2>();
    let x = logits[this_grid().thread_rank()];
    let peer = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
    let largest = warp.reduce(x, op::Max);
    if warp.thread_rank() == 0 {
        shared[0] = largest;
    }
    cluster.sync();
    let all = largest.max(peer[0]);
    let power = (x - all).exp();
    let sum = warp.reduce(power, op::Plus);
    if warp.thread_rank() == 0 {
        shared[1] = sum;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = power / (sum + peer[1]);
    cluster.sync();
}

/// Two buffers: one is read while the other is written.
#[cluster_kernel(cluster = 2, block = 64)]
fn the_other_parity(cells: &mut [f32], steps: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
    buffers[0][i] = cells[this_grid().thread_rank()];
    buffers[1][i] = 0.0;
    cluster.sync();
    for step in 0..steps {
        let value = peer[step % 2][63 - i];
        buffers[(step + 1) % 2][i] = value / 2.0;
        cluster.sync();
    }
    cells[this_grid().thread_rank()] = buffers[steps % 2][i];
}

#[cluster_kernel(cluster = 2, block = 64)]
fn swapped(cells: &mut [f32], steps: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[f32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
    let mut cur = 0;
    for step in 0..steps {
        buffers[cur][i] = cells[step * 64 + i];
        cluster.sync();
        cells[step * 64 + i] = peer[cur][63 - i];
        cur ^= 1;
    }
    cluster.sync();
}

/// A tile that is loaded again before all have multiplied with it.
#[cluster_kernel(cluster = 2, block = 64)]
fn shared_tiles(a: &[f32], b: &[f32], out: &mut [f32], tiles: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<f32, 64>();
    let i = this_thread_block().thread_rank();
    let mut sum = 0.0;
    for t in 0..tiles {
        tile[i] = b[(t * 2 + cluster.block_rank()) * 64 + i];
        cluster.sync();
        for rank in 0..2 {
            let theirs = cluster.map_shared_rank(&tile, rank);
            for k in 0..64 {
                sum += a[t * 64 + k] * theirs[k];
            }
        }
        cluster.sync();
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// The next round's buffer is written while peers read this one's: one barrier a round.
#[cluster_kernel(cluster = 4, block = 64)]
fn one_barrier_a_round(input: &[u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&tile, (cluster.block_rank() + 1) % cluster.num_blocks());
    let mut sum = 0;
    for round in 0..rounds {
        tile[round % 2][i] = input[round * 64 + i];
        cluster.sync();
        sum += next[round % 2][63 - i];
    }
    out[this_grid().thread_rank()] = sum;
    cluster.sync();
}

/// A value goes round the ring, and each block writes the buffer that its reader has left.
#[cluster_kernel(cluster = 4, block = 64)]
fn ring_of_two_buffers(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let tile = shared_array::<[u32; 64], 2>();
    let i = this_thread_block().thread_rank();
    let next = cluster.map_shared_rank(&tile, (cluster.block_rank() + 1) % cluster.num_blocks());
    let mut cur = 0;
    tile[cur][i] = input[this_grid().thread_rank()];
    for _ in 0..cluster.num_blocks() {
        cluster.sync();
        let value = next[cur][i];
        tile[1 - cur][i] = value;
        cur = 1 - cur;
    }
    cluster.sync();
    out[this_grid().thread_rank()] = tile[cur][i];
}

/// A tree over as many blocks as the attribute says.
#[cluster_kernel(cluster = 4, block = 32)]
fn tree_of_the_cluster(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    let sums = shared_array::<u32, 32>();
    sums[i] = input[cluster.thread_rank()];
    cluster.sync();
    let mut step = 1;
    while step < cluster.num_blocks() {
        if rank % (2 * step) == 0 {
            sums[i] += cluster.map_shared_rank(&sums, rank + step)[i];
        }
        cluster.sync();
        step *= 2;
    }
    if rank == 0 {
        out[i] = sums[i];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<ring_shift>,
    phalanx::Program::of::<round_a_loop>,
    phalanx::Program::of::<read_before_the_arrival>,
    phalanx::Program::of::<softmax>,
    phalanx::Program::of::<the_other_parity>,
    phalanx::Program::of::<swapped>,
    phalanx::Program::of::<shared_tiles>,
    phalanx::Program::of::<one_barrier_a_round>,
    phalanx::Program::of::<ring_of_two_buffers>,
    phalanx::Program::of::<tree_of_the_cluster>,
];
