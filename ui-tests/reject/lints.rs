//! Lints see a kernel as any Rust: at the user's place, once.

#![deny(unused, non_snake_case)]

use phalanx::prelude::*;

#[cluster_kernel]
fn never_launched(output: &mut [u32]) {
    output[0] = 1;
}

#[device]
fn doubled(x: u32) -> u32 {
    2 * x
}

#[cluster_kernel]
pub fn variables(output: &mut [u32], unused_parameter: u32, mut never_changed_parameter: u32) {
    let unused_local = 3;
    let mut never_changed = 4;
    let mut assigned = 5;
    assigned = 6;
    output[0] = doubled(never_changed) + never_changed_parameter;
    for unused_index in 0..3 {}
    match output[0] {
        unused_binding => {}
    }
    if let Some(unused_in_some) = Some(3) {}
    let unused_closure = |unused_argument: u32| 3;
    let NotSnake = 3;
}

#[cluster_kernel]
pub fn values(output: &mut [u8], Output: u8) {
    output[0] == 3;
    output[0] = 300;
    output[1] = Output;
}

fn main() {}
