//! Functions do not call themselves, directly (the macro's message) or in a circle (rustc's).

use phalanx::prelude::*;

#[device]
fn factorial(n: u32) -> u32 {
    if n == 0 { 1 } else { n * factorial(n - 1) }
}

fn main() {}
