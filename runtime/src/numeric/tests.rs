//! Edges of the integer types against `std`'s wrapping methods, and failures.

use super::*;
use crate::failure::Cause;
use crate::program::template::Scalar;
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
        let failure = run("test", &shape, &Simulator::new(), body).unwrap_err();
        assert_eq!(failure.cause, cause);
        assert!(failure.location.is_some_and(|location| location.file.ends_with("numeric/tests.rs")));
    };
    check(Cause::DivisionByZero { dividend: Scalar::Signed(7, "i32") }, &|| _ = div(7, 0));
    check(Cause::DivisionByZero { dividend: Scalar::Unsigned(8, "u8") }, &|| _ = rem(8_u8, 0));
    check(Cause::DivisionByZero { dividend: Scalar::Signed(7, "i64") }, &|| _ = wrapping_rem(7_i64, 0));
    check(Cause::DivisionOverflow { dividend: Scalar::Signed(-128, "i8") }, &|| _ = div(i8::MIN, -1));
    check(Cause::DivisionOverflow { dividend: Scalar::Signed(i64::MIN.into(), "i64") }, &|| _ = rem(i64::MIN, -1));
}
