//! Constants that a kernel cannot name.

use phalanx::prelude::*;
use std::sync::atomic::AtomicU32;

static mut COUNTER: u32 = 0;
static SHARED: AtomicU32 = AtomicU32::new(0);
const NAME: &str = "name";
const PAIR: (u32, &str) = (1, "two");

#[derive(Clone, Copy)]
struct Plain {
    x: u32,
}

const PLAIN: Plain = Plain { x: 1 };

#[cluster_kernel]
fn names(out: &mut [u32]) {
    out[0] = COUNTER;
    let shared = SHARED;
    let name = NAME;
    let pair = PAIR;
    let plain = PLAIN;
}

#[cluster_kernel]
fn mutable(out: &mut [u32]) {
    out[1] = unsafe { COUNTER };
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct Point {
    x: u32,
}

const ORIGIN: Point = Point { x: 0 };

#[cluster_kernel]
fn compared(points: &[Point], out: &mut [u32]) {
    out[0] = match points[0] {
        ORIGIN => 1,
        _ => 2,
    };
}

fn main() {}
