//! Rings whose steps are functions of another file, which is read where its `mod` stands: rustc confirms that they are the ones that are
//! called.

use phalanx::prelude::*;
use stages::{release, turned, wait_for_writers};

#[path = "../files/stages.rs"]
mod stages;

/// Each stage is filled after it has been read, and read after it has been filled.
#[cluster_kernel(block = 128)]
fn handed_on(input: &[u32], output: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    let buffers = shared_array::<[u32; 96], 2>();
    full.init_collective(&block, 32);
    empty.init_collective(&block, 96);
    let i = block.thread_rank();
    if i < 32 {
        for k in 0..rounds {
            stages::wait_for_readers(&empty, k);
            for part in 0..3 {
                buffers[k % 2][part * 32 + i] = input[k * 96 + part * 32 + i];
            }
            let _ = full[k % 2].arrive();
        }
    } else {
        for k in 0..rounds {
            wait_for_writers(&full, k);
            output[k * 96 + i - 32] = turned(buffers[k % 2][i - 32]);
            release(&empty, k);
        }
    }
}

/// Two rows that all threads write and read in turn.
#[cluster_kernel(block = 64)]
fn beside_a_call(input: &[u32], output: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let bar = shared_barrier();
    let line = shared_array::<[u32; 64], 2>();
    bar.init_collective(&block, 64);
    let i = block.thread_rank();
    for k in 0..rounds {
        line[k % 2][i] = turned(input[k * 64 + i]);
        let _ = bar.arrive();
        bar.wait_parity(k % 2 == 1);
        output[k * 64 + i] = line[k % 2][63 - i];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<handed_on>, phalanx::Program::of::<beside_a_call>];
