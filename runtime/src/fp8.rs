//! The floats of 8 bits, `e4m3` and `e5m2` (OCP 8-bit Floating Point Specification): values that memory and tensor cores hold.
//! They convert, and have no arithmetic of their own, as on the hardware. The device's implementation is `fp8.cuh`.

use std::fmt;

use half::{bf16, f16};

/// The parameters of a format.
struct Format {
    /// The number of bits after the point.
    fraction: u32,
    /// The exponent of the least normal number.
    least_exponent: i32,
    /// The bits of the largest number.
    most: u8,
}

const E4M3: Format = Format { fraction: 3, least_exponent: -6, most: 0x7e };
const E5M2: Format = Format { fraction: 2, least_exponent: -14, most: 0x7b };

/// The NaN that conversions give.
const NAN: u8 = 0x7f;

impl Format {
    /// Returns the bits of the number nearest to `value`, the even one of two. What is larger than all numbers becomes the largest, an
    /// infinity too (PTX ISA, cvt.rn.satfinite).
    fn narrow(&self, value: f64) -> u8 {
        if value.is_nan() {
            return NAN;
        }
        let (sign, size) = (u8::from(value.is_sign_negative()) << 7, value.abs());
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(self.least_exponent);
        // Counted in units of the last place, which a power of two scales to without rounding.
        let units = (size * 2f64.powi(self.fraction as i32 - exponent)).round_ties_even();
        // A number of units that carries into the next exponent has that one's bits.
        let bits = f64::from((exponent - self.least_exponent) << self.fraction) + units;
        sign | bits.min(self.most.into()) as u8
    }

    /// Returns the value of a number's bits, which are those of no infinity and no NaN.
    fn widen(&self, bits: u8) -> f32 {
        let (field, fraction) = (i32::from(bits & 0x7f) >> self.fraction, bits & ((1 << self.fraction) - 1));
        let hidden = if field == 0 { 0 } else { 1 << self.fraction };
        let units = f32::from(hidden + fraction);
        let size = units * 2f32.powi(self.least_exponent + (field - 1).max(0) - self.fraction as i32);
        if bits & 0x80 == 0 { size } else { -size }
    }
}

macro_rules! floats {
    ($($(#[$doc:meta])* $t:ident: $format:ident, infinite $infinite:expr, nan $nan:expr;)*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types, reason = "named as the other scalars")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $t(u8);

        impl $t {
            /// Zero.
            pub const ZERO: $t = $t(0);
            /// The largest number.
            pub const MAX: $t = $t($format.most);
            /// The smallest number, which is negative.
            pub const MIN: $t = $t($format.most | 0x80);
            /// A value that is no number.
            pub const NAN: $t = $t(NAN);

            /// Returns the value of these bits.
            #[inline]
            pub const fn from_bits(bits: u8) -> $t {
                $t(bits)
            }

            /// Returns the bits.
            #[inline]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Rounds to nearest, ties to even. What is out of range, an infinity too, becomes the largest number of its sign.
            #[inline]
            pub fn from_f32(value: f32) -> $t {
                $t($format.narrow(value.into()))
            }

            /// Rounds to nearest, ties to even, once. What is out of range, an infinity too, becomes the largest number of its sign.
            #[inline]
            pub fn from_f64(value: f64) -> $t {
                $t($format.narrow(value))
            }

            /// Returns the value, which `f32` represents.
            #[inline]
            pub fn to_f32(self) -> f32 {
                let infinite: fn(u8) -> bool = $infinite;
                let sign = if self.0 & 0x80 == 0 { 1.0 } else { -1.0 };
                match self.is_nan() {
                    true => f32::NAN.copysign(sign),
                    false if infinite(self.0 & 0x7f) => f32::INFINITY.copysign(sign),
                    false => $format.widen(self.0),
                }
            }

            /// Returns the value, which `f64` represents.
            #[inline]
            pub fn to_f64(self) -> f64 {
                self.to_f32().into()
            }

            /// Returns whether this is no number.
            #[inline]
            pub fn is_nan(self) -> bool {
                let nan: fn(u8) -> bool = $nan;
                nan(self.0 & 0x7f)
            }

            /// Returns the byte of the value.
            #[inline]
            pub const fn to_ne_bytes(self) -> [u8; 1] {
                [self.0]
            }

            /// Returns the value of a byte.
            #[inline]
            pub const fn from_ne_bytes(bytes: [u8; 1]) -> $t {
                $t(bytes[0])
            }
        }

        impl PartialEq for $t {
            #[inline]
            fn eq(&self, other: &$t) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $t {
            #[inline]
            fn partial_cmp(&self, other: &$t) -> Option<std::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$t> for f32 {
            #[inline]
            fn from(value: $t) -> f32 {
                value.to_f32()
            }
        }

        impl From<$t> for f64 {
            #[inline]
            fn from(value: $t) -> f64 {
                value.to_f64()
            }
        }

        impl From<$t> for f16 {
            #[inline]
            fn from(value: $t) -> f16 {
                f16::from_f32(value.to_f32())
            }
        }

        impl From<$t> for bf16 {
            #[inline]
            fn from(value: $t) -> bf16 {
                bf16::from_f32(value.to_f32())
            }
        }
    )*};
}

floats! {
    /// A float of 8 bits with 4 of the exponent and 3 after the point: up to 448, from 2^-9 on. It has a NaN of either sign, and no
    /// infinities.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// /// Scales and rounds.
    /// #[cluster_kernel(block = 32)]
    /// fn quantize(input: &[f32], scale: f32, out: &mut [e4m3]) {
    ///     let i = this_grid().thread_rank();
    ///     out[i] = e4m3::from_f32(input[i] * scale);
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let mut out = device.upload(&[e4m3::ZERO; 32])?;
    /// quantize(&device.upload(&[1.06; 32])?, 2.0, &mut out).grid(1).launch(&device)?;
    /// assert_eq!(out.read()?, [e4m3::from_f32(2.0); 32]); // the next one is 2.25
    /// # Ok(())
    /// # }
    /// ```
    e4m3: E4M3, infinite |_| false, nan |size| size == 0x7f;
    /// A float of 8 bits with 5 of the exponent and 2 after the point, the upper byte of an `f16`: up to 57,344, from 2^-16 on. It has
    /// infinities, which no conversion gives.
    e5m2: E5M2, infinite |size| size == 0x7c, nan |size| size > 0x7c;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the specification says that the bits of a number are worth, in units of the least subnormal number.
    fn units(bits: u8, fraction: u32) -> u64 {
        let (exponent, rest) = (u32::from(bits) >> fraction, u64::from(bits) & ((1 << fraction) - 1));
        match exponent {
            0 => rest,
            exponent => (rest + (1 << fraction)) << (exponent - 1),
        }
    }

    #[test]
    fn all_codes_are_those_of_the_specification() {
        for bits in 0..=u8::MAX {
            let (size, sign) = (bits & 0x7f, if bits < 0x80 { 1.0 } else { -1.0 });
            let same = |got: f32, want: f32| got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            let want = if size == 0x7f { f32::NAN } else { sign * units(size, 3) as f32 / 512.0 };
            assert!(same(e4m3::from_bits(bits).to_f32(), want), "{bits:#x}: {want}");
            let upper = f16::from_bits(u16::from(bits) << 8).to_f32();
            assert!(same(e5m2::from_bits(bits).to_f32(), upper), "{bits:#x}: {upper}");
            let want = sign * units(size, 2) as f32 / 65536.0;
            assert!(size >= 0x7c || same(upper, want), "{bits:#x}: {want}");
        }
    }

    /// The bits of the nearest number by a search of all, the even one of two.
    fn nearest(value: f64, fraction: u32, unit: f64, most: u8) -> Option<u8> {
        // Distances from what is far out of range would be rounded to the same one.
        let size = value.abs().min(1e9);
        let distance = |bits: u8| (units(bits, fraction) as f64 * unit - size).abs();
        let best = (0..=most).reduce(|best, bits| match distance(bits).total_cmp(&distance(best)) {
            std::cmp::Ordering::Less => bits,
            std::cmp::Ordering::Equal if bits % 2 == 0 => bits,
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => best,
        });
        best.filter(|_| !value.is_nan()).map(|best| best | u8::from(value.is_sign_negative()) << 7)
    }

    #[test]
    fn all_halves_are_rounded_to_the_nearest() {
        let halves = (0..=u16::MAX).flat_map(|bits| [f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32()]);
        for value in halves {
            let want = nearest(value.into(), 3, 2f64.powi(-9), 0x7e).unwrap_or(NAN);
            assert_eq!(e4m3::from_f32(value).to_bits(), want, "{value}");
            let want = nearest(value.into(), 2, 2f64.powi(-16), 0x7b).unwrap_or(NAN);
            assert_eq!(e5m2::from_f32(value).to_bits(), want, "{value}");
        }
    }

    #[test]
    fn what_lies_beside_a_tie_is_rounded_once() {
        for bits in 0..0x7e {
            let tie = (e4m3::from_bits(bits).to_f64() + e4m3::from_bits(bits + 1).to_f64()) / 2.0;
            let even = bits + bits % 2;
            let got = [tie, tie.next_down(), tie.next_up()].map(|value| e4m3::from_f64(value).to_bits());
            assert_eq!(got, [even, bits, bits + 1].map(|bits| bits.min(0x7e)), "{tie}");
        }
        assert_eq!(e5m2::from_f64(1e300), e5m2::MAX);
        assert!(e5m2::from_f64(f64::NAN).is_nan());
        assert_eq!(e4m3::from_f64(-f64::MIN_POSITIVE).to_bits(), 0x80);
    }
}
