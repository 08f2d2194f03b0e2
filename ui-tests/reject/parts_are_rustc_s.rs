//! Parts of memory whose faults are rustc's to find: of the wrong type, or of elements that are no arrays.

use phalanx::prelude::*;

#[device]
fn total(values: &[f32]) -> f32 {
    values[0]
}

#[device]
fn own(values: &SharedSlice<f32>) -> f32 {
    values[0]
}

#[device]
fn peers(values: RemoteSlice<f32>) -> f32 {
    values[0]
}

#[cluster_kernel]
fn wrong_place(input: &[f32], output: &mut [f32]) {
    let array = shared_array::<f32, 8>();
    output[0] = total(&array[1..]);
    output[1] = own(&input[1..]);
    output[2] = peers(&array);
}

#[cluster_kernel]
fn wrong_element(input: &[f64], output: &mut [f32]) {
    output[0] = total(&input[1..]);
    let row = &input[1];
    let row = &input[1u128..];
}

fn main() {}
