//! A variable by reference.

use phalanx::prelude::*;

#[device]
fn add(total: &mut u32, x: &u32) {
    *total += *x;
    more(total);
}

#[device]
fn more(total: &mut u32) {
    *total = total.wrapping_mul(3);
}

#[cluster_kernel]
fn borrows(output: &mut [u32], n: u32) {
    let mut total = output[0];
    add(&mut total, &n);
    output[0] = total;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<borrows>];
