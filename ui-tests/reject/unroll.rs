//! `#[unroll]` is an attribute of loops, with a positive constant or none.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn misused(out: &mut [u32]) {
    #[unroll]
    let i = this_thread_block().thread_rank();
    #[unroll(0)]
    for k in 0..4 {
        out[k] = i;
    }
    #[unroll = 4]
    while out[0] > 3 {
        out[0] -= 1;
    }
    #[unroll]
    #[unroll(2)]
    loop {
        break;
    }
}

fn main() {}
