//! Methods that no `#[device] impl` has, and calls in methods: rustc's messages.

use phalanx::prelude::*;

#[device]
fn helper(block: &ThreadBlock) {
    block.sync();
}

trait Wait {}

#[device]
trait Help: Number {
    fn help(self, block: &ThreadBlock);
    fn grow(&mut self);
}

#[device]
impl Help for u32 {
    fn help(self, block: &ThreadBlock) {
        helper(block);
    }
    fn grow(&mut self) {
        *self += 1;
    }
}

#[cluster_kernel]
fn unknown(x: u32, output: &mut [u32]) {
    output[0] = x.halved();
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Meters {
    x: f32,
}

impl Meters {
    fn for_the_host(self) -> f32 {
        self.x
    }
}

#[cluster_kernel]
fn unknown_of_a_struct(distance: Meters, output: &mut [f32]) {
    output[0] = distance.feet();
    output[1] = distance.for_the_host();
    output[2] = Meters::feet(distance);
}

#[cluster_kernel]
fn changes_a_copy(output: &mut [u32]) {
    output[0].grow();
}

#[device]
fn generic<T: Number>(x: T) -> T {
    x.grown()
}

#[cluster_kernel]
fn wrong_bound(output: &mut [u32], flag: u32) {
    output[0] = generic(flag == 1) as u32;
}

fn main() {}
