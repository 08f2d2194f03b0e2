//! Errors of rustc in a `cuda!`: that it is unsafe, that its closure is typed, and has no more than the inputs.

use phalanx::prelude::*;

#[cluster_kernel]
fn safe(x: u32) {
    let y: u32;
    cuda!("y = x;", in(x), out(y); else |x| x);
}

#[cluster_kernel]
fn result_of_another_type(x: u32) {
    let y: f32;
    unsafe { cuda!("y = 1.0f;", in(x), out(y); else |x| x) }
}

#[cluster_kernel]
fn more_than_the_inputs(x: u32, z: u32) {
    let y: u32;
    unsafe { cuda!("y = x;", in(x), out(y); else |x| x + z) }
}

#[cluster_kernel]
fn immutable_output(x: u32) {
    let y = 1u32;
    unsafe { cuda!("y = x;", in(x), out(y); else |x| x) }
}

#[cluster_kernel]
fn nothing_to_read() {
    let y: u32;
    unsafe { cuda!("y = y + 1;", inout(y); else |y: u32| y + 1) }
}

fn main() {}
