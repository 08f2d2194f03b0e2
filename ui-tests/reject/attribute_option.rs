//! What the attributes take.

use phalanx::prelude::*;

#[cluster_kernel(clusters = 4)]
fn unknown_option() {}

#[cluster_kernel(cluster = 4, cluster = 2)]
fn repeated_option() {}

#[cluster_kernel(cluster = "four")]
fn malformed_extent() {}

#[cluster_kernel(block = (1, 2, 3, 4))]
fn four_dimensions() {}

#[cluster_kernel(cluster)]
fn extent_without_value() {}

#[cluster_kernel(non_portable = 1)]
fn value_without_need() {}

#[cluster_kernel(4)]
fn no_name() {}

#[device(inline)]
fn device_option() {}

fn main() {}
