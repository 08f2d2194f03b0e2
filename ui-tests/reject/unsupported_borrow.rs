//! Positions of `&` and `*` that are refused.

use phalanx::prelude::*;

#[device]
fn add(total: &mut u32, x: u32) {
    *total += x;
}

#[device]
fn keep(total: &u32) {
    let held = total;
}

#[device]
fn matched(x: &mut u32) -> u32 {
    match x {
        1 => 2,
        _ => 3,
    }
}

#[cluster_kernel]
fn borrows(output: &mut [u32], n: u32) {
    let mut first = 1;
    let double = |x: u32| 2 * x;
    let mut changing = &mut first;
    let closure = &double;
    let pair = (&n, 1);
    add(&mut (n + 1), 2);
    add(&mut output[0], 2);
    let value = *n;
    shared_array::<u32, 32>();
    let cluster = { this_cluster() };
}

fn main() {}
