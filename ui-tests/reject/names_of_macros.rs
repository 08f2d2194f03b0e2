//! The user's own macros with the names of those that kernels have: they would do something else.

use phalanx::prelude::*;

mod others {
    macro_rules! assert { ($($tokens:tt)*) => {} }
    macro_rules! assert_eq { ($($tokens:tt)*) => {} }
    macro_rules! assert_ne { ($($tokens:tt)*) => {} }
    macro_rules! cuda { ($($tokens:tt)*) => {} }
    macro_rules! debug_assert { ($($tokens:tt)*) => {} }
    macro_rules! debug_assert_eq { ($($tokens:tt)*) => {} }
    macro_rules! debug_assert_ne { ($($tokens:tt)*) => {} }
    macro_rules! matches { ($($tokens:tt)*) => {} }
    macro_rules! panic { ($($tokens:tt)*) => {} }
    macro_rules! print { ($($tokens:tt)*) => {} }
    macro_rules! println { ($($tokens:tt)*) => {} }
    macro_rules! todo { ($($tokens:tt)*) => {} }
    macro_rules! unimplemented { ($($tokens:tt)*) => {} }
    macro_rules! unreachable { ($($tokens:tt)*) => {} }
    pub(crate) use {assert, assert_eq, assert_ne, cuda, debug_assert, debug_assert_eq, debug_assert_ne, matches, panic, print, println, todo, unimplemented, unreachable};
}

use others::{assert, assert_eq, assert_ne, cuda, debug_assert, debug_assert_eq, debug_assert_ne, matches, panic, print, todo, unimplemented, unreachable};

macro_rules! println {
    ($($tokens:tt)*) => {};
}

#[cluster_kernel]
fn checks(x: u32, y: u32) {
    assert!(x < y);
    assert_eq!(x, y);
    assert_ne!(x, y);
    debug_assert!(x < y);
    debug_assert_eq!(x, y);
    debug_assert_ne!(x, y);
    if matches!(x, 1 | 2) {
        print!("{x}");
        println!("{y}");
    }
}

#[cluster_kernel]
fn ends(x: u32) {
    match x {
        0 => panic!(),
        1 => todo!(),
        2 => unimplemented!(),
        _ => unreachable!(),
    }
}

#[cluster_kernel]
fn inline(x: u32) {
    unsafe { cuda!("__nanosleep(x);", in(x); else |x: u32| ()) }
}

#[cluster_kernel]
fn in_a_path(x: u32) {
    others::assert!(x < 1);
}

fn main() {}
