//! The smallest and the largest value of each number type, for reductions. For floats they are the infinities.

use half::{bf16, f16};

/// The bounds of a number type, between which all its numbers lie.
pub trait Limits {
    /// The smallest value.
    const LEAST: Self;
    /// The largest value.
    const MOST: Self;
}

macro_rules! limits {
    ($least:ident $most:ident: $($t:ident)*) => {$(
        impl Limits for $t {
            const LEAST: $t = $t::$least;
            const MOST: $t = $t::$most;
        }
    )*};
}

limits!(MIN MAX: i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
limits!(NEG_INFINITY INFINITY: f32 f64 f16 bf16);
