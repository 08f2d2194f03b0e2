//! Rings of slots in which a thread publishes structs for others.

use phalanx::prelude::*;

/// What is published for each tile, and after the last one.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Work {
    tile: u32,
    valid: u32,
}

/// A slot is free before it is read.
#[cluster_kernel(block = 96)]
fn freed_before_it_is_read(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<Work, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            slots[k % 2] = Work { tile, valid: (tile < tiles) as u32 };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let _ = empty[k % 2].arrive();
            let work = slots[k % 2];
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

/// A slot is read in the phase before the one in which it is filled.
#[cluster_kernel(block = 96)]
fn read_a_phase_early(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<Work, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            slots[k % 2] = Work { tile, valid: (tile < tiles) as u32 };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 0);
            let work = slots[k % 2];
            let _ = empty[k % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

/// The first wait for an empty slot is for a phase that no reader completes.
#[cluster_kernel(block = 96)]
fn begins_with_a_full_slot(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<Work, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 1);
            slots[k % 2] = Work { tile, valid: (tile < tiles) as u32 };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let work = slots[k % 2];
            let _ = empty[k % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

/// A reader more than a phase expects.
#[cluster_kernel(block = 96)]
fn one_reader_too_many(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<Work, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 63);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            slots[k % 2] = Work { tile, valid: (tile < tiles) as u32 };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let work = slots[k % 2];
            let _ = empty[k % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

/// The readers say that the other slot is empty.
#[cluster_kernel(block = 96)]
fn releases_the_other_slot(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<Work, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            slots[k % 2] = Work { tile, valid: (tile < tiles) as u32 };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let work = slots[k % 2];
            let _ = empty[(k + 1) % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

fn main() {}
