//! Layouts that mean something else, or nothing, on the other side.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Between {
    kind: u8,
    mass: f64,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct AtTheEnd(u32, u8);

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C, align(16))]
struct Aligned {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C, align(32))]
struct TooAligned {
    x: [f64; 4],
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct NoSize {
    x: u32,
    none: [u32; 0],
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(u8)]
enum NoZero {
    One = 1,
    Two,
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(u8, align(4))]
enum Wide {
    One,
}

fn main() {}
