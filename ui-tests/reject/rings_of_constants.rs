//! Rings whose stages, counts and sizes are constants, and rings of the library's `Pipeline`: rustc, which knows the values and
//! the type, reports the fault that a kernel has with them.

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

/// One arrival less is expected than there are readers.
#[cluster_kernel(block = BLOCK)]
fn one_reader_too_few(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32 - 1);
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

/// The body's own constant says how many stages there are, and the consumers take another number.
#[cluster_kernel(block = BLOCK)]
fn another_number_of_rounds(input: &[u32], out: &mut [u32], chunks: usize) {
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
            full[k % ROWS].wait_parity(k / STAGES % 2 == 1);
            sum += stages[k % ROWS][i];
            let _ = empty[k % ROWS].arrive();
        }
        out[i] = sum;
    }
}

/// The file has two constants of the name; with the other one, the kernel would be right.
#[cluster_kernel(block = BLOCK)]
fn of_the_second_module(input: &[u32], out: &mut [u32], chunks: usize) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let stages = shared_array::<[u32; WIDTH], { second::DEPTH }>();
    let full = shared_barriers::<{ second::DEPTH }>();
    let empty = shared_barriers::<{ second::DEPTH }>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, READERS as u32);
    if i == READERS {
        for k in 0..chunks {
            empty[k % second::DEPTH].wait_parity(k / second::DEPTH % 2 == 0);
            full[k % second::DEPTH].expect_tx(BYTES);
            bulk_copy_async(&stages[k % second::DEPTH], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % second::DEPTH]);
            let _ = full[k % second::DEPTH].arrive();
        }
    } else if i < READERS {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % second::DEPTH].wait_parity(k / 3 % 2 == 1);
            sum += stages[k % second::DEPTH][i];
            let _ = empty[k % second::DEPTH].arrive();
        }
        out[i] = sum;
    }
}

/// More bytes are expected than the copies bring.
#[cluster_kernel(block = BLOCK)]
fn too_many_bytes(input: &[u32], out: &mut [u32], chunks: usize) {
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
            full[k % STAGES].expect_tx(BYTES + 4);
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

/// The consumers go on without releasing the stage.
#[cluster_kernel(block = BLOCK)]
fn never_released(input: &[u32], out: &mut [u32], chunks: usize) {
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
            pipeline.advance();
        }
        out[i] = sum;
    }
}

/// The stage is released before it is read.
#[cluster_kernel(block = BLOCK)]
fn released_too_early(input: &[u32], out: &mut [u32], chunks: usize) {
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
            pipeline.consumer_release(&empty);
            sum += stages[stage][i];
        }
        out[i] = sum;
    }
}

fn main() {}
