//! Structs that cannot be compared: without the derive, by a hand-written one, with a field that has none.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Plain {
    a: u32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct ByHand {
    a: f32,
}

impl PartialEq for ByHand {
    fn eq(&self, other: &ByHand) -> bool {
        (self.a - other.a).abs() < 0.1
    }
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct Around {
    inner: ByHand,
}

#[cluster_kernel]
fn compared(out: &mut [u32], a: Plain, b: ByHand, c: Around) {
    out[0] = (a == a) as u32;
    out[1] = (b == b) as u32;
    out[2] = (c == c) as u32;
    out[3] = ([b] == [b]) as u32;
}

#[cluster_kernel]
fn without_a_default(out: &mut [u32]) {
    out[0] = Plain::default().a;
}

#[cluster_kernel]
fn ordered(out: &mut [f32], a: f32) {
    out[0] = std::cmp::max(a, 3.0);
}

fn main() {}
