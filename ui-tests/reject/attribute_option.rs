//! Options that the attributes refuse.

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

#[cluster_kernel(block = 4.0)]
fn not_an_integer() {}

#[cluster_kernel(min_blocks)]
fn number_without_value() {}

#[cluster_kernel(block = 256, max_registers = (64, 2))]
fn two_numbers() {}

#[cluster_kernel(shared_bytes("4096"))]
fn number_in_parentheses() {}

#[cluster_kernel(min_blocks = 4)]
fn min_blocks_of_any_block() {}

#[cluster_kernel(block = 256, min_blocks = 4, max_registers = 64)]
fn registers_twice() {}

/// One fault.
#[cluster_kernel(block = "large", min_blocks = 4)]
fn min_blocks_of_an_unknown_block() {}

#[cluster_kernel(fast_math, fmad)]
fn contraction_twice() {}

#[cluster_kernel(fast_math = true)]
fn flag_with_value() {}

#[cluster_kernel(fence = "none")]
fn unknown_fence() {}

#[cluster_kernel(fence)]
fn fence_of_no_kind() {}

#[cluster_kernel(non_portable, fence = "full", fence = "full", fast_math, fast_math)]
fn repeated_flags() {}

fn main() {}
