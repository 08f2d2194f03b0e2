//! The numeric functions that kernels have: methods, functions of a scalar type, `fast::` and `cuda::`. Data only. In the host
//! body they are functions of `phalanx::__private`, `phalanx::fast` and `phalanx::cuda`, in the text functions of the same name.

/// A method of a value: `x.min(y)` is `min(x, y)` in both texts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ValueMethod {
    pub(crate) name: &'static str,
    /// The number of arguments beside the receiver.
    pub(crate) arguments: usize,
    /// The prelude's header that defines it.
    pub(crate) header: &'static str,
    /// The message with which it can fail at run time; an empty one is the failure's own.
    pub(crate) fails: Option<&'static str>,
}

impl ValueMethod {
    /// Whether the method keeps a number within bounds, and the prelude also has it for the values of a loop (interval.cuh).
    pub(crate) fn bounds(&self) -> bool {
        matches!(self.name, "min" | "max" | "saturating_sub")
    }

    pub(crate) fn by_name(name: &str) -> Option<&'static ValueMethod> {
        let known = VALUE_METHODS.iter();
        #[cfg(test)]
        let known = known.chain(&crate::tests::made_up::VALUE_METHODS);
        known.into_iter().find(|method| method.name == name)
    }
}

/// A function of a scalar type, called by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarFunction {
    /// `u64::from(x)`: a cast between scalars.
    From,
    /// `u8::try_from(x)` of integers, as an option.
    CheckedFrom,
    /// `f32::from_bits(x)`, which has the same path in the text.
    Constructor(&'static str),
    /// `T::default()`: zero, also of a type parameter.
    Default,
    /// `f32::max(x, y)`
    Method(&'static ValueMethod),
}

impl ScalarFunction {
    pub(crate) fn by_name(name: &str) -> Option<ScalarFunction> {
        let constructor = CONSTRUCTORS.into_iter().find(|constructor| *constructor == name);
        match name {
            "from" => Some(ScalarFunction::From),
            "default" => Some(ScalarFunction::Default),
            _ => constructor
                .map(ScalarFunction::Constructor)
                .or_else(|| ValueMethod::by_name(name).map(ScalarFunction::Method)),
        }
    }

    /// Returns the number of arguments.
    pub(crate) fn arguments(self) -> usize {
        match self {
            ScalarFunction::Default => 0,
            ScalarFunction::From | ScalarFunction::CheckedFrom | ScalarFunction::Constructor(_) => 1,
            ScalarFunction::Method(method) => method.arguments + 1,
        }
    }
}

/// The functions that make a float.
const CONSTRUCTORS: [&str; 3] = ["from_bits", "from_f32", "from_f64"];

/// A function of `phalanx::fast`, of `phalanx::cuda` or of `std::cmp`, called by its path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Intrinsic {
    /// The name of the module, here and in the text.
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    pub(crate) arguments: usize,
    /// The prelude's header that defines it.
    pub(crate) header: &'static str,
}

impl Intrinsic {
    /// Whether it is a function of Rust's library, which takes all values that are ordered.
    pub(crate) fn is_of_rust(&self) -> bool {
        self.module == "cmp"
    }

    pub(crate) fn by_name(module: &str, name: &str) -> Option<&'static Intrinsic> {
        INTRINSICS.iter().find(|function| function.module == module && function.name == name)
    }

    /// Whether its value depends on its operands alone. A timer has none, and another value for each thread and each time.
    pub(crate) fn is_pure(&self) -> bool {
        self.arguments > 0
    }
}

/// Lists functions with the number of their arguments, by module and header.
macro_rules! intrinsics {
    ($($module:literal, $header:literal => $($name:ident $arguments:literal),*;)*) => {
        &[$($(
            Intrinsic { module: $module, name: stringify!($name), arguments: $arguments, header: $header }
        ),*),*]
    };
}

static INTRINSICS: &[Intrinsic] = intrinsics! {
    "fast", "fast.cuh" =>
        sin 1, cos 1, tan 1, exp 1, exp2 1, exp10 1, ln 1, log2 1, log10 1, powf 2, div 2, recip 1, sqrt 1, rsqrt 1, tanh 1;
    "cuda", "cuda.cuh" =>
        dp4a 3, dp2a_lo 3, dp2a_hi 3, byte_perm 3, funnelshift_l 3, funnelshift_r 3, funnelshift_lc 3, funnelshift_rc 3,
        mulhi 2, sad 3,
        vadd2 2, vadd4 2, vsub2 2, vsub4 2, vaddss2 2, vaddss4 2, vaddus2 2, vaddus4 2, vsubss2 2, vsubss4 2, vsubus2 2,
        vsubus4 2, vmaxs2 2, vmaxs4 2, vmaxu2 2, vmaxu4 2, vmins2 2, vmins4 2, vminu2 2, vminu4 2, vabsdiffs2 2,
        vabsdiffs4 2, vabsdiffu2 2, vabsdiffu4 2, vavgu2 2, vavgu4 2, vcmpeq2 2, vcmpeq4 2, vcmpne2 2, vcmpne4 2,
        vcmpgts2 2, vcmpgts4 2, vcmpgtu2 2, vcmpgtu4 2, vcmpges2 2, vcmpges4 2, vcmpgeu2 2, vcmpgeu4 2, vsads2 2,
        vsads4 2, vsadu2 2, vsadu4 2;
    "cmp", "math.cuh" =>
        min 2, max 2;
    "cuda", "packed.cuh" =>
        hadd2 2, hsub2 2, hmul2 2, hfma2 3, hmin2 2, hmax2 2, hneg2 1, habs2 1;
    "cuda", "timer.cuh" =>
        clock64 0, globaltimer 0;
};

/// Lists names with the number of their arguments. Each section states the header of its methods and the message with
/// which they fail, or that they never do.
macro_rules! methods {
    ($($header:literal, $fails:expr => $($name:ident $arguments:literal),*;)*) => {
        &[$($(ValueMethod { name: stringify!($name), arguments: $arguments, header: $header, fails: $fails }),*),*]
    };
}

const NEVER: Option<&str> = None;
/// The message of a division is the failure's own.
const DIVISION: Option<&str> = Some("");
const BOUNDS: Option<&str> = Some("assertion failed: min <= max");
const LOGARITHM: Option<&str> = Some("argument of integer logarithm must be positive");
const ROOT: Option<&str> = Some("argument of integer square root cannot be negative");

pub(crate) static VALUE_METHODS: &[ValueMethod] = methods! {
    "math.cuh", NEVER =>
        min 1, max 1, abs 0, signum 0;
    "math.cuh", BOUNDS =>
        clamp 2;
    "math.cuh", DIVISION =>
        div_euclid 1, rem_euclid 1;
    "wrapping.cuh", NEVER =>
        wrapping_add 1, wrapping_sub 1, wrapping_mul 1, wrapping_neg 0, wrapping_abs 0, wrapping_shl 1, wrapping_shr 1,
        wrapping_pow 1, wrapping_add_signed 1, wrapping_add_unsigned 1, wrapping_sub_unsigned 1, pow 1,
        saturating_add 1, saturating_sub 1, saturating_mul 1, saturating_neg 0, saturating_abs 0, saturating_pow 1,
        saturating_add_signed 1, saturating_add_unsigned 1, saturating_sub_unsigned 1;
    "wrapping.cuh", DIVISION =>
        wrapping_div 1, wrapping_rem 1, wrapping_div_euclid 1, wrapping_rem_euclid 1, saturating_div 1;
    "checked.cuh", NEVER =>
        checked_add 1, checked_sub 1, checked_mul 1, checked_div 1, checked_rem 1, checked_div_euclid 1,
        checked_rem_euclid 1, checked_neg 0, checked_abs 0, checked_shl 1, checked_shr 1, checked_pow 1,
        checked_ilog2 0, checked_ilog10 0, checked_isqrt 0, checked_next_power_of_two 0, checked_next_multiple_of 1,
        checked_add_signed 1, checked_add_unsigned 1, checked_sub_unsigned 1, overflowing_add 1, overflowing_sub 1,
        overflowing_mul 1, overflowing_neg 0, overflowing_abs 0, overflowing_shl 1, overflowing_shr 1, overflowing_pow 1,
        overflowing_add_signed 1, overflowing_add_unsigned 1, overflowing_sub_unsigned 1;
    "checked.cuh", DIVISION =>
        overflowing_div 1, overflowing_rem 1, overflowing_div_euclid 1, overflowing_rem_euclid 1;
    "bits.cuh", NEVER =>
        count_ones 0, count_zeros 0, leading_zeros 0, trailing_zeros 0, leading_ones 0, trailing_ones 0, rotate_left 1,
        rotate_right 1, reverse_bits 0, swap_bytes 0, to_be 0, to_le 0, cast_signed 0, cast_unsigned 0, unsigned_abs 0,
        abs_diff 1, is_positive 0, is_negative 0, midpoint 1, is_power_of_two 0, is_multiple_of 1,
        next_power_of_two 0;
    "bits.cuh", DIVISION =>
        div_ceil 1, next_multiple_of 1;
    "bits.cuh", LOGARITHM =>
        ilog2 0, ilog10 0;
    "bits.cuh", ROOT =>
        isqrt 0;
    "float_math.cuh", NEVER =>
        to_bits 0, to_f32 0, to_f64 0, is_nan 0, is_infinite 0, is_finite 0, is_normal 0, is_subnormal 0,
        is_sign_positive 0, is_sign_negative 0, copysign 1, sqrt 0, mul_add 2, recip 0, to_degrees 0, to_radians 0,
        powi 1, floor 0, ceil 0, round 0, round_ties_even 0, trunc 0, fract 0;
    "transcendental.cuh", NEVER =>
        cbrt 0, rsqrt 0, exp 0, exp2 0, exp_m1 0, ln 0, ln_1p 0, log 1, log2 0, log10 0, powf 1, sin 0, cos 0, tan 0,
        asin 0, acos 0, atan 0, atan2 1, sinh 0, cosh 0, tanh 0, asinh 0, acosh 0, atanh 0, hypot 1;
    "sin_cos.cuh", NEVER =>
        sin_cos 0;
};
