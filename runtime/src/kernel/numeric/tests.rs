//! Edges of the integer types against `std`'s wrapping methods, and failures.

use ::half::{bf16, f16};

use super::*;
use crate::report::failure::Cause;
use crate::scalar::Scalar;
use crate::shape::Shape;
use crate::sim::{Simulator, run};

macro_rules! edges {
    ($($name:ident: $t:ident;)*) => {$(
        #[test]
        fn $name() {
            let mut values = vec![$t::MIN, $t::MIN + 1, 0, 1, 2, 3, 7, $t::MAX / 2, $t::MAX - 1, $t::MAX];
            values.extend((0..$t::BITS).map(|bit| $t::MAX.rotate_left(bit) ^ 5));
            for &a in &values {
                for &b in &values {
                    assert_eq!(add(a, b), a.wrapping_add(b));
                    assert_eq!(sub(a, b), a.wrapping_sub(b));
                    assert_eq!(mul(a, b), a.wrapping_mul(b));
                    assert_eq!((min(a, b), max(a, b)), (a.min(b), a.max(b)));
                    assert_eq!(shl(a, b), a.wrapping_shl(b as u32));
                    assert_eq!(shr(a, b), a.wrapping_shr(b as u32));
                    if b != 0 {
                        assert_eq!((wrapping_div(a, b), wrapping_rem(a, b)), (a.wrapping_div(b), a.wrapping_rem(b)));
                    }
                    if let Some(quotient) = a.checked_div(b) {
                        assert_eq!((div(a, b), rem(a, b)), (quotient, a % b));
                    }
                }
                for n in [0, 1, 5, 31, 32, 33, 64, 127, 128, u32::MAX] {
                    assert_eq!((shl(a, n), shr(a, n)), (a.wrapping_shl(n), a.wrapping_shr(n)));
                    assert_eq!((wrapping_shl(a, n), wrapping_shr(a, n)), (a.wrapping_shl(n), a.wrapping_shr(n)));
                    assert_eq!((rotate_left(a, n), rotate_right(a, n)), (a.rotate_left(n), a.rotate_right(n)));
                    assert_eq!(wrapping_pow(a, n), a.wrapping_pow(n));
                }
                assert_eq!(wrapping_neg(a), a.wrapping_neg());
                assert_eq!((count_ones(a), count_zeros(a)), (a.count_ones(), a.count_zeros()));
                assert_eq!((leading_zeros(a), trailing_zeros(a)), (a.leading_zeros(), a.trailing_zeros()));
            }
        }
    )*};
}

edges! {
    edges_of_i8: i8;
    edges_of_u8: u8;
    edges_of_i16: i16;
    edges_of_u16: u16;
    edges_of_i32: i32;
    edges_of_u32: u32;
    edges_of_i64: i64;
    edges_of_u64: u64;
    edges_of_i128: i128;
    edges_of_u128: u128;
    edges_of_isize: isize;
    edges_of_usize: usize;
}

#[test]
fn signs() {
    assert_eq!((neg(i8::MIN), abs(i8::MIN), wrapping_abs(-5_i64)), (i8::MIN, i8::MIN, 5));
    assert_eq!((neg(0.0_f32).to_bits(), abs(-0.0_f64).to_bits()), (0x8000_0000, 0));
    assert_eq!(shl(1_u8, -1_i8), 0x80);
}

#[test]
fn floats() {
    assert_eq!((min(f32::NAN, 1.0), max(2.0, f64::NAN)), (1.0, 2.0));
    assert_eq!((rem(-7.5_f64, 2.0), div(1.0_f32, 0.0)), (-1.5, f32::INFINITY));
    assert_eq!((sqrt(2.25_f64), mul_add(0.1_f64, 10.0, -1.0)), (1.5, 0.1_f64.mul_add(10.0, -1.0)));
}

#[test]
fn divisions_without_a_result() {
    let shape = Shape { grid: 1.into(), cluster: 1.into(), block: 1.into(), dynamic_shared_bytes: 0 };
    let check = |cause: Cause, body: &(dyn Fn() + Send + Sync)| {
        let failure = run("test", &shape, &Simulator::new(), body).1.unwrap_err();
        assert_eq!(failure.cause, cause);
        assert!(failure.location.is_some_and(|location| location.file.ends_with("numeric/tests.rs")));
    };
    check(Cause::DivisionByZero { dividend: Scalar::Signed(7, "i32") }, &|| _ = div(7, 0));
    check(Cause::DivisionByZero { dividend: Scalar::Unsigned(8, "u8") }, &|| _ = rem(8_u8, 0));
    check(Cause::DivisionByZero { dividend: Scalar::Signed(7, "i64") }, &|| _ = wrapping_rem(7_i64, 0));
    check(Cause::DivisionOverflow { dividend: Scalar::Signed(-128, "i8") }, &|| _ = div(i8::MIN, -1));
    check(Cause::DivisionOverflow { dividend: Scalar::Signed(i64::MIN.into(), "i64") }, &|| _ = rem(i64::MIN, -1));
}

#[test]
fn halves_are_fused_once() {
    let value = |x: f16| (x.to_f64() * 2f64.powi(24)) as i128;
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f16::from_bits((state >> 40) as u16)
    };
    let mut checked = 0;
    while checked < 200_000 {
        let (a, b, c) = (next(), next(), next());
        let got = mul_add(a, b, c);
        if !got.is_finite() || got.to_bits() & 0x7fff == 0 {
            continue;
        }
        // In units of 2^-48 all of this is whole.
        let exact = value(a) * value(b) + (value(c) << 24);
        let distance = |bits: u16| (exact - (value(f16::from_bits(bits)) << 24)).abs();
        let bits = got.to_bits();
        for neighbour in [bits - 1, bits + 1] {
            let (own, other) = (distance(bits), distance(neighbour));
            let is_finite = f16::from_bits(neighbour).is_finite();
            assert!(!is_finite || own < other || own == other && bits & 1 == 0, "{a:?} * {b:?} + {c:?} is not {got:?}");
        }
        checked += 1;
    }
}

#[test]
fn halves_of_f64_are_rounded_once() {
    let tie = 1.0 + 2f64.powi(-11);
    let halves: Vec<f16> =
        [tie, tie.next_up(), tie.next_down(), 65520.0, 65519.99, 2f64.powi(-25)].map(from_f64).to_vec();
    let want = [1.0, 1.0 + 2f32.powi(-10), 1.0, f32::INFINITY, 65504.0, 0.0];
    assert_eq!(halves, want.map(f16::from_f32));
    let tie = 1.0 + 2f64.powi(-8);
    assert_eq!(
        [tie, tie.next_up(), -tie.next_up()].map(from_f64::<bf16>).map(bf16::to_f32),
        [1.0, 1.0078125, -1.0078125]
    );
    assert!(from_f64::<f16>(f64::NAN).is_nan() && from_f64::<bf16>(1e300) == bf16::INFINITY);
}

#[test]
fn powers_are_those_of_llvm() {
    for n in [-130, -64, -3, -1, 0, 1, 2, 7, 10, 31, 127, i32::MIN, i32::MAX] {
        for x in [0.0_f64, -1.0, 0.1, 1.000_001, -3.7, 1e-200, f64::INFINITY] {
            assert_eq!(powi(x, n).to_bits(), std::hint::black_box(x).powi(n).to_bits(), "{x:?} to the power of {n}");
        }
    }
}
