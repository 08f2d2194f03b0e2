//! The closest kernels without the fault.

use phalanx::prelude::*;

#[cluster_kernel(block = 96)]
fn acquired(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(256);
            bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 64 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<acquired>,
];
