//! Attributes inside a function that hold for neither text, and conditions on what cannot be left out.

use phalanx::prelude::*;

#[cluster_kernel]
fn conditions(output: &mut [u32], n: u32) {
    let first = #[cfg(any())] n;
    #[deny(unused_variables)]
    let second = 3;
    #[inline]
    {
        output[0] = 7;
    }
    let array = [5u32, #[cfg_attr(any(), rustfmt::skip)] 6];
    output[1] = array[0] + (#[warn(unused)] n);
}

fn main() {}
