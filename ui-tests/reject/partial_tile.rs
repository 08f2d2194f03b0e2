//! Blocks that have a rest beside whole tiles.

use phalanx::prelude::*;

#[cluster_kernel(block = 160)]
fn warpgroups(out: &mut [u32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    out[block.thread_rank()] = warpgroup.meta_group_rank();
}

fn main() {}
