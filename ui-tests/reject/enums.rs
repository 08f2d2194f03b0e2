//! Enums whose variants have fields: types on which `#[derive(DeviceType)]` is refused, and an enum without it.

use phalanx::prelude::*;

#[derive(Clone, Copy)]
enum Plain {
    Hit { t: f32, id: u32 },
    Miss,
}

// One error, and not one for each variant, local and pattern.
#[cluster_kernel(block = 32)]
fn without_derive(x: &[f32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    let hit = if x[i] > 0.0 { Plain::Hit { t: x[i], id: i as u32 } } else { Plain::Miss };
    out[i] = match hit {
        Plain::Hit { id, .. } => id,
        Plain::Miss => 0,
    };
}

#[derive(Clone, Copy, DeviceType)]
enum Generic<T> {
    A(T),
    B,
}

#[derive(Clone, Copy, DeviceType)]
enum Borrowed<'a> {
    A(&'a u32),
}

#[derive(Clone, Copy, DeviceType)]
struct Structure {
    x: u32,
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
enum Fieldless {
    A,
    B,
}

#[derive(Clone, Copy, DeviceType)]
enum Names {
    a__b(u32),
    a_b_(u32),
}

#[derive(Clone, Copy, DeviceType)]
enum Event {
    Lost(u32),
    Miss,
}

// Some threads have another variant than others.
#[cluster_kernel(block = 32)]
fn of_variants(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let event = if i < n { Event::Lost(i) } else { Event::Miss };
    if let Event::Lost(at) = event {
        block.sync();
        out[i] = at;
    }
}

#[cluster_kernel(block = 32)]
fn of_the_variant_without_fields(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let mut event = Event::Miss;
    if i < n {
        event = Event::Lost(n);
    }
    match event {
        Event::Miss => block.sync(),
        Event::Lost(at) => out[i] = at,
    }
}

fn main() {}
