//! Measures the functions of floats that are not rounded exactly, over a grid of inputs, against results of more
//! digits. In the simulator they are the host's own; on a GPU this measures CUDA's (`device_tests --accuracy`).

use phalanx::prelude::*;
use phalanx::ulp;

use super::edges::Edges;
use crate::{Module, Outcome, check_list, kernel_list};

/// The worst error that was found for a function of one type.
#[derive(Debug, Clone)]
pub struct Found {
    /// The method's name.
    pub name: &'static str,
    /// The type: `f32` or `f64`.
    pub float: &'static str,
    /// The error in ulp.
    pub error: f64,
    /// The input with this error.
    pub input: String,
    /// The result for this input.
    pub got: f64,
}

/// Floats whose results can be compared with better ones.
trait Measured: Float + Edges + Into<f64> {
    const NAME: &'static str;
    fn random(bits: u64) -> Self;
    /// Returns the error of this result against the exact one.
    fn error(self, exact: f64) -> f64;
    /// Returns the largest error allowed.
    fn bound(error: &ulp::FunctionError) -> f64;
}

macro_rules! measured {
    ($($t:ident $field:ident $doubt:literal $shift:literal;)*) => {$(
        impl Measured for $t {
            const NAME: &'static str = stringify!($t);
            fn random(bits: u64) -> $t {
                // Half of them have any magnitude, half are between -64 and 64.
                match bits & 1 {
                    0 => $t::from_bits((bits >> $shift) as _),
                    _ => (bits >> 11) as $t * (0.5 as $t).powi(46) - 64.0,
                }
            }
            fn error(self, exact: f64) -> f64 {
                let nearest = exact as $t;
                if self == nearest || self.is_nan() && exact.is_nan() {
                    // The error is at most half an ulp, which is rounding itself.
                    return 0.0;
                }
                // Infinity counts as the successor of the largest number.
                if self.is_infinite() && nearest.is_finite() && self.is_sign_negative() == nearest.is_sign_negative() {
                    return (self.to_bits() - nearest.to_bits()) as f64;
                }
                if !self.is_finite() || !nearest.is_finite() {
                    return f64::INFINITY;
                }
                let ulp = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
                (f64::from(self) - exact).abs() / ulp
            }
            fn bound(error: &ulp::FunctionError) -> f64 {
                // Some of the error is the reference's own.
                f64::from(error.$field.documented) + $doubt
            }
        }
    )*};
}

measured! {
    f32 single 1.0 32;
    f64 double 2.0 0;
}

/// Half floats are computed in `f32`, and rounded once more.
macro_rules! measured_halves {
    ($($t:ident: $digits:literal, least exponent $least:literal;)*) => {$(
        impl Measured for $t {
            const NAME: &'static str = stringify!($t);
            fn random(bits: u64) -> $t {
                match bits & 1 {
                    0 => $t::from_bits((bits >> 48) as u16),
                    _ => $t::from_f32(f32::random(bits)),
                }
            }
            fn error(self, exact: f64) -> f64 {
                if self.is_nan() || exact.is_nan() {
                    return if self.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
                }
                // Infinity counts as the successor of the largest number.
                let before = $t::from_bits($t::MAX.to_bits() - 1).to_f64();
                let infinity = 2.0 * $t::MAX.to_f64() - before;
                let [got, exact] = [self.to_f64(), exact].map(|x| x.clamp(-infinity, infinity));
                let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
                (got - exact).abs() / 2.0_f64.powi(exponent.max($least) - ($digits - 1))
            }
            fn bound(error: &ulp::FunctionError) -> f64 {
                0.5 + f32::bound(error) * 0.5_f64.powi(24 - $digits)
            }
        }
    )*};
}

measured_halves! {
    f16: 11, least exponent -14;
    bf16: 8, least exponent -126;
}

fn inputs<T: Measured>() -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // Knuth's multiplier.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::random(state ^ state >> 29)
    };
    let mut values = T::edges();
    values.extend((0..4000).map(|_| next()));
    values
}

/// Functions of one number and of two, with the exact ones. In `f64` the standard library's own `asinh`, `acosh` and
/// `atanh` are not good enough.
macro_rules! functions {
    (
        |$x:ident| $($name:ident: $exact:expr;)*
        |$first:ident, $second:ident| $($binary:ident: $exact_binary:expr;)*
    ) => {
        const UNARY: &[(&str, fn(f64) -> f64)] = &[$((stringify!($name), |$x| $exact)),*];
        const BINARY: &[(&str, fn(f64, f64) -> f64)] = &[$((stringify!($binary), |$first, $second| $exact_binary)),*];

        #[cluster_kernel(block = 128)]
        fn unary<T: Float>(input: &[T], out: &mut [T]) {
            let i = this_grid().thread_rank();
            if i < input.len() {
                let x = input[i];
                let mut k = i * UNARY_WIDTH;
                $(
                    out[k] = x.$name();
                    k += 1;
                )*
                assert!(k == (i + 1) * UNARY_WIDTH);
            }
        }

        #[cluster_kernel(block = 128)]
        fn binary<T: Float>(a: &[T], b: &[T], out: &mut [T]) {
            let i = this_grid().thread_rank();
            if i < a.len() {
                let (x, y) = (a[i], b[i]);
                let mut k = i * BINARY_WIDTH;
                $(
                    out[k] = x.$binary(y);
                    k += 1;
                )*
                assert!(k == (i + 1) * BINARY_WIDTH);
            }
        }
    };
}

const UNARY_WIDTH: usize = UNARY.len();
const BINARY_WIDTH: usize = BINARY.len();

functions! {
    |x|
    cbrt: x.cbrt();
    rsqrt: 1.0 / x.sqrt();
    exp: x.exp();
    exp2: x.exp2();
    exp_m1: x.exp_m1();
    ln: x.ln();
    ln_1p: x.ln_1p();
    log2: x.log2();
    log10: x.log10();
    sin: x.sin();
    cos: x.cos();
    tan: x.tan();
    asin: x.asin();
    acos: x.acos();
    atan: x.atan();
    sinh: x.sinh();
    cosh: x.cosh();
    tanh: x.tanh();
    asinh: asinh(x);
    acosh: acosh(x);
    atanh: atanh(x);
    |x, y|
    powf: x.powf(y);
    atan2: x.atan2(y);
    hypot: x.hypot(y);
    log: x.ln() / y.ln();
}

fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let value = match magnitude > 1e9 {
        true => magnitude.ln() + std::f64::consts::LN_2,
        false => (magnitude + magnitude * magnitude / (1.0 + (magnitude * magnitude + 1.0).sqrt())).ln_1p(),
    };
    value.copysign(x)
}

fn acosh(x: f64) -> f64 {
    let above = x - 1.0;
    if above < 0.0 {
        return f64::NAN;
    }
    if x > 1e9 { x.ln() + std::f64::consts::LN_2 } else { (above + (above * (x + 1.0)).sqrt()).ln_1p() }
}

fn atanh(x: f64) -> f64 {
    (0.5 * (2.0 * x.abs() / (1.0 - x.abs())).ln_1p()).copysign(x)
}

fn measure_type<T: Measured>(device: &Device) -> Outcome<Vec<Found>> {
    let values = inputs::<T>();
    let second: Vec<T> = values.iter().rev().copied().collect();
    let blocks = values.len().div_ceil(128) as u32;
    let (a, b) = (device.upload(&values)?, device.upload(&second)?);
    let (mut singles, mut pairs) =
        (device.zeros(values.len() * UNARY_WIDTH)?, device.zeros(values.len() * BINARY_WIDTH)?);
    unary(&a, &mut singles).grid(blocks).launch(device)?;
    binary(&a, &b, &mut pairs).grid(blocks).launch(device)?;
    let (singles, pairs) = (singles.read()?, pairs.read()?);

    let worst = |name: &'static str, results: &mut dyn Iterator<Item = (String, T, f64)>| {
        let mut found = Found { name, float: T::NAME, error: 0.0, input: String::new(), got: 0.0 };
        for (input, got, exact) in results {
            let error = got.error(exact);
            if error > found.error {
                found = Found { error, input, got: got.into(), ..found };
            }
        }
        found
    };
    let unary = UNARY.iter().enumerate().map(|(k, (name, exact))| {
        let at = |i: usize| (format!("{:?}", values[i]), singles[i * UNARY_WIDTH + k], exact(values[i].into()));
        worst(name, &mut (0..values.len()).map(at))
    });
    let binary = BINARY.iter().enumerate().map(|(k, (name, exact))| {
        let at = |i: usize| {
            let input = format!("{:?}, {:?}", values[i], second[i]);
            (input, pairs[i * BINARY_WIDTH + k], exact(values[i].into(), second[i].into()))
        };
        worst(name, &mut (0..values.len()).map(at))
    });
    Ok(unary.chain(binary).collect())
}

/// Returns the worst error of each function, of `f32` and then of `f64`.
pub fn measure(device: &Device) -> Outcome<Vec<Found>> {
    let mut found = measure_type::<f32>(device)?;
    found.extend(measure_type::<f64>(device)?);
    Ok(found)
}

fn check<T: Measured>(device: &Device) -> Outcome {
    let mut wrong = Vec::new();
    for Found { name, float, error, input, got } in measure_type::<T>(device)? {
        let bound = ulp::FunctionError::of(name).map(T::bound).ok_or("a function without a bound")?;
        if error > bound {
            wrong.push(format!("{float}::{name}({input}) is {got:?}, off by {error:.4} ulp of {bound:.4}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n    ").into()) }
}

fn bounds_of_f32(device: &Device) -> Outcome {
    check::<f32>(device)
}

fn bounds_of_f64(device: &Device) -> Outcome {
    check::<f64>(device)
}

fn bounds_of_f16(device: &Device) -> Outcome {
    check::<f16>(device)
}

fn bounds_of_bf16(device: &Device) -> Outcome {
    check::<bf16>(device)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "accuracy",
        checks: check_list![bounds_of_f32, bounds_of_f64, bounds_of_f16, bounds_of_bf16],
        kernels: kernel_list![
            unary<f32>,
            unary<f64>,
            unary<f16>,
            unary<bf16>,
            binary<f32>,
            binary<f64>,
            binary<f16>,
            binary<bf16>
        ],
    }]
}
