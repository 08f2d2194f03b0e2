//! Literals.

use phalanx::prelude::*;

#[cluster_kernel]
fn literals(output: &mut [u32]) {
    output[0] = 3_u31;
    let bytes = b"abc";
    let text = "abc";
}

fn main() {}
