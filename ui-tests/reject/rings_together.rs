//! Stages that threads fill together, and loops that ask whether a phase is over, with a mistake.

use phalanx::prelude::*;

#[cluster_kernel(block = 96)]
fn released_before_the_read(input: &[f32], out: &mut [f32], tiles: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 64);
    if warp.meta_group_rank() == 2 {
        for t in 0..tiles {
            empty[t % 2].wait_parity(t / 2 % 2 == 0);
            memcpy_async(&warp, &stages[t % 2], &input[t * 64..(t + 1) * 64], &full[t % 2]);
            let _ = full[t % 2].arrive();
        }
    } else {
        for t in 0..tiles {
            full[t % 2].wait_parity(t / 2 % 2 == 1);
            let _ = empty[t % 2].arrive();
            out[t * 64 + i] = stages[t % 2][i];
        }
    }
}

#[cluster_kernel(block = 64)]
fn begun_without_a_round(input: &[f32], out: &mut [f32], batches: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[f32; 64], 2>();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 64);
    memcpy_async(&block, &stages[0], &input[0..64], &bars[0]);
    for b in 0..batches {
        if b + 1 < batches {
            let next = (b + 1) % 2;
            memcpy_async(&block, &stages[next], &input[(b + 1) * 64..(b + 2) * 64], &bars[next]);
        }
        bars[b % 2].arrive_and_wait();
        out[b * 64 + i] = stages[b % 2][63 - i];
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn asks_for_the_phase_before(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 32);
    for k in 0..n {
        let (s, odd) = (k % 2, k / 2 % 2 == 1);
        if i < 32 {
            while !empty[s].try_wait_parity(!odd) {
                nanosleep(20);
            }
            slots[s][i] = input[k * 32 + i];
            let _ = full[s].arrive();
        } else {
            while !full[s].try_wait_parity(!odd) {
                nanosleep(20);
            }
            out[k * 32 + i - 32] = slots[s][i - 32];
            let _ = empty[s].arrive();
        }
    }
}

fn main() {}
