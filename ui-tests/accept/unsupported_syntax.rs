//! The supported forms that replace unsupported syntax.

use phalanx::prelude::*;

const LIMIT: u32 = 4;

#[cluster_kernel]
fn syntax(output: &mut [u32], n: u32) {
    const STEP: usize = 2;
    if n == 0 {
        output[0] = LIMIT;
    } else if n > u32::MAX - 1 {
        output[0] = 2;
    }
    for i in (0..output.len()).rev().step_by(STEP) {
        output[i] = i as u32;
    }
    let mut x;
    {
        let y = 3;
        x = y;
    }
    x += 1;
    let _ = x;
    let old = output.atomic(0).compare_exchange(0, x, Relaxed, Relaxed);
    if let Err(seen) = old {
        output[1] = seen;
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<syntax>];
