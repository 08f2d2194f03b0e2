//! The errors of the functions of floats on a GPU, as data. A function that is not listed here is rounded correctly on
//! a GPU and on the host.
//!
//! ```
//! use phalanx::ulp::FunctionError;
//!
//! assert_eq!(FunctionError::of("sin").unwrap().single.documented, 2);
//! assert!(FunctionError::of("sqrt").is_none()); // rounded correctly
//! ```

/// The error of a function on a GPU in ulp, the distance between two neighbouring floats at the exact result.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FunctionError {
    /// The name of the method.
    pub name: &'static str,
    /// The error for `f32`.
    pub single: Bound,
    /// The error for `f64`.
    pub double: Bound,
}

/// The largest error of a function for one type.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The bound that the CUDA C++ Programming Guide gives (Mathematical Functions, Standard Functions).
    pub documented: u32,
    /// The error that `device_tests --accuracy` measured on an H100 against the host's `f64`.
    pub measured: Option<f64>,
}

macro_rules! errors {
    ($($name:ident $single:literal $(($single_measured:literal))? $double:literal $(($double_measured:literal))?;)*) => {
        &[$(FunctionError {
            name: stringify!($name),
            single: Bound { documented: $single, measured: errors!(@option $($single_measured)?) },
            double: Bound { documented: $double, measured: errors!(@option $($double_measured)?) },
        }),*]
    };
    (@option) => { None };
    (@option $value:literal) => { Some($value) };
}

/// The errors of all functions that are not rounded correctly. The guide does not mention `log`, which is a quotient of
/// two logarithms; its bound follows from theirs.
pub const ERRORS: &[FunctionError] = errors! {
    cbrt 1 (0.89) 1 (0.0);
    rsqrt 2 (1.21) 1 (1.0);
    exp 2 (1.55) 1 (1.0);
    exp2 2 (1.73) 1 (1.0);
    exp_m1 1 (1.06) 1 (1.0);
    ln 1 (0.67) 1 (0.0);
    ln_1p 1 (0.61) 1 (1.0);
    log 5 (1.96) 5 (0.0);
    log2 1 (0.64) 1 (1.0);
    log10 2 (1.63) 1 (1.0);
    powf 4 (0.77) 2 (1.0);
    sin 2 (1.37) 2 (1.0);
    cos 2 (1.36) 2 (1.0);
    tan 4 (2.3) 2 (2.0);
    asin 2 (1.21) 2 (1.0);
    acos 2 (0.75) 2 (1.0);
    atan 2 (0.9) 2 (1.0);
    atan2 3 (1.23) 2 (1.0);
    sinh 3 (1.58) 2 (2.0);
    cosh 2 (1.58) 1 (1.0);
    tanh 2 (1.59) 1 (2.0);
    asinh 3 (1.13) 3 (2.0);
    acosh 4 (0.88) 3 (1.0);
    atanh 3 (1.88) 2 (1.0);
    hypot 3 (0.75) 2 (1.0);
};

impl FunctionError {
    /// Returns the errors of the method of this name, or `None` if it is rounded correctly.
    pub fn of(name: &str) -> Option<&'static FunctionError> {
        ERRORS.iter().find(|error| error.name == name)
    }
}
