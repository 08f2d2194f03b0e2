//! Copies of tiles that are waited for.

use phalanx::prelude::*;

type Part = [Swizzled<bf16, 64>; 16];

/// A tensor is read and another is written.
#[cluster_kernel(block = 32)]
fn stored_to_an_output(output: &mut TensorMap<Part>) {
    let block = this_thread_block();
    let tiles = shared_array::<Part, 1>();
    for row in 0..16 {
        tiles[0][row][block.thread_rank()] = bf16::ONE;
        tiles[0][row][block.thread_rank() + 32] = bf16::ONE;
    }
    block.sync();
    if block.thread_rank() == 0 {
        output.store_async([0, 0], &tiles[0]);
        output.reduce_add_async([0, 64], &tiles[0]);
        bulk_wait_group_read::<0>();
    }
}

/// The tile is read after the wait.
#[cluster_kernel(block = 32)]
fn read_after_the_wait(input: &TensorMap<Part>, out: &mut [bf16]) {
    let block = this_thread_block();
    let tiles = shared_array::<Part, 2>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        input.prefetch([16, 0]);
        input.load_async([0, 0], &tiles[1], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    out[block.thread_rank()] = tiles[1][0][block.thread_rank()];
}

/// The source is written once the copy has read it.
#[cluster_kernel(block = 1)]
fn written_after_the_wait(out: &mut TensorMap<[[u32; 4]; 2]>, numbers: &[u32]) {
    let tiles = shared_array::<[[u32; 4]; 2], 1>();
    for i in 0..8 {
        tiles[0][i / 4][i % 4] = numbers[i];
    }
    out.store_async([0, 0], &tiles[0]);
    bulk_wait_group_read::<0>();
    tiles[0][1][0] = 7;
}

/// Each tile is filled again once all threads have read it.
#[cluster_kernel(block = 64)]
fn refilled_when_empty(input: &TensorMap<[[f32; 8]; 4]>, out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let tiles = shared_array::<[[f32; 8]; 4], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    let i = block.thread_rank();
    if i == 32 {
        for step in 0..steps {
            empty[step % 2].wait_parity(step / 2 % 2 == 0);
            input.load_async([step as i32 * 4, 0], &tiles[step % 2], &full[step % 2]);
            let _ = full[step % 2].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            full[step % 2].wait_parity(step / 2 % 2 == 1);
            sum += tiles[step % 2][i / 8][i % 8];
            let _ = empty[step % 2].arrive();
        }
        out[i] = sum;
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<stored_to_an_output>,
    phalanx::Program::of::<read_after_the_wait>,
    phalanx::Program::of::<written_after_the_wait>,
    phalanx::Program::of::<refilled_when_empty>,
];
