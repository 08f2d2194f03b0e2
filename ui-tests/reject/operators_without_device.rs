//! Operators that rustc refuses: of types that have none in kernels, of other operands, and of functions that name shared memory.

use std::ops::{Add, Mul};

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct Plain {
    n: f32,
}

impl Add for Plain {
    type Output = Plain;
    fn add(self, o: Plain) -> Plain {
        Plain { n: self.n + o.n }
    }
}

#[device]
fn pending(x: f32) -> f32 {
    let s = dynamic_shared::<f32>();
    s[0] = x;
    x
}

#[device]
impl Mul for Plain {
    type Output = Plain;
    fn mul(self, o: Plain) -> Plain {
        Plain { n: pending(self.n) * o.n }
    }
}

#[cluster_kernel(block = 64)]
fn host_only(out: &mut [Plain]) {
    let t = this_thread_block().thread_rank();
    out[t] = out[t] + out[t];
}

#[cluster_kernel(block = 64)]
fn other_operand(out: &mut [Plain], x: &[f32]) {
    let t = this_thread_block().thread_rank();
    out[t] = out[t] * x[t];
}

fn main() {}
