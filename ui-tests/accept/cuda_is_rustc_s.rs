//! A `cuda!` whose closure is typed, and has only the inputs.

use phalanx::prelude::*;

const OFFSET: u32 = 3;

#[cluster_kernel]
fn typed(x: u32, z: u32, out: &mut [u32]) {
    let y;
    unsafe { cuda!("y = x + z + 3;", in(x), in(z), out(y); else |x, z| x + z + OFFSET) }
    out[0] = y;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<typed>];
