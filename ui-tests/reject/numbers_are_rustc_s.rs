//! rustc checks which number has which function, in the user's source.

use phalanx::prelude::*;

mod other {
    pub mod fast {
        pub fn sin(x: f32) -> f32 {
            x
        }
    }
}

#[cluster_kernel]
fn types(x: f32, y: f64, n: u32, i: i32, wide: i64, h: f16, out: &mut [f32]) {
    n.floor();
    x.count_ones();
    i.is_power_of_two();
    n.unsigned_abs();
    x.powf(y);
    i.pow(i);
    n.max(wide);
    f32::from_bits(wide);
    f32::from_f32(x);
    fast::sin(y);
    other::fast::sin(x);
    out[0] = h as f32;
    out[1] = h + x;
}

fn main() {}
