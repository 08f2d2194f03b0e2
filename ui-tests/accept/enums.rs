//! Enums whose variants have fields: what is close to the kernels of `reject/enums.rs`.

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceType)]
enum Event {
    Hit { t: f32, id: u32 },
    Lost(u32),
    Miss,
}

/// All threads have the same variant, with fields that differ.
#[cluster_kernel(block = 32)]
fn of_variants(x: &[f32], out: &mut [u32], flag: bool) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let event = if flag { Event::Hit { t: x[i], id: i } } else { Event::Lost(i) };
    if let Event::Lost(at) = event {
        block.sync();
        out[i] = at;
    }
    match event {
        Event::Hit { t, .. } if t > 1.0 => out[i] += 1,
        Event::Hit { id, .. } => out[i] += id,
        Event::Lost(..) | Event::Miss => {}
    }
    let all = [event, Event::Miss];
    out[i] += (all[0] == all[1]) as u32;
}

/// A warp passes such values on.
#[cluster_kernel(block = 32)]
fn passed_on(out: &mut [u32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let rank = warp.thread_rank();
    let mine = if rank % 2 == 0 { Event::Lost(rank) } else { Event::Miss };
    let other = warp.shfl_down(mine, 1);
    out[rank] = matches!(other, Event::Lost(n) if n > 4) as u32;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<of_variants>, phalanx::Program::of::<passed_on>];
