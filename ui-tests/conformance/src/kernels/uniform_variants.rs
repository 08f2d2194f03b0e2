//! Barriers under the variant of an enum, which is uniform where its fields are not: the file shows that a variant without fields is one.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

#[derive(Clone, Copy, DeviceType)]
enum Event {
    Lost(u32),
    Miss,
}

#[cluster_kernel(block = 64)]
fn by_variant(out: &mut [u32], flag: bool) {
    let block = this_thread_block();
    let shared = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let event = if flag { Event::Lost(i * 3) } else { Event::Miss };
    match event {
        Event::Miss => out[i] = 7,
        Event::Lost(n) => {
            shared[i] = n;
            block.sync();
            out[i] = shared[63 - i];
        }
    }
}

fn check_by_variant(device: &Device) -> Outcome {
    let mut out = device.zeros(64)?;
    by_variant(&mut out, true).grid(1).launch(device)?;
    equal(&out.read()?, &Vec::from_iter((0..64).map(|i| (63 - i) * 3)))?;
    by_variant(&mut out, false).grid(1).launch(device)?;
    equal(&out.read()?, &[7; 64])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "uniform_variants", checks: check_list![check_by_variant], kernels: kernel_list![by_variant] }]
}
