//! The closest kernels without the fault.

use phalanx::prelude::*;

/// What is published for each tile, and after the last one.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Work {
    tile: u32,
    valid: u32,
}

/// A slot is free when it has been read.
#[cluster_kernel(block = 96)]
fn freed_when_read(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
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
            let _ = empty[k % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

/// As many readers as a phase expects, who read what they need.
#[cluster_kernel(block = 96)]
fn read_by_field(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
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
            let work = Work { tile: slots[k % 2].tile, valid: slots[k % 2].valid };
            let _ = empty[k % 2].arrive();
            if work.valid == 0 {
                break;
            }
            out[work.tile * 64 + i] = input[work.tile * 64 + i];
            k += 1;
        }
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<freed_when_read>, phalanx::Program::of::<read_by_field>];
