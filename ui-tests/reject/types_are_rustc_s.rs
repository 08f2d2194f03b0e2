//! Types are rustc's to check, in the user's source.

use phalanx::prelude::*;

#[cluster_kernel]
fn types(input: &[f32], output: &mut [u32], n: u32, m: u64) {
    output[0] = input[0];
    let x: f32 = 1;
    let y = n + m;
    let z = input[1.5];
    output[n] = n;
    let b: bool = n;
    if n {}
    let missing = unknown;
    n.sqrt();
}

fn main() {}
