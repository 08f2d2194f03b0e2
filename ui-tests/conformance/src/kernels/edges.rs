//! The edge values of arithmetic: ends of each type, powers of two around the widths of the others, and for floats
//! zeros, subnormals, halves, the last integers of each precision, infinities and NaNs. It decides nothing about what
//! the results must be.

use phalanx::{bf16, f16};

/// A type with its edges.
pub(super) trait Edges: Sized + Copy {
    /// Returns the edges without repetition.
    fn edges() -> Vec<Self>;
}

/// Returns every pair of edges that is wanted.
pub(super) fn pairs<A: Edges, B: Edges>(wanted: fn(A, B) -> bool) -> (Vec<A>, Vec<B>) {
    let all = A::edges().into_iter().flat_map(|a| B::edges().into_iter().map(move |b| (a, b)));
    all.filter(|&(a, b)| wanted(a, b)).unzip()
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Edges for $t {
            fn edges() -> Vec<$t> {
                let mut values = vec![$t::MIN, $t::MIN + 1, $t::MIN + 2, $t::MAX - 1, $t::MAX, $t::MAX / 2, $t::MAX / 3];
                let powers = [7, 8, 15, 16, 24, 31, 32, 53, 63, 64, 127].map(|bit| 1i128.wrapping_shl(bit));
                let around = powers.into_iter().flat_map(|power| [-1, 0, 1].map(|more| power.wrapping_add(more)));
                let small = [0, 1, 2, 3, 5, 7, 10, 33, 100, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef];
                for value in small.into_iter().chain(around) {
                    values.extend($t::try_from(value).ok());
                    values.extend($t::try_from(value.wrapping_neg()).ok());
                }
                values.sort_unstable();
                values.dedup();
                values
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! floats {
    ($($t:ident, $bits:ident;)*) => {$(
        impl Edges for $t {
            fn edges() -> Vec<$t> {
                let one_ulp = |value: $t| [value.next_down(), value, value.next_up()];
                let mut values = vec![0.0, $t::from_bits(1), $t::MIN_POSITIVE.next_down(), $t::MIN_POSITIVE];
                values.extend([$t::EPSILON, 0.1, 0.3, 0.5, 0.5 + $t::EPSILON, 1.0, 1.5, 2.5, 3.5, 1.0 / 3.0, 7.0, 1e10, 1e30]);
                for power in [7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64, 127] {
                    values.extend(one_ulp((2.0 as $t).powi(power)));
                }
                // Values that round to f32's infinity, and to its smallest numbers.
                values.extend([$t::MAX, $t::INFINITY, 126.5, 127.5, 255.5, 32767.5, 65535.5, 16_777_217.0]);
                values.extend(one_ulp(f32::MAX as $t));
                values.extend(one_ulp(f32::MIN_POSITIVE as $t));
                values.extend(values.clone().into_iter().map(|value| -value));
                values.push($t::NAN);
                values.push(-$t::NAN);
                let mut seen = std::collections::BTreeSet::<$bits>::new();
                values.retain(|value| seen.insert(value.to_bits()));
                values
            }
        }
    )*};
}

floats! {
    f32, u32;
    f64, u64;
}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Edges for $t {
            fn edges() -> Vec<$t> {
                let mut bits: Vec<u16> = vec![0, 1, 2, 0x7fff, 0x7c01, 0x7e00, 0x7f81, 0x7fc0];
                bits.extend([$t::MIN_POSITIVE, $t::EPSILON, $t::ONE, $t::MAX, $t::INFINITY, $t::PI].map($t::to_bits));
                bits.extend([0.1, 0.5, 1.5, 2.5, 3.0, 7.0, 2048.0, 2049.0, 1e-3, 1e-5, 1e4, 60000.0].map(|v| $t::from_f32(v).to_bits()));
                let around = bits.clone().into_iter().flat_map(|bits| [bits.wrapping_sub(1) & 0x7fff, bits + 1 & 0x7fff]);
                bits.extend(around.collect::<Vec<_>>());
                bits.extend(bits.clone().into_iter().map(|bits| bits | 0x8000));
                bits.sort_unstable();
                bits.dedup();
                bits.into_iter().map($t::from_bits).collect()
            }
        }
    )*};
}

halves!(f16 bf16);

impl Edges for bool {
    fn edges() -> Vec<bool> {
        vec![false, true]
    }
}
