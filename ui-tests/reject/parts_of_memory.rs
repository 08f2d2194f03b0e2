//! Parts of memory.

use phalanx::prelude::*;

#[device]
fn fill(values: &mut [u32]) {
    values[0] = 1;
}

#[cluster_kernel]
fn parts(input: &[u32], output: &mut [u32], n: u32) {
    let local = [1, 2, 3];
    let part = input[1..];
    let part = &mut input[1..];
    let (left, right) = input.split_at_mut(2);
    let part = local[1..];
    let part = &n[1..];
    let tile = input.chunks(4);
    let tile = &input.chunks()[1];
    let halves = input.split_at(2);
    let (left, (right, rest)) = input.split_at(2);
    let (left, right) = n.split_at(2);
    let part = &input[this_grid()..];
    fill(&mut input[..4]);
    let view = &output[..4];
    view[0] = 1;
}

fn main() {}
