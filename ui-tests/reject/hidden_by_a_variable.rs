//! A variable hides the functions of its name, the language's as well as device functions.

use phalanx::prelude::*;

#[device]
fn helper(x: u32) -> u32 {
    x
}

#[cluster_kernel]
fn variables(shared_barrier: u32) {
    let fence = 1;
    fence(AcqRel, Scope::Cluster);
    let helper = 2;
    let x = helper(3);
    let bar = shared_barrier();
    let shared_array = 4;
    let array = shared_array::<u32, 4>();
}

fn main() {}
