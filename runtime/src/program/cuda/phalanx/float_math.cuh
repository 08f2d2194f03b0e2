// Rust's float methods that are exact, or rounded as Rust rounds them, so that they are the same on every machine.
// Unless noted otherwise, those of `f16` and `bf16` are those of `f32`, rounded once more.
#pragma once
#include <phalanx/math.cuh>

namespace phalanx {
namespace detail {

// The bits of a float without its sign, and those of infinity and of the smallest normal number.
struct magnitude_bits {
    unsigned long long bits, infinity, least_normal;
};
__device__ __forceinline__ constexpr magnitude_bits magnitude_of(f32 a) {
    return {__builtin_bit_cast(unsigned, a.value) & 0x7fffffffu, 0x7f800000u, 0x00800000u};
}
__device__ __forceinline__ constexpr magnitude_bits magnitude_of(f64 a) {
    return {__builtin_bit_cast(unsigned long long, a.value) & 0x7fffffffffffffffull, 0x7ff0000000000000ull,
            0x0010000000000000ull};
}
template <class Format>
__device__ __forceinline__ constexpr magnitude_bits magnitude_of(half_float<Format> a) {
    return {a.value & 0x7fffull, Format::infinity, Format::least_normal};
}

} // namespace detail

__device__ __forceinline__ constexpr u32 to_bits(f32 a) {
    return __builtin_bit_cast(unsigned, a.value);
}
__device__ __forceinline__ constexpr u64 to_bits(f64 a) {
    return __builtin_bit_cast(unsigned long long, a.value);
}
template <class Format>
__device__ __forceinline__ constexpr u16 to_bits(half_float<Format> a) {
    return a.value;
}
template <class Format>
__device__ __forceinline__ f32 to_f32(half_float<Format> a) {
    return a.wide();
}
template <class Format>
__device__ __forceinline__ f64 to_f64(half_float<Format> a) {
    return static_cast<double>(a.wide());
}

template <detail::real T>
__device__ __forceinline__ constexpr bool is_nan(T a) {
    const auto [bits, infinity, least_normal] = detail::magnitude_of(a);
    return bits > infinity;
}
template <detail::real T>
__device__ __forceinline__ constexpr bool is_infinite(T a) {
    const auto [bits, infinity, least_normal] = detail::magnitude_of(a);
    return bits == infinity;
}
template <detail::real T>
__device__ __forceinline__ constexpr bool is_finite(T a) {
    const auto [bits, infinity, least_normal] = detail::magnitude_of(a);
    return bits < infinity;
}
template <detail::real T>
__device__ __forceinline__ constexpr bool is_normal(T a) {
    const auto [bits, infinity, least_normal] = detail::magnitude_of(a);
    return least_normal <= bits && bits < infinity;
}
template <detail::real T>
__device__ __forceinline__ constexpr bool is_subnormal(T a) {
    const auto [bits, infinity, least_normal] = detail::magnitude_of(a);
    return 0 < bits && bits < least_normal;
}
// It also applies to a NaN.
template <detail::real T>
__device__ __forceinline__ constexpr bool is_sign_negative(T a) {
    return to_bits(a) >> (sizeof(T) * 8 - 1) == 1;
}
template <detail::real T>
__device__ __forceinline__ constexpr bool is_sign_positive(T a) {
    return !is_sign_negative(a);
}

__device__ __forceinline__ f32 copysign(f32 a, f32 sign) {
    return copysignf(a.value, sign.value);
}
__device__ __forceinline__ f64 copysign(f64 a, f64 sign) {
    return ::copysign(a.value, sign.value);
}
template <detail::half T>
__device__ __forceinline__ constexpr T copysign(T a, T sign) {
    return T::from_bits(static_cast<unsigned short>((a.value & 0x7fff) | (sign.value & 0x8000)));
}

// It is correctly rounded, whatever the compiler's option for square roots.
__device__ __forceinline__ f32 sqrt(f32 a) {
    return __fsqrt_rn(a.value);
}
__device__ __forceinline__ f64 sqrt(f64 a) {
    return __dsqrt_rn(a.value);
}
template <detail::half T>
__device__ __forceinline__ T sqrt(T a) {
    return T::from_f32(sqrt(f32(a.wide())));
}

// `a * b + c`, rounded once.
__device__ __forceinline__ f32 mul_add(f32 a, f32 b, f32 c) {
    return __fmaf_rn(a.value, b.value, c.value);
}
__device__ __forceinline__ f64 mul_add(f64 a, f64 b, f64 c) {
    return __fma_rn(a.value, b.value, c.value);
}
template <class Format>
__device__ __forceinline__ half_float<Format> mul_add(half_float<Format> a, half_float<Format> b, half_float<Format> c) {
    return half_float<Format>::from_bits(Format::fma(a.value, b.value, c.value));
}

template <class Raw>
__device__ __forceinline__ floating<Raw> recip(floating<Raw> a) {
    return floating<Raw>(static_cast<Raw>(1)) / a;
}
template <class Raw>
__device__ __forceinline__ floating<Raw> to_degrees(floating<Raw> a) {
    // The factors of Rust's standard library: for `f32` the decimal digits, for `f64` a quotient.
    if constexpr (sizeof(Raw) == 4) {
        return a * 57.2957795130823208767981548141051703f;
    } else {
        return a * (180.0 / 3.14159265358979323846264338327950288);
    }
}
template <class Raw>
__device__ __forceinline__ floating<Raw> to_radians(floating<Raw> a) {
    if constexpr (sizeof(Raw) == 4) {
        return a * (3.14159265358979323846264338327950288f / 180.0f);
    } else {
        return a * (3.14159265358979323846264338327950288 / 180.0);
    }
}

// By squaring, in the order of LLVM's `powi`, which Rust uses.
template <class Raw>
__device__ __forceinline__ floating<Raw> powi(floating<Raw> a, i32 exponent) {
    floating<Raw> power = static_cast<Raw>(1);
    for (i32 rest = exponent; true; a *= a) {
        if ((rest & 1) == 1) {
            power *= a;
        }
        rest = rest.value / 2;
        if (rest == 0) {
            break;
        }
    }
    return exponent < 0 ? recip(power) : power;
}
template <detail::half T>
__device__ __forceinline__ T powi(T a, i32 exponent) {
    return T::from_f32(powi(f32(a.wide()), exponent));
}

#define PHALANX_UNARY(NAME, SINGLE, DOUBLE)                                                                            \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        return SINGLE(a.value);                                                                                        \
    }                                                                                                                  \
    __device__ __forceinline__ f64 NAME(f64 a) {                                                                                \
        return DOUBLE(a.value);                                                                                        \
    }
PHALANX_UNARY(floor, floorf, ::floor)
PHALANX_UNARY(ceil, ceilf, ::ceil)
PHALANX_UNARY(trunc, truncf, ::trunc)
PHALANX_UNARY(round, roundf, ::round)
PHALANX_UNARY(round_ties_even, rintf, ::rint)
#undef PHALANX_UNARY

template <class Raw>
__device__ __forceinline__ floating<Raw> fract(floating<Raw> a) {
    return a - trunc(a);
}

#define PHALANX_UNARY(NAME)                                                                                            \
    template <class Format>                                                                                            \
    __device__ __forceinline__ half_float<Format> NAME(half_float<Format> a) {                                                  \
        return half_float<Format>::from_f32(NAME(f32(a.wide())));                                                      \
    }
PHALANX_UNARY(recip)
PHALANX_UNARY(to_degrees)
PHALANX_UNARY(to_radians)
PHALANX_UNARY(floor)
PHALANX_UNARY(ceil)
PHALANX_UNARY(trunc)
PHALANX_UNARY(round)
PHALANX_UNARY(round_ties_even)
PHALANX_UNARY(fract)
#undef PHALANX_UNARY

} // namespace phalanx
