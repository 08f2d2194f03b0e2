//! Signatures that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
async fn later() {}

#[cluster_kernel]
unsafe fn dangerous() {}

#[cluster_kernel]
const fn constant() {}

#[device]
const fn constant_of_memory(x: &[u32]) -> u32 {
    x[0]
}

#[device]
extern "C" fn foreign() {}

#[cluster_kernel]
fn lifetimes<'a>(input: &'a [u32]) {}

#[device]
fn unbounded<T>(x: T) {}

struct Pair<T>(T, T);

#[device]
impl<T> Pair<T> {
    fn first(self) {}
}

#[device]
fn of_library<T: Copy + std::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

#[device]
fn generic<T: Number>(x: T) -> T {
    x
}

#[device]
fn pattern(&x: &u32) {}

#[device]
fn letters<const C: char>() {}

#[device]
fn by_reference(ref x: u32, y @ _: u32) {}

#[device]
fn mutable_and_unused(mut x: u32, _: u32) {}

struct Owner;

impl Owner {
    #[device]
    fn method(&self) {}
}

#[cluster_kernel(block = 32)]
fn u128(out: &mut [u32]) {
    out[0] = 1;
}

fn main() {}
