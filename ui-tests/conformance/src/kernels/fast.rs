//! The functions of `fast`, compared with the errors that their documents promise.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list};

/// A bound that holds if one of its parts does.
struct Bound {
    name: &'static str,
    exact: fn(f64, f64) -> f64,
    absolute: f64,
    relative: f64,
}

/// The exact function of each, with its absolute and its relative error, for `x` between -π and π and `y` between 0.1 and 4.
macro_rules! functions {
    (
        |$x:ident, $y:ident|
        $($name:ident($($argument:ident),*): $exact:expr, $absolute:expr, $relative:expr;)*
    ) => {
        #[cluster_kernel(block = 128)]
        fn approximate(a: &[f32], b: &[f32], out: &mut [f32]) {
            let i = this_grid().thread_rank();
            if i < a.len() {
                let $x = a[i];
                let $y = b[i];
                let mut k = i * WIDTH;
                $(
                    out[k] = fast::$name($($argument),*);
                    k += 1;
                )*
                assert!($x < $y + 4.0 && k > 0);
            }
        }

        /// Some errors grow with `x`.
        #[allow(unused_variables, reason = "most functions have one argument")]
        fn bounds($x: f64) -> Vec<Bound> {
            vec![$(Bound {
                name: stringify!($name),
                exact: |$x: f64, $y: f64| $exact,
                absolute: $absolute,
                relative: $relative,
            }),*]
        }

        const WIDTH: usize = [$(stringify!($name)),*].len();
    };
}

/// An ulp as a fraction of a number, at most.
const ULP: f64 = 1.0 / 8_388_608.0;

functions! {
    |x, y|
    sin(x): x.sin(), 0.5_f64.powf(21.41), 0.0;
    cos(x): x.cos(), 0.5_f64.powf(21.19), 0.0;
    tan(x): x.tan(), 1e-6 + 2e-6 * x.tan().powi(2), 1e-6;
    exp(x): x.exp(), 0.0, (2.0 + (1.173 * x.abs()).floor() + 0.5) * ULP;
    exp2(x): x.exp2(), 0.0, 0.5_f64.powi(21);
    exp10(x): 10.0_f64.powf(x), 0.0, (2.0 + (2.97 * x.abs()).floor() + 0.5) * ULP;
    ln(y): y.ln(), 0.5_f64.powf(21.41), 3.5 * ULP;
    log2(y): y.log2(), 0.5_f64.powi(22), 2.5 * ULP;
    log10(y): y.log10(), 0.5_f64.powi(24), 3.5 * ULP;
    powf(y, x): y.powf(x), 0.0, 3e-6;
    div(x, y): x / y, 0.0, 2.5 * ULP;
    recip(y): 1.0 / y, 0.0, 1.5 * ULP;
    sqrt(y): y.sqrt(), 0.0, 1.5 * ULP;
    rsqrt(y): 1.0 / y.sqrt(), 0.0, 0.5_f64.powf(22.4);
    tanh(x): x.tanh(), 0.0, 0.5_f64.powf(10.9);
}

fn keep_their_bounds(device: &Device) -> Outcome {
    let a: Vec<f32> = (0..2048).map(|i| (i as f32 - 1023.5) / 1024.0 * std::f32::consts::PI).collect();
    let b: Vec<f32> = (0..2048).map(|i| 0.1 + 3.9 * ((i * 641) % 2048) as f32 / 2048.0).collect();
    let mut out = device.zeros(a.len() * WIDTH)?;
    approximate(&device.upload(&a)?, &device.upload(&b)?, &mut out).grid(16).launch(device)?;
    let mut wrong = Vec::new();
    for (i, got) in out.read()?.chunks(WIDTH).enumerate() {
        let (x, y) = (f64::from(a[i]), f64::from(b[i]));
        for (Bound { name, exact, absolute, relative }, &got) in bounds(x).into_iter().zip(got) {
            let exact = exact(x, y);
            let error = (f64::from(got) - exact).abs();
            if !(error <= absolute || error <= relative * exact.abs()) {
                wrong.push(format!("fast::{name} at {x}, {y}: {got:?}, exactly {exact:?}"));
            }
        }
    }
    match wrong.len() {
        0 => Ok(()),
        count => Err(format!("{count} are off\n    {}", wrong[..count.min(8)].join("\n    ")).into()),
    }
}

/// What subnormal operands and results count as.
#[cluster_kernel(block = 1)]
fn subnormal(least: f32, out: &mut [f32]) {
    out[0] = fast::exp2(-130.0);
    out[1] = fast::exp(-90.0);
    out[2] = fast::ln(least);
    out[3] = fast::log2(least);
    out[4] = fast::recip(least);
    out[5] = fast::sqrt(least);
    out[6] = fast::rsqrt(least);
    out[7] = fast::div(least, 0.5);
    out[8] = fast::sin(-least);
    out[9] = fast::powf(least, 2.0);
}

fn count_subnormals_as_zeros(device: &Device) -> Outcome {
    let (zero, infinity) = (0.0, f32::INFINITY);
    let mut out = device.zeros(10)?;
    subnormal(1e-40, &mut out).grid(1).launch(device)?;
    let expected = [zero, zero, -infinity, -infinity, infinity, zero, infinity, zero, -zero, zero];
    let found = out.read()?;
    match found.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits()) {
        true => Ok(()),
        false => Err(format!("{found:?} is not {expected:?}").into()),
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "fast",
        checks: check_list![keep_their_bounds, count_subnormals_as_zeros],
        kernels: kernel_list![approximate, subnormal],
    }]
}
