//! Literals.

use phalanx::prelude::*;

#[cluster_kernel]
fn literals(output: &mut [u32]) {
    output[0] = 3_u31;
    let bytes = b"abc";
    let text = "abc";
    let raw = r"abc";
    let foreign = c"abc";
    let letter = 'x';
    let negative = -"abc";
    let message = Some(3).expect(text);
    let message = Some(3).expect("{text}");
}

fn main() {}
