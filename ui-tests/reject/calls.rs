//! Calls that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
fn calls(output: &mut [u32], n: u32) {
    (n)(3);
    <u32>::max(1, 2);
    Vec::new();
    output[0](3);
    vec![n];
    this_cluster(1);
    shared_array(3);
    let a = shared_array::<u32>();
    let b = dynamic_shared();
    Some(1, 2);
    output[0] = std::cmp::min(n, 3);
    let token = this_cluster().barrier_arrive();
    drop(token);
}

fn main() {}
