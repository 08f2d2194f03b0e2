//! A device function with the name of a crate: rustc cannot tell which one a bare name imports, and asks for a path.

use ::phalanx::prelude::*;

#[device]
fn phalanx(x: u32) -> u32 {
    x
}

#[cluster_kernel]
fn calls(output: &mut [u32]) {
    output[0] = phalanx(3);
    output[1] = self::phalanx(3);
}

fn main() {}
