//! Numbers of registers that a warpgroup cannot have, which rustc calculates.

use phalanx::prelude::*;

const FEW: usize = 20;

#[cluster_kernel(block = 384)]
fn too_few(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).decrease_registers::<FEW>();
    out[0] = 1.0;
}

#[cluster_kernel(block = 384)]
fn no_multiple(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).increase_registers::<236>();
    out[0] = 1.0;
}

/// A thread has 168 at the start.
#[cluster_kernel(block = 384)]
fn increased_to_fewer(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).increase_registers::<160>();
    out[0] = 1.0;
}

#[cluster_kernel(block = 384)]
fn decreased_to_more(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).decrease_registers::<176>();
    out[0] = 1.0;
}

/// The other warpgroup would have fewer than 24.
#[cluster_kernel(block = 256, min_blocks = 2)]
fn more_than_there_are(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).increase_registers::<240>();
    out[0] = 1.0;
}

/// The last warpgroup is not whole.
#[cluster_kernel(block = 320)]
fn in_a_part(out: &mut [f32]) {
    tiled_partition::<128>(&this_thread_block()).decrease_registers::<40>();
    out[0] = 1.0;
}

const PRODUCERS: u32 = 1;
const OF_CONSUMERS: usize = 168;

/// Two of the four warpgroups get what one has left, with constants of the file.
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

fn main() {}
