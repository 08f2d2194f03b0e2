//! Types of device memory, in a module that forbids unsafe code: nothing of it is left to the user.

#![forbid(unsafe_code)]

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(u8)]
enum Shape {
    None,
    Circle,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Names {
    double: u32,
    r#type: u32,
    shape: Shape,
    _padding: [u8; 3],
}

#[cluster_kernel(block = 32)]
fn fields(names: &mut [Names], one: Names) {
    let i = this_thread_block().thread_rank();
    names[i].r#type = one.double;
    if names[i].shape == Shape::None {
        names[i] = Names { shape: Shape::Circle, ..one };
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<fields>];
