//! What a pattern can be.

use phalanx::prelude::*;

#[cluster_kernel]
fn patterns(n: u32) {
    let (a, b) = n;
    let ref c = n;
    for (i, j) in 0..n {}
    if let 3 = n {}
    if let Some(x) = n {}
    while let Ok(y) = n {}
}

fn main() {}
