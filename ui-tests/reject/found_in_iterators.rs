//! Iterators that are consumed in a way that the language does not have.

use phalanx::prelude::*;

#[cluster_kernel]
fn found(input: &[u32], out: &mut [u32], n: u32) {
    let weights = [3u32, 1, 4, 1];
    let reference = weights.iter().find(|w| **w > n);
    let of_pairs = input.iter().enumerate().find(|pair| *pair.1 > n);
    let last = weights.iter().last();
    let third = weights.iter().nth(2);
    let by = weights.iter().max_by(|a, b| a.cmp(b));
    let reduced = weights.iter().copied().reduce(|a| a);
    let sorted = weights.iter().is_sorted();
    let hint = weights.iter().size_hint();
}

fn main() {}
