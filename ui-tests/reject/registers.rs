//! Changes of a warpgroup's registers that the hardware does not allow.

use phalanx::prelude::*;

/// Some warps of the warpgroup do not come.
#[cluster_kernel(block = 384)]
fn by_some_warps(out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    if block.thread_rank() < 64 {
        warpgroup.decrease_registers::<40>();
    }
    out[0] = 1.0;
}

/// The second change comes after the first one, and each in a loop after itself.
#[cluster_kernel(block = 384)]
fn twice(out: &mut [f32], rounds: u32) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if warpgroup.meta_group_rank() == 0 {
        warpgroup.decrease_registers::<40>();
        out[0] = 1.0;
        warpgroup.increase_registers::<168>();
    } else {
        for _ in 0..rounds {
            warpgroup.increase_registers::<184>();
        }
    }
}

/// The launch does not say how many registers there are.
#[cluster_kernel]
fn without_a_bound(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    warpgroup.decrease_registers::<40>();
    out[0] = 1.0;
}

#[device]
fn in_a_function(warpgroup: &Tile<128>) {
    warpgroup.decrease_registers::<40>();
}

#[cluster_kernel(block = 384)]
fn malformed(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    warpgroup.increase_registers(232);
    warpgroup.increase_registers();
    out[0] = 1.0;
}

/// 40 + 2 * 240 is more than 3 * 168.
#[cluster_kernel(block = 384)]
fn too_many_in_all(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if warpgroup.meta_group_rank() == 2 {
        warpgroup.decrease_registers::<40>();
    } else {
        warpgroup.increase_registers::<240>();
        out[this_grid().thread_rank()] = 1.0;
    }
}

/// Nobody gives registers back.
#[cluster_kernel(block = 384)]
fn none_is_free(out: &mut [f32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    if warpgroup.meta_group_rank() < 2 {
        warpgroup.increase_registers::<232>();
        out[this_grid().thread_rank()] = 1.0;
    }
}

fn main() {}
