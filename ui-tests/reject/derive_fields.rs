//! Fields that a type in device memory cannot hold, and traits that it must have.

use phalanx::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Plain {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Holds {
    plain: Plain,
    letter: char,
    text: &'static str,
    marker: std::marker::PhantomData<u32>,
}

#[derive(DeviceCopy)]
#[repr(C)]
struct NotCopy {
    x: f32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
enum NotCompared {
    A,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(u8)]
enum ComparedByHand {
    A,
    B,
}

impl PartialEq for ComparedByHand {
    fn eq(&self, _: &ComparedByHand) -> bool {
        true
    }
}

fn main() {}
