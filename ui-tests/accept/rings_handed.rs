//! The closest kernels without the fault.

use phalanx::prelude::*;

const NONE: u32 = u32::MAX;

mod ring {
    use phalanx::prelude::*;

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    pub(super) struct Position {
        index: u32,
        phase: u32,
    }

    #[device]
    impl Position {
        pub(super) fn new(phase: u32) -> Self {
            Position { index: 0, phase }
        }

        pub(super) fn stage(&self) -> u32 {
            self.index
        }

        pub(super) fn parity(&self) -> bool {
            odd(self.phase)
        }

        pub(super) fn advance(&mut self) {
            step(&mut self.index, &mut self.phase);
        }
    }

    #[device]
    fn odd(number: u32) -> bool {
        number % 2 == 1
    }

    #[device]
    fn step(index: &mut u32, phase: &mut u32) {
        *index += 1;
        if *index == 2 {
            *index = 0;
            *phase += 1;
        }
    }
}

/// A slot is free when its tile has been read.
#[cluster_kernel(block = 96)]
fn freed_when_read(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<u32, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut k = 0;
    if i == 64 {
        loop {
            let tile = queue.atomic(0).fetch_add(1, Relaxed);
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            slots[k % 2] = if tile < tiles { tile } else { NONE };
            let _ = full[k % 2].arrive();
            if tile >= tiles {
                break;
            }
            k += 1;
        }
    } else if i < 64 {
        loop {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let tile = slots[k % 2];
            let _ = empty[k % 2].arrive();
            if tile == NONE {
                break;
            }
            out[tile * 64 + i] = input[tile * 64 + i] + 1;
            k += 1;
        }
    }
}

/// The first stage is empty.
#[cluster_kernel(block = 64)]
fn begins_with_an_empty_stage(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        let mut next = ring::Position::new(1);
        for k in 0..rounds {
            let s = next.stage();
            empty[s].wait_parity(next.parity());
            full[s].expect_tx(128);
            bulk_copy_async(&stages[s], &input[k * 32..k * 32 + 32], &full[s]);
            let _ = full[s].arrive();
            next.advance();
        }
    } else if i < 32 {
        let mut next = ring::Position::new(0);
        let mut sum = 0;
        for _ in 0..rounds {
            let s = next.stage();
            full[s].wait_parity(next.parity());
            sum += stages[s][i];
            let _ = empty[s].arrive();
            next.advance();
        }
        out[i] = sum;
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<freed_when_read>, phalanx::Program::of::<begins_with_an_empty_stage>];
