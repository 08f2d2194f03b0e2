//! Names that generated code keeps for itself.

use phalanx::prelude::*;

#[cluster_kernel]
fn names(output: &mut [u32]) {
    let __phalanx_slots = 3;
    output[0] = __phalanx_slots;
}

fn main() {}
