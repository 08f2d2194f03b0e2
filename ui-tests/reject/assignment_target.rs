//! Targets of assignments that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
fn targets(input: &[u32], output: &mut [u32], n: u32) {
    input[0] = 1;
    input[0] += 1;
    3 = n;
    n + 1 = 2;
    this_cluster().block_rank() = 2;
    unsafe {
        *input.get_unchecked_mut(0) = 3;
    }
    input.atomic(0).store(1, Relaxed);
}

const LIMIT: u32 = 3;

#[cluster_kernel]
fn no_variables(output: &mut [u32]) {
    LIMIT = 4;
    outptu[0] = 1;
}

macro_rules! with {
    ($s:stmt) => {
        #[cluster_kernel]
        fn of_a_macro(output: &mut [u32]) {
            $s
        }
    };
}

with!(output[0] = 1);

fn main() {}
