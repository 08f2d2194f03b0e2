//! What a pattern can be.

use phalanx::prelude::*;

#[cluster_kernel]
fn patterns(n: u32) {
    let ref c = n;
    for (i, j) in 0..n {}
    let (a, b);
    match (n, n) {
        (.., 1) => {}
        (x, 1) | (1, x) => {}
        (2.5, _) => {}
        _ => {}
    }
    match this_cluster() {
        _ => {}
    }
    let token = Some(this_cluster().barrier_arrive());
    match token {
        Some(t) | t => {}
    }
    matches!(n);
}

fn main() {}
