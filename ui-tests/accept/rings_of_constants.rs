//! The closest kernels without the fault.

use phalanx::prelude::*;

const READERS: usize = 64;
/// The readers, and a warp of which one thread fills.
const BLOCK: usize = READERS + 32;
const WIDTH: usize = 64;
const BYTES: u32 = WIDTH as u32 * 4;
const STAGES: usize = 3;

mod first {
    pub(super) const DEPTH: usize = 3;
}

mod second {
    pub(super) const DEPTH: usize = 2;
}

/// As many arrivals are expected as there are readers.
#[cluster_kernel(block = BLOCK)]
fn as_many_as_readers(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    if i == READERS {
        for k in 0..chunks {
            empty[k % STAGES].wait_parity(k / STAGES % 2 == 0);
            full[k % STAGES].expect_tx(BYTES);
            bulk_copy_async(&stages[k % STAGES], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % STAGES]);
            let _ = full[k % STAGES].arrive();
        }
    } else if i < READERS {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % STAGES].wait_parity(k / STAGES % 2 == 1);
            sum += stages[k % STAGES][i];
            let _ = empty[k % STAGES].arrive();
        }
        out[i] = sum;
    }
}

/// The body's own constant says how many stages there are.
#[cluster_kernel(block = BLOCK)]
fn its_own_number_of_rounds(input: &[u32], out: &mut [u32], chunks: usize) {
    const ROWS: usize = 2;
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], { ROWS }>();
    let full = shared_barriers::<{ ROWS }>();
    let empty = shared_barriers::<{ ROWS }>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    if i == READERS {
        for k in 0..chunks {
            empty[k % ROWS].wait_parity(k / ROWS % 2 == 0);
            full[k % ROWS].expect_tx(BYTES);
            bulk_copy_async(&stages[k % ROWS], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % ROWS]);
            let _ = full[k % ROWS].arrive();
        }
    } else if i < READERS {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % ROWS].wait_parity(k / ROWS % 2 == 1);
            sum += stages[k % ROWS][i];
            let _ = empty[k % ROWS].arrive();
        }
        out[i] = sum;
    }
}

/// With the second module's constant, the kernel would be wrong.
#[cluster_kernel(block = BLOCK)]
fn of_the_first_module(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], { first::DEPTH }>();
    let full = shared_barriers::<{ first::DEPTH }>();
    let empty = shared_barriers::<{ first::DEPTH }>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    if i == READERS {
        for k in 0..chunks {
            empty[k % first::DEPTH].wait_parity(k / first::DEPTH % 2 == 0);
            full[k % first::DEPTH].expect_tx(BYTES);
            bulk_copy_async(&stages[k % first::DEPTH], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % first::DEPTH]);
            let _ = full[k % first::DEPTH].arrive();
        }
    } else if i < READERS {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % first::DEPTH].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % first::DEPTH][i];
            let _ = empty[k % first::DEPTH].arrive();
        }
        out[i] = sum;
    }
}

/// With another number of stages, the kernel would be wrong.
#[cluster_kernel(block = BLOCK)]
fn of_any_number<const STAGES: usize>(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    if i == READERS {
        for k in 0..chunks {
            empty[k % STAGES].wait_parity(k / STAGES % 2 == 0);
            full[k % STAGES].expect_tx(BYTES);
            bulk_copy_async(&stages[k % STAGES], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % STAGES]);
            let _ = full[k % STAGES].arrive();
        }
    } else if i < READERS {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % STAGES].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % STAGES][i];
            let _ = empty[k % STAGES].arrive();
        }
        out[i] = sum;
    }
}

/// The consumers release the stage after they have read it.
#[cluster_kernel(block = BLOCK)]
fn released(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    let mut pipeline = Pipeline::<STAGES>::new();
    if i == READERS {
        for k in 0..chunks {
            let stage = pipeline.producer_acquire(&empty);
            full[stage].expect_tx(BYTES);
            bulk_copy_async(&stages[stage], &input[k * WIDTH..(k + 1) * WIDTH], &full[stage]);
            pipeline.producer_commit(&full);
        }
    } else if i < READERS {
        let mut sum = 0;
        for _ in 0..chunks {
            let stage = pipeline.consumer_wait(&full);
            sum += stages[stage][i];
            pipeline.consumer_release(&empty);
        }
        out[i] = sum;
    }
}

/// They arrive and advance themselves.
#[cluster_kernel(block = BLOCK)]
fn released_by_hand<const STAGES: usize>(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    let mut pipeline = Pipeline::<STAGES>::new();
    if i == READERS {
        for k in 0..chunks {
            let stage = pipeline.producer_acquire(&empty);
            full[stage].expect_tx(BYTES);
            bulk_copy_async(&stages[stage], &input[k * WIDTH..(k + 1) * WIDTH], &full[stage]);
            pipeline.producer_commit(&full);
        }
    } else if i < READERS {
        let mut sum = 0;
        for _ in 0..chunks {
            let stage = pipeline.consumer_wait(&full);
            sum += stages[stage][i];
            let _ = empty[stage].arrive();
            pipeline.advance();
        }
        out[i] = sum;
    }
}

/// Another type of the name, whose position begins at the second stage.
mod other {
    use phalanx::prelude::*;

    #[derive(Debug, Clone, Copy, DeviceCopy)]
    #[repr(C)]
    pub(super) struct Pipeline<const STAGES: usize> {
        round: u32,
    }

    #[device]
    impl<const STAGES: usize> Pipeline<STAGES> {
        #[allow(clippy::new_without_default, reason = "a kernel writes `new`")]
        pub(super) fn new() -> Pipeline<STAGES> {
            Pipeline { round: 0 }
        }

        /// Waits for the phase before, which no thread has to complete.
        pub(super) fn consumer_wait(&self, full: &Barriers<STAGES>) -> u32 {
            full[0].wait_parity(true);
            self.round
        }

        pub(super) fn advance(&mut self) {
            self.round += 1;
        }
    }
}

/// Of our type, the wait would never end.
#[cluster_kernel(block = 32)]
fn of_another_type(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    full.init_collective(&block, 32);
    let mut pipeline = other::Pipeline::<2>::new();
    let mut sum = 0;
    for _ in 0..rounds {
        sum += pipeline.consumer_wait(&full);
        pipeline.advance();
    }
    out[block.thread_rank()] = sum;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<as_many_as_readers>,
    phalanx::Program::of::<its_own_number_of_rounds>,
    phalanx::Program::of::<of_the_first_module>,
    phalanx::Program::of::<of_any_number<3>>,
    phalanx::Program::of::<released>,
    phalanx::Program::of::<released_by_hand<1>>,
    phalanx::Program::of::<released_by_hand<4>>,
    phalanx::Program::of::<of_another_type>,
];
