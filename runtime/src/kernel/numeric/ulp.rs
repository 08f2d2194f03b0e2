//! How far the device's functions of floats may be from the exact result: data for documents and tests. What is not here
//! is rounded once, everywhere.

/// The error of a function on the device, in ulp: the distance between two neighbouring floats at the exact result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Error {
    /// The method's name.
    pub name: &'static str,
    /// Of `f32`.
    pub single: Bound,
    /// Of `f64`.
    pub double: Bound,
}

/// The largest error of one function of one type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// By the CUDA C++ Programming Guide, Mathematical Functions, Standard Functions.
    pub documented: u32,
    /// As `device_tests --accuracy` found it on an H100, against the host's `f64`.
    pub measured: Option<f64>,
}

macro_rules! errors {
    ($($name:ident $single:literal $(($single_measured:literal))? $double:literal $(($double_measured:literal))?;)*) => {
        &[$(Error {
            name: stringify!($name),
            single: Bound { documented: $single, measured: errors!(@option $($single_measured)?) },
            double: Bound { documented: $double, measured: errors!(@option $($double_measured)?) },
        }),*]
    };
    (@option) => { None };
    (@option $value:literal) => { Some($value) };
}

/// Every function that is not rounded exactly. Of `log`, which is a quotient of two logarithms, the guide says nothing:
/// its bound follows from theirs.
pub const ERRORS: &[Error] = errors! {
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

impl Error {
    /// Of the method of this name.
    pub fn of(name: &str) -> Option<&'static Error> {
        ERRORS.iter().find(|error| error.name == name)
    }
}
