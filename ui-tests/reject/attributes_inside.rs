//! Attributes inside a function hold for neither text, so none is taken.

use phalanx::prelude::*;

#[cluster_kernel]
fn conditions(output: &mut [u32], #[cfg(any())] n: u32) {
    #[cfg(any())]
    {
        output[0] = 7;
    }
    #[cfg(any())]
    assert!(output[0] == 9);
    let array = [
        #[cfg(any())]
        5u32,
        6,
    ];
    #[cfg(any())]
    if output[0] == 1 {
        output[0] = 8;
    }
}

fn main() {}
