//! What a type can be.

use phalanx::prelude::*;

#[cluster_kernel]
fn text(name: &str) {}

#[device]
fn unit(nothing: ()) {}

#[device]
fn vector(values: Vec<u32>) {}

#[device]
fn option(value: Option) {}

#[device]
fn by_value(cluster: Cluster) {}

#[device]
fn incomplete(token: ArrivalToken) {}

#[device]
fn pointer(p: *const u32) {}

#[cluster_kernel]
fn cast(output: &mut [u32]) {
    output[0] = 3 as &str;
}

struct Unknown;

#[cluster_kernel]
fn not_a_device_type(x: Unknown) {}

fn main() {}
