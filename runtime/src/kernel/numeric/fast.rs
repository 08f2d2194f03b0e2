//! The hardware's approximations of `f32` functions, which take a few instructions where `x.sin()` takes dozens. A
//! kernel calls them by their path, `fast::sin(x)`. The simulator computes the accurate functions instead.
//!
//! The errors are those of the CUDA C++ Programming Guide, Mathematical Functions, Intrinsic Functions, and of the PTX
//! ISA for the instructions that CUDA C++ has no name for. An ulp is the distance between two neighbouring `f32`s. Subnormal operands and
//! results are zeros, as of the instructions with `.ftz`, but for `tanh`: what the hardware does of itself.

macro_rules! fast {
    ($($(#[$doc:meta])* $name:ident($($x:ident),*) = $value:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($x: f32),*) -> f32 {
            $(let $x = flushed($x);)*
            flushed($value)
        }
    )*};
}

/// Returns zero, of the same sign, for a subnormal number.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

fast! {
    /// The sine: off by 2^-21.41 at most between -π and π, and by more outside. `__sinf`.
    sin(x) = x.sin();
    /// The cosine: off by 2^-21.19 at most between -π and π, and by more outside. `__cosf`.
    cos(x) = x.cos();
    /// The tangent, as the quotient of [`sin`] and [`cos`]. `__tanf`.
    tan(x) = x.tan();
    /// e to the power of `x`: off by 2 + ⌊1.173 |x|⌋ ulp at most. `__expf`.
    exp(x) = x.exp();
    /// 2 to the power of `x`: relative error of 2^-22 at most. `ex2.approx.f32`.
    exp2(x) = x.exp2();
    /// 10 to the power of `x`: off by 2 + ⌊2.97 |x|⌋ ulp at most. `__exp10f`.
    exp10(x) = 10.0_f64.powf(x.into()) as f32;
    /// The natural logarithm: off by 2^-21.41 at most between 0.5 and 2, elsewhere by 3 ulp. `__logf`.
    ln(x) = x.ln();
    /// The logarithm to base 2: off by 2^-22 at most between 0.5 and 2, elsewhere by 2 ulp. `__log2f`.
    log2(x) = x.log2();
    /// The logarithm to base 10: off by 2^-24 at most between 0.5 and 2, elsewhere by 3 ulp. `__log10f`.
    log10(x) = x.log10();
    /// `x` to the power of `y`, as [`exp2`] of `y` times [`log2`] of `x`. `__powf`.
    powf(x, y) = x.powf(y);
    /// `x / y`: off by 2 ulp at most where `y` is between 2^-126 and 2^126; beyond 2^126 it is 0 (or NaN, of an
    /// infinite `x`). `__fdividef`.
    div(x, y) = x / y;
    /// `1 / x`: off by 1 ulp at most. `rcp.approx.f32`.
    recip(x) = x.recip();
    /// The square root: relative error of 2^-23 at most. `sqrt.approx.f32`.
    sqrt(x) = x.sqrt();
    /// `1 / x.sqrt()`: relative error of 2^-22.9 at most. `rsqrt.approx.f32`.
    rsqrt(x) = (1.0 / f64::from(x).sqrt()) as f32;
}

/// The hyperbolic tangent: relative error of 2^-11 at most. `tanh.approx.f32`.
#[inline]
pub fn tanh(x: f32) -> f32 {
    x.tanh()
}
