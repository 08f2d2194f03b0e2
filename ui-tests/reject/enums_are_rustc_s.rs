//! What rustc says of enums whose variants have fields: no memory holds them, and their fields are values that constants can have.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceType)]
enum Event {
    Lost(u32),
    Miss,
}

#[derive(Clone, DeviceType)]
enum NotCopied {
    A(u32),
    B,
}

#[derive(Clone, Copy, DeviceType)]
enum Optional {
    A(Option<u32>),
    B,
}

#[cluster_kernel(block = 32)]
fn in_shared_memory(out: &mut [u32]) {
    let all = shared_array::<Event, 4>();
    out[0] = all.len() as u32;
}

#[cluster_kernel(block = 32)]
fn compared(out: &mut [u32]) {
    out[0] = (Event::Lost(out[1]) == Event::Miss) as u32;
}

fn main() {}
