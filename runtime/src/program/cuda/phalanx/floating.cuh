// `floating<Raw>`: `f32` and `f64` with Rust's operators. They follow IEEE 754 if the compiler is told not to contract
// (--fmad=false); subnormals are kept. scalar.cuh has the names and casts, math.cuh the named functions.
#pragma once
#include <phalanx/integer.cuh>

namespace phalanx {
namespace detail {

// The differences between `f32` and `f64`.
template <class Raw>
struct float_traits;
template <>
struct float_traits<float> {
    using bits_type = unsigned;
    __device__ __forceinline__ static float remainder(float a, float b) { return fmodf(a, b); }
};
template <>
struct float_traits<double> {
    using bits_type = unsigned long long;
    __device__ __forceinline__ static double remainder(double a, double b) { return fmod(a, b); }
};

} // namespace detail

template <class Raw>
struct floating {
    using traits = detail::float_traits<Raw>;
    using bits_type = typename traits::bits_type;

    Raw value;

    floating() = default;

    // Converts only literals of its own type: `0.1` is not the nearest `f32` of 0.1f after two roundings.
    template <detail::same<Raw> Literal>
    __device__ __forceinline__ constexpr floating(Literal value) : value(value) {}

    __device__ __forceinline__ static constexpr floating from_bits(integer<bits_type> bits) {
        return floating(__builtin_bit_cast(Raw, bits.value));
    }

    __device__ __forceinline__ friend constexpr floating operator+(floating a, floating b) { return floating(a.value + b.value); }
    __device__ __forceinline__ friend constexpr floating operator-(floating a, floating b) { return floating(a.value - b.value); }
    __device__ __forceinline__ friend constexpr floating operator*(floating a, floating b) { return floating(a.value * b.value); }
    __device__ __forceinline__ friend constexpr floating operator/(floating a, floating b) { return floating(a.value / b.value); }
    // Exact, with the sign of `a`.
    __device__ __forceinline__ friend floating operator%(floating a, floating b) {
        return floating(traits::remainder(a.value, b.value));
    }

    __device__ __forceinline__ constexpr floating operator-() const { return floating(-value); }

    __device__ __forceinline__ constexpr floating& operator+=(floating b) { return *this = *this + b; }
    __device__ __forceinline__ constexpr floating& operator-=(floating b) { return *this = *this - b; }
    __device__ __forceinline__ constexpr floating& operator*=(floating b) { return *this = *this * b; }
    __device__ __forceinline__ constexpr floating& operator/=(floating b) { return *this = *this / b; }
    __device__ __forceinline__ floating& operator%=(floating b) { return *this = *this % b; }

    __device__ __forceinline__ friend constexpr bool operator==(floating a, floating b) { return a.value == b.value; }
    __device__ __forceinline__ friend constexpr bool operator<(floating a, floating b) { return a.value < b.value; }
    __device__ __forceinline__ friend constexpr bool operator<=(floating a, floating b) { return a.value <= b.value; }
    __device__ __forceinline__ friend constexpr bool operator>(floating a, floating b) { return a.value > b.value; }
    __device__ __forceinline__ friend constexpr bool operator>=(floating a, floating b) { return a.value >= b.value; }
};

// Defined in half.cuh, which a text that has such floats includes.
template <class Format>
struct half_float;

// Defined in fp8.cuh, in the same way.
namespace detail {
struct e4m3_format;
struct e5m2_format;
} // namespace detail
template <class Format>
struct float8;
using e4m3 = float8<detail::e4m3_format>;
using e5m2 = float8<detail::e5m2_format>;

} // namespace phalanx
