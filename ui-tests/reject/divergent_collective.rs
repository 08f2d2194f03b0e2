//! A collective under control flow that not all threads of its group share.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 64)]
fn one_thread() {
    let block = this_thread_block();
    if block.thread_rank() == 0 {
        block.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn one_block_of_a_cluster() {
    let cluster = this_cluster();
    let rank = cluster.block_rank();
    let leader = rank == 0;
    if leader {
        cluster.sync();
    }
}

/// The arrivals stand in both arms.
#[cluster_kernel(cluster = 2, block = 64)]
fn arrival_in_both_arms() {
    let cluster = this_cluster();
    let token = if cluster.thread_rank() < 40 { cluster.barrier_arrive() } else { cluster.barrier_arrive() };
    cluster.barrier_wait(token);
}

#[cluster_kernel(cluster = 2, block = 64)]
fn a_loop_of_its_own_length(counts: &[u32]) {
    let block = this_thread_block();
    let mut left = counts[block.thread_rank()];
    while left > 0 {
        block.sync();
        left -= 1;
        block.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn behind_a_divergent_break(counts: &[u32], n: u32) {
    let block = this_thread_block();
    for i in 0..n {
        block.sync();
        if i == counts[block.thread_rank()] {
            break;
        }
    }
}

/// A variable that is set under a condition.
#[cluster_kernel(cluster = 2, block = 64)]
fn through_a_variable() {
    let block = this_thread_block();
    let mut go = false;
    if block.thread_rank() > 7 {
        go = true;
    }
    if go {
        block.sync();
    }
}

/// Shared memory before its barrier, and memory that others write.
#[cluster_kernel(cluster = 2, block = 64)]
fn through_memory(flags: &mut [u32]) {
    let block = this_thread_block();
    let votes = shared_array::<u32, 64>();
    votes[block.thread_rank()] = 1;
    if votes[0] == 1 {
        block.sync();
    }
    if flags[0] == 1 {
        block.sync();
    }
}

/// A value that is uniform in a warp need not be so in a block.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_vote_of_a_warp(data: &[f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    if warp.any(data[block.thread_rank()] > 0.0) {
        block.sync();
    }
}

/// A value that is chosen.
#[cluster_kernel(cluster = 2, block = 64)]
fn through_a_choice() {
    let block = this_thread_block();
    if (if block.thread_rank() == 0 { 1 } else { 2 }) == 1 {
        block.sync();
        block.sync();
        block.sync();
    }
}

/// Tiles of a warp that is divided.
#[cluster_kernel(cluster = 2, block = 64)]
fn a_part_of_a_warp() {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    if block.thread_rank() < 16 {
        warp.sync();
    }
}

/// The rank decides which alternative binds.
#[cluster_kernel(block = 64)]
fn chosen_by_rank(n: u32) {
    let block = this_thread_block();
    let ((m, 0) | (_, m)) = (n, block.thread_rank());
    if m > 3 {
        block.sync();
    }
}

/// Two conditions decide about one collective.
#[cluster_kernel(block = 32)]
fn search(data: &[u32], output: &mut [u32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let mut i = warp.thread_rank();
    loop {
        if i >= 100 {
            break;
        }
        output[i] = warp.ballot(data[i] == 0);
        if data[i] == 7 {
            break;
        }
        i += 32;
    }
}

/// Half of a warp exchanges values.
#[cluster_kernel(block = 32)]
fn half_of_a_warp(output: &mut [u32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    if lane < 16 {
        output[lane] = warp.shfl_down(lane, 1);
    }
}

/// The thread that the first condition names is in a warp that comes to the second arm.
#[cluster_kernel(block = 96)]
fn of_the_same_warp(output: &mut [u32], n: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    if rank == 63 {
        output[0] = n;
    } else if rank < 64 {
        output[1 + rank] = warp.reduce(rank, op::Plus);
    }
}

/// One thread tells the block by a phase barrier, but each half of the block reads another word.
#[cluster_kernel(block = 64)]
fn words_told_by_a_phase_barrier(next: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
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
        let tile = slot[i / 32];
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

/// The first place of the needle in the block's part of the text. A thread may find more before the others
/// have seen whether any has found it.
#[cluster_kernel(block = 128)]
fn a_flag_set_while_others_read(text: &[u8], needle: &[u8], found: &mut [u32], parts: u32) {
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
        if is_found {
            break;
        }
    }
    if i == 0 {
        found[this_grid().block_rank()] = first[0];
    }
}

/// The number of rounds is that of the elements up to one of the array's own.
#[cluster_kernel(block = 32)]
fn rounds_up_to_an_element(transitions: &[[f32; 32]], states: &[u32], out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let i = this_grid().thread_rank();
    let into: [f32; 32] = transitions[states[i as usize] as usize];
    let mut sum = 0.0;
    for (k, t) in into.iter().enumerate().take(into[0] as usize) {
        sum += *t * warp.shfl(sum, k as u32);
    }
    out[i] = sum;
}

/// The last block is not told.
#[cluster_kernel(cluster = 4, block = 64)]
fn taken_for_three_blocks(queue: &mut [u32], tiles: u32) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let next = shared_array::<u32, 1>();
    if i == 0 {
        next[0] = 0;
    }
    cluster.sync();
    if cluster.block_rank() == 0 && i == 0 {
        let taken = queue.atomic(0).fetch_add(1, Relaxed);
        for peer in 0..3 {
            cluster.map_shared_rank(&next, peer)[0] = taken;
        }
    }
    cluster.sync();
    if next[0] < tiles {
        cluster.sync();
    }
}

fn main() {}
