//! Patterns that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
fn patterns(n: u32) {
    let ref c = n;
    for (i, j) in 0..n {}
    let [a, b];
    match (n, n) {
        (.., 1) => {}
        ((x, 1) | (1, x)) if let Some(y) = Some(x) => {}
        (1 | 2, x) | (x, 1) if x > 3 => {}
        (x @ (1 | 2), 3) if x > 3 => {}
        ((2, x) | (x, 2), ..) if x > 3 => {}
        (mut x, 2) | (2, x) => {}
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

#[device]
fn more_patterns(n: u32, pair: (u32, u32), array: [u32; 3], x: &[u32]) {
    let &a = n;
    let (a, .., b) = pair;
    let [a, ref rest @ ..] = array;
    let (ref a, b) = pair;
    match n {
        "text" => {}
        'x' => {}
        2.5..3.5 => {}
        size!() => {}
        -1i7 => {}
        n @ (1 | 2) => {}
        _ => {}
    }
    let [.., a, .., b] = array;
    match Some(3) {
        Some(1, 2) => {}
        Some(..) => {}
        _ => {}
    }
    for mut i in 0..n {}
    for 3 in 0..n {}
    match x {
        [first, ..] => {}
        _ => {}
    }
    let Some(a) = n;
    let mut held = Some(n);
    if let Some(ref mut x) = held {
        *x += 1;
    }
    let pairs = [(n, n)];
    for (a, &b) in &pairs {}
    for (mut a, b) in pairs.iter() {}
    for (a, .., b) in &pairs {}
    let mut changed = [(n, n)];
    for (a, b) in changed.iter_mut() {}
}

fn main() {}
