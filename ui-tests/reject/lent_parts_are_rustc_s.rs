//! What is no slice for a device function, and closures that change what they must not: rustc knows the function.

use phalanx::prelude::*;

const TABLE: [f32; 2] = [1.0, 2.0];

#[device]
fn total(values: &[f32]) -> f32 {
    values.iter().sum()
}

#[device]
fn scale(values: &mut [f32], by: f32) {
    for i in 0..values.len() {
        values[i] *= by;
    }
}

#[device]
fn second(values: &[f32]) -> f32 {
    values.load_vec::<2>(0)[1]
}

#[device]
fn each(count: u32, f: impl Fn(u32)) {
    for i in 0..count {
        f(i);
    }
}

#[cluster_kernel]
fn lent(input: &[f32], out: &mut [f32]) {
    let mut own = [input[0], 2.0];
    scale(&mut own, 2.0);
    scale(input, 2.0);
    out[0] = second(&own[..]) + total(&TABLE);
}

#[cluster_kernel]
fn changes(out: &mut [u32]) {
    let mut count = 0;
    each(3, |i| count += i);
    out[0] = count;
}

#[cluster_kernel]
fn parts(out: &mut [u32]) {
    let mut rows = [[0; 2]; 3];
    let [first, second] = &mut rows;
    first[0] = second[1];
    out[0] = rows[0][0];
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct Unordered {
    x: f32,
}

#[cluster_kernel]
fn without_order(values: &[Unordered], out: &mut [u32]) {
    out[0] = (values[0] < values[1]) as u32;
}

fn main() {}
