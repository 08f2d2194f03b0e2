//! Names that there are not: rustc's to say.

use phalanx::prelude::*;

mod other {
    #[phalanx::device]
    fn private(x: u32) -> u32 {
        x
    }
}

#[cluster_kernel]
fn names(output: &mut [u32], n: u32) {
    output[0] = missing(n);
    output[1] = other::missing(n);
    output[2] = nowhere::missing(n);
    output[3] = other::private(n);
    output[4] = Missing(n);
    output[5] = Missing::new(n);
    output[6] = MISSING + u32::MISSING;
    output[7] = missing_value;
    let x: Missing = n;
}

fn main() {}
