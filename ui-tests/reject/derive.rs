//! Items on which `#[derive(DeviceCopy)]` is refused.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
struct NoRepr {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C, packed)]
struct Packed {
    x: u8,
    y: u32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Empty;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Borrowed<'a> {
    x: &'a f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Names {
    a__b: u32,
    a_b_: u32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
union Both {
    x: f32,
    y: u32,
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
enum NoInteger {
    A,
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
enum OnlyC {
    A,
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(u8)]
enum Shape {
    None,
    Circle(f32),
    Square { side: f32 },
}

#[derive(Clone, Copy, DeviceCopy)]
enum Nothing {}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(u8)]
enum Generic<const N: usize> {
    A,
}

fn main() {}
