//! Moves, borrows and mutability are rustc's to check, in the user's source.

use phalanx::prelude::*;

#[cluster_kernel]
fn immutable(output: &mut [u32]) {
    let x = 1;
    x = 2;
    let array = [0; 4];
    array[0] = 1;
    let uninitialized: u32;
    output[0] = uninitialized + x;
}

#[cluster_kernel]
fn without_unsafe(output: &mut [u32]) {
    *output.get_unchecked_mut(0) = 3;
}

fn main() {}
