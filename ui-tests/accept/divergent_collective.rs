//! As close to a divergent collective as possible: all threads of the group decide alike.

use phalanx::prelude::*;

const WARP: u32 = 32;

#[cluster_kernel(cluster = 2, block = 64)]
fn parameters(n: u32, weights: &[f32], out: &mut [f32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    for i in 0..n.min(weights.len() as u32) {
        if weights[i] == 0.0 {
            continue;
        }
        block.sync();
        if n > 3 {
            cluster.sync();
        }
    }
    out[this_grid().thread_rank()] = 0.0;
}

/// The rank of a block is the same for all of the block, and that of a cluster for all of the cluster.
#[cluster_kernel(cluster = 2, block = 64)]
fn ranks_of_groups() {
    let cluster = this_cluster();
    let block = this_thread_block();
    if cluster.block_rank() == 0 {
        block.sync();
    }
    if this_grid().cluster_rank() == 0 {
        cluster.sync();
    }
}

/// Whole warps, and whole tiles.
#[cluster_kernel(cluster = 2, block = (64, 2))]
fn whole_warps(out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tile = tiled_partition::<8>(&block);
    let rank = block.thread_rank();
    if rank < 32 {
        warp.sync();
    }
    if rank / WARP == 1 && block.thread_index().y == 0 {
        warp.sync();
    }
    if (rank >> 3) % 2 == 0 {
        tile.sync();
    }
    if warp.meta_group_rank() == 1 {
        out[rank] = warp.reduce(rank, op::Plus);
    }
    while tile.any(out[rank] > 3) {
        out[rank] /= 2;
        tile.sync();
    }
}

/// A `continue` behind the barrier: every thread meets it again.
#[cluster_kernel(cluster = 2, block = 64)]
fn continue_behind_it(data: &mut [u32], n: u32) {
    let block = this_thread_block();
    for i in 0..n {
        block.sync();
        if data[block.thread_rank()] == i {
            continue;
        }
        data[block.thread_rank()] += 1;
    }
    block.sync();
}

/// The block reads one thread's result behind a barrier.
#[cluster_kernel(cluster = 2, block = 64)]
fn through_shared_memory(data: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let found = shared_array::<u32, 1>();
    if block.thread_rank() == 0 {
        found[0] = data[0];
    }
    block.sync();
    while found[0] > 4 {
        block.sync();
        if block.thread_rank() == 0 {
            found[0] -= 1;
        }
        block.sync();
    }
    cluster.sync();
    let first = cluster.map_shared_rank(&found, 0);
    if first[0] == 2 {
        cluster.sync();
    }
    cluster.sync();
}

/// Fields and parts of tuples are values of their own.
#[cluster_kernel(cluster = 2, block = 64)]
fn parts(n: u32) {
    let block = this_thread_block();
    let (rank, rounds) = (block.thread_rank(), n / 2);
    let mut state = (rank, rounds);
    state.0 += 1;
    while state.1 > 0 {
        state.1 -= 1;
        block.sync();
    }
    if rounds > 3 {
        block.sync();
    }
}

/// A failing thread ends the launch.
#[cluster_kernel(cluster = 2, block = 64)]
fn failing(data: &[u32]) {
    let block = this_thread_block();
    assert!(data[block.thread_rank()] < 9, "too large");
    if data[block.thread_rank()] == 8 {
        panic!("eight");
    }
    block.sync();
}

/// The same condition at both ends of a phase.
#[cluster_kernel(cluster = 2, block = 64)]
fn optional(n: u32) {
    let cluster = this_cluster();
    let mut pending = None;
    if n > 4 {
        pending = Some(cluster.barrier_arrive());
    }
    if let Some(token) = pending {
        cluster.barrier_wait(token);
    }
}

/// Said to be the same.
#[cluster_kernel(cluster = 2, block = 64)]
fn claimed(flags: &mut [u32]) {
    let block = this_thread_block();
    if block.uniform(flags[this_grid().block_rank()]) == 1 {
        block.sync();
    }
}

/// The converged threads make a group.
#[cluster_kernel(cluster = 2, block = 64)]
fn coalesced(data: &[u32], out: &mut [u32]) {
    let rank = this_thread_block().thread_rank();
    if data[rank] > 3 {
        let group = coalesced_threads();
        if group.any(data[rank] == 7) {
            group.sync();
        }
        out[rank] = group.num_threads();
    }
}

/// The warp of the thread that the first condition names does not come to the second arm, and a warp comes as a whole.
#[cluster_kernel(block = 96)]
fn another_warp_alone(input: &[u32], output: &mut [u32], n: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    if rank == 64 {
        output[0] = n;
    } else if rank < 64 {
        for k in 0..n {
            if warp.any(input[rank + k] > 3) {
                output[1 + rank] = warp.reduce(k, op::Plus);
            }
        }
    }
}

/// A thread of the last warp returns, which has no further collective.
#[cluster_kernel(block = 128)]
fn returned_alone(output: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (rank, lane) = (block.thread_rank(), warp.thread_rank());
    if rank == 127 {
        return;
    }
    if warp.meta_group_rank() < 3 {
        output[rank] = warp.shfl(lane, 31 - lane);
    }
}

/// One thread tells the block by a phase barrier, and all read the same word.
#[cluster_kernel(block = 64)]
fn word_told_by_a_phase_barrier(next: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slot = shared_array::<u32, 2>();
    let part = shared_array::<u32, 64>();
    let told = shared_barrier();
    told.init_collective(&block, 1);
    let mut n = 0;
    loop {
        if i == 0 {
            slot[0] = next.atomic(0).fetch_add(1, Relaxed);
            slot[1] = 0;
            let _ = told.arrive();
        }
        told.wait_parity(n % 2 == 1);
        let tile = slot[0];
        if tile >= tiles {
            break;
        }
        part[i] = input[tile * 64 + i];
        block.sync();
        out[tile * 64 + i] = part[63 - i];
        block.sync();
        n += 1;
    }
}

/// The first place of the needle in the block's part of the text. All threads have seen whether any has found it before one finds more.
#[cluster_kernel(block = 128)]
fn a_flag_read_by_all_before_it_is_set(text: &[u8], needle: &[u8], found: &mut [u32], parts: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let first = shared_array::<u32, 1>();
    if i == 0 {
        first[0] = u32::MAX;
    }
    block.sync();
    for part in 0..parts {
        let at = part * 128 + i;
        if needle.iter().enumerate().all(|(k, c)| text[at as usize + k] == *c) {
            first.atomic(0).fetch_min(at, Relaxed);
        }
        block.sync();
        let is_found = first[0] != u32::MAX;
        block.sync();
        if is_found {
            break;
        }
    }
    if i == 0 {
        found[this_grid().block_rank()] = first[0];
    }
}

/// The number of rounds is the length of an array's type, whatever its elements are.
#[cluster_kernel(block = 32)]
fn rounds_of_an_array(transitions: &[[f32; 32]], states: &[u32], out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let i = this_grid().thread_rank();
    let into: [f32; 32] = transitions[states[i as usize] as usize];
    let from = transitions[i as usize];
    let mut sum = 0.0;
    for (k, t) in into.iter().enumerate() {
        sum += *t * warp.shfl(sum, k as u32);
    }
    for t in from {
        sum += t * warp.shfl_xor(sum, 1);
    }
    out[i] = sum;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<parameters>,
    phalanx::Program::of::<ranks_of_groups>,
    phalanx::Program::of::<whole_warps>,
    phalanx::Program::of::<continue_behind_it>,
    phalanx::Program::of::<through_shared_memory>,
    phalanx::Program::of::<parts>,
    phalanx::Program::of::<failing>,
    phalanx::Program::of::<optional>,
    phalanx::Program::of::<claimed>,
    phalanx::Program::of::<coalesced>,
    phalanx::Program::of::<another_warp_alone>,
    phalanx::Program::of::<returned_alone>,
    phalanx::Program::of::<word_told_by_a_phase_barrier>,
    phalanx::Program::of::<rounds_of_an_array>,
];

/// Whether there is a next stage is the same for all threads, though each has a token of its own.
#[cluster_kernel(block = 64)]
fn optional_token(input: &[f32], out: &mut [f32], tiles: u32) {
    let block = this_thread_block();
    let stages = shared_array::<[f32; 64], 2>();
    let ready = shared_barriers::<2>();
    ready.init_collective(&block, 64);
    let i = block.thread_rank();
    memcpy_async(&block, &stages[0], &input[..64], &ready[0]);
    let mut token = ready[0].arrive();
    for t in 0..tiles {
        let s = t % 2;
        let mut next = None;
        if t + 1 < tiles {
            memcpy_async(&block, &stages[1 - s], &input[(t + 1) * 64..(t + 2) * 64], &ready[1 - s]);
            next = Some(ready[1 - s].arrive());
        }
        ready[s].wait(token);
        out[t * 64 + i] = stages[s][i] + stages[s][(i + 1) % 64];
        block.sync();
        match next {
            Some(next) => token = next,
            None => break,
        }
    }
}

/// What an option holds is each thread's own, and whether it holds something is not.
#[cluster_kernel(block = 64)]
fn optional_element(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let mut next = (n > 0).then_some(input[i]);
    let mut k = 0;
    while let Some(x) = next.map(|x| x + 1) {
        out[i] += x;
        block.sync();
        k += 1;
        next = if k < n { Some(input[k * 64 + i]) } else { None };
    }
}

/// A queue of each warp's own: what lane 0 takes from it, the others read once the warp has met.
#[cluster_kernel(block = 128)]
fn queue_of_a_warp(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let lane = warp.thread_rank();
    let next = shared_array::<u32, 1>();
    let items = shared_array::<u32, 4>();
    if block.thread_rank() == 0 {
        next[0] = 0;
    }
    block.sync();
    loop {
        if lane == 0 {
            items[warp.meta_group_rank()] = next.atomic(0).fetch_add(1, Relaxed);
        }
        warp.sync();
        let item = items[warp.meta_group_rank()];
        warp.sync();
        if item >= n {
            break;
        }
        out[item * 32 + lane] = item;
    }
}

/// One thread takes a tile for the cluster, and writes it to all of its blocks.
#[cluster_kernel(cluster = 2, block = 64)]
fn taken_for_the_cluster(x: &[f32], out: &mut [f32], queue: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let rank = cluster.block_rank();
    let tile = shared_array::<f32, 64>();
    let next = shared_array::<u32, 1>();
    cluster.sync();
    loop {
        if rank == 0 && i == 0 {
            let taken = queue.atomic(0).fetch_add(1, Relaxed);
            for peer in 0..cluster.num_blocks() {
                cluster.map_shared_rank(&next, peer)[0] = taken;
            }
        }
        cluster.sync();
        let t = next[0];
        if t >= tiles {
            break;
        }
        tile[i] = x[t * 64 + i];
        cluster.sync();
        if rank == 0 {
            out[t * 64 + i] = cluster.map_shared_rank(&tile, 1)[63 - i];
        }
        cluster.sync();
    }
}
