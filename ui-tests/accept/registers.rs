//! Changes of registers for which the block has as many as its warpgroups keep and get.

use phalanx::prelude::*;

/// 40 + 2 * 232 is 3 * 168.
#[cluster_kernel(block = 384)]
fn all_of_them(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if warpgroup.meta_group_rank() == 2 {
        warpgroup.decrease_registers::<40>();
    } else {
        warpgroup.increase_registers::<232>();
        out[this_grid().thread_rank()] = 1.0;
    }
}

const PRODUCERS: u32 = 1;
const OF_CONSUMERS: usize = 160;

/// 56 + 2 * 160 + 128 are fewer than 4 * 128.
#[cluster_kernel(block = 512)]
fn by_constants(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let ready = shared_barrier();
    ready.init_collective(&block, 512);
    let which = warpgroup.meta_group_rank();
    if which < PRODUCERS {
        warpgroup.decrease_registers::<56>();
    } else if which < 3 {
        warpgroup.increase_registers::<OF_CONSUMERS>();
        out[this_grid().thread_rank()] = 1.0;
    }
    ready.arrive_and_wait();
}

/// The host says how many warpgroups multiply.
#[cluster_kernel(block = 384)]
fn by_an_argument(out: &mut [f32], consumers: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if warpgroup.meta_group_rank() < consumers {
        warpgroup.increase_registers::<232>();
        out[this_grid().thread_rank()] = 1.0;
    } else {
        warpgroup.decrease_registers::<40>();
    }
}

/// What each warpgroup does depends on data.
#[cluster_kernel(block = 384)]
fn by_data(kinds: &[u32], out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if kinds[warpgroup.meta_group_rank()] == 0 {
        warpgroup.decrease_registers::<40>();
    } else {
        warpgroup.increase_registers::<232>();
        out[this_grid().thread_rank()] = 1.0;
    }
}

/// Fewer registers than the bound of the launch allows.
#[cluster_kernel(block = 256, max_registers = 128)]
fn with_a_limit(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    match warpgroup.meta_group_rank() {
        0 => warpgroup.decrease_registers::<24>(),
        _ => warpgroup.increase_registers::<232>(),
    }
    out[this_grid().thread_rank()] = 1.0;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<all_of_them>,
    phalanx::Program::of::<by_constants>,
    phalanx::Program::of::<by_an_argument>,
    phalanx::Program::of::<by_data>,
    phalanx::Program::of::<with_a_limit>,
];
