//! What a loop can go over, and where jumps lead.

use phalanx::prelude::*;

#[cluster_kernel]
fn loops(input: &[u32], n: u32) {
    for x in input {}
    for i in 0.. {}
    for i in (0..n).rev().rev() {}
    for i in (0..n).map(|x| x) {}
    break;
    continue;
    loop {
        break 'nowhere;
    }
    'block: {
        break;
    }
}

fn main() {}
