//! Functions of numbers that there are not, and numbers of arguments.

use phalanx::prelude::*;

#[cluster_kernel]
fn functions(x: f32, n: u32, h: f16) {
    x.gamma();
    x.powf();
    n.saturating_add();
    f32::gamma(x);
    f32::max(x);
    u64::from(n, n);
    f16::from_i32(3);
    f32::from_bits();
    fast::sin();
    fast::powf(x);
    let half = 1.5_f16;
}

fn main() {}
