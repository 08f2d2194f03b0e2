//! The number of iterations to unroll is a constant.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn by_a_variable(out: &mut [u32], n: usize) {
    #[unroll(n)]
    for k in 0..4 {
        out[k] = 1;
    }
}

fn main() {}
