//! The witnesses of rings of phase barriers.

use phalanx::prelude::*;

/// The first wait is for a phase that nobody completes.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_deadlock))]
pub(super) fn waits_for_the_first(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stage = shared_array::<u32, 1>();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 31);
    let mut sum = 0;
    if i == 31 {
        for k in 0..4 {
            empty.wait_parity(k % 2 == 1);
            stage[0] = k;
            let _ = full.arrive();
        }
    } else {
        for k in 0..4 {
            full.wait_parity(k % 2 == 1);
            sum += stage[0];
            let _ = empty.arrive();
        }
    }
    out[this_grid().thread_rank()] = sum;
}

/// The readers say that the stage is empty before they have read it.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_overwrite))]
pub(super) fn released_too_early(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stage = shared_array::<u32, 1>();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 31);
    let mut sum = 0;
    if i == 31 {
        for k in 0..4 {
            empty.wait_parity(k % 2 == 0);
            stage[0] = k;
            let _ = full.arrive();
        }
    } else {
        for k in 0..4 {
            full.wait_parity(k % 2 == 1);
            let _ = empty.arrive();
            sum += stage[0];
        }
    }
    out[this_grid().thread_rank()] = sum;
}

/// The readers wait for the phase before that of their round.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_read))]
pub(super) fn waits_for_the_phase_before(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stage = shared_array::<u32, 1>();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 31);
    let mut sum = 0;
    if i == 31 {
        for k in 0..4 {
            empty.wait_parity(k % 2 == 0);
            stage[0] = k;
            let _ = full.arrive();
        }
    } else {
        for k in 0..4 {
            full.wait_parity(k % 2 == 0);
            sum += stage[0];
            let _ = empty.arrive();
        }
    }
    out[this_grid().thread_rank()] = sum;
}

/// One arrival less is expected than there are readers.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_count))]
pub(super) fn more_arrive(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stage = shared_array::<u32, 1>();
    let full = shared_barrier();
    let empty = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 30);
    let mut sum = 0;
    if i == 31 {
        for k in 0..4 {
            empty.wait_parity(k % 2 == 0);
            stage[0] = k;
            let _ = full.arrive();
        }
    } else {
        for k in 0..4 {
            full.wait_parity(k % 2 == 1);
            sum += stage[0];
            let _ = empty.arrive();
        }
    }
    out[this_grid().thread_rank()] = sum;
}

/// The readers say that another stage is empty, twice before the writer waits for it.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_overtaken))]
pub(super) fn releases_the_next(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 31);
    if i == 31 {
        for k in 0..4 {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            let _ = full[k % 2].arrive();
        }
    } else {
        for k in 0..4 {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            let _ = empty[(k + 1) % 2].arrive();
        }
    }
    out[this_grid().thread_rank()] = 1;
}

/// Nobody waits for the second copy.
#[cluster_kernel(cluster = 2, block = 32, unchecked(ring_undrained))]
pub(super) fn one_round_less(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 4], 2>();
    let full = shared_barriers::<2>();
    full.init_collective(&block, 1);
    if i == 31 {
        for k in 0..2 {
            full[k].expect_tx(16);
            bulk_copy_async(&stages[k], &out[0..4], &full[k]);
            let _ = full[k].arrive();
        }
    } else {
        for k in 0..1 {
            full[k].wait_parity(false);
        }
    }
}
