//! Operators and methods that the user gives a type of their own: the CUDA C++ has the language's alone.

use std::ops::{BitAnd, Deref, Not};

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Mask {
    bits: u32,
}

impl Not for Mask {
    type Output = Mask;
    fn not(self) -> Mask {
        Mask { bits: !self.bits }
    }
}

impl BitAnd for Mask {
    type Output = Mask;
    fn bitand(self, other: Mask) -> Mask {
        Mask { bits: self.bits & other.bits }
    }
}

impl Mask {
    fn take(&mut self) -> u32 {
        std::mem::take(&mut self.bits)
    }

    fn is_some(&self) -> bool {
        self.bits != 0
    }
}

#[cluster_kernel]
fn operators(a: Mask, b: Mask, output: &mut [u32]) {
    let mut a = a;
    let mut several = [a, b];
    output[0] = (!a).bits;
    output[1] = (a & b).bits;
    a &= b;
    several[0] &= b;
}

#[cluster_kernel]
fn methods(a: Mask, output: &mut [u32]) {
    let mut a = a;
    output[0] = a.take();
    if a.is_some() {
        output[1] = 1;
    }
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Wrapped {
    mask: Mask,
}

/// `wrapped.bits` would be a field that the struct does not have in C++.
impl Deref for Wrapped {
    type Target = Mask;
    fn deref(&self) -> &Mask {
        &self.mask
    }
}

fn main() {}
