// `e4m3` and `e5m2`, the floats of 8 bits, which convert and compare, and have no arithmetic. A conversion to them rounds once and
// saturates (PTX ISA, cvt.rn.satfinite.e4m3x2); `f16` represents all of them. They need compute capability 8.9.
#pragma once
#include <phalanx/half.cuh>

namespace phalanx {
namespace detail {

// The instructions convert two values at once, of which one is used.
#define PHALANX_FP8(FORMAT, TYPE)                                                                                      \
    struct FORMAT {                                                                                                    \
        __device__ __forceinline__ static unsigned char narrow(float a) {                                              \
            unsigned short pair;                                                                                       \
            asm("cvt.rn.satfinite." TYPE "x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(a));                       \
            return static_cast<unsigned char>(pair);                                                                   \
        }                                                                                                              \
        __device__ __forceinline__ static constexpr float widen(unsigned char a) {                                     \
            float wide;                                                                                                \
            asm("{ .reg .b32 pair; .reg .b16 low, high; cvt.rn.f16x2." TYPE "x2 pair, %1; "                            \
                "mov.b32 {low, high}, pair; cvt.f32.f16 %0, low; }"                                                    \
                : "=f"(wide)                                                                                           \
                : "h"(static_cast<unsigned short>(a)));                                                                \
            return wide;                                                                                               \
        }                                                                                                              \
    };
PHALANX_FP8(e4m3_format, "e4m3")
PHALANX_FP8(e5m2_format, "e5m2")
#undef PHALANX_FP8

} // namespace detail

template <class Format>
struct float8 {
    unsigned char value; // its bits

    float8() = default;

    __device__ __forceinline__ static constexpr float8 from_bits(integer<unsigned char> bits) {
        float8 made;
        made.value = bits.value;
        return made;
    }
    __device__ __forceinline__ static float8 from_f32(floating<float> a) { return from_bits(Format::narrow(a.value)); }
    // Of the two nearest `f32`s, the odd one is rounded as the value itself would be.
    __device__ __forceinline__ static float8 from_f64(floating<double> a) {
        const float toward_zero = __double2float_rz(a.value);
        const bool is_exact = static_cast<double>(toward_zero) == a.value || a.value != a.value;
        const unsigned bits = __builtin_bit_cast(unsigned, toward_zero) | (is_exact ? 0u : 1u);
        return from_bits(Format::narrow(__builtin_bit_cast(float, bits)));
    }

    __device__ __forceinline__ constexpr float wide() const { return Format::widen(value); }

    __device__ __forceinline__ friend constexpr bool operator==(float8 a, float8 b) { return a.wide() == b.wide(); }
    __device__ __forceinline__ friend constexpr bool operator<(float8 a, float8 b) { return a.wide() < b.wide(); }
    __device__ __forceinline__ friend constexpr bool operator<=(float8 a, float8 b) { return a.wide() <= b.wide(); }
    __device__ __forceinline__ friend constexpr bool operator>(float8 a, float8 b) { return a.wide() > b.wide(); }
    __device__ __forceinline__ friend constexpr bool operator>=(float8 a, float8 b) { return a.wide() >= b.wide(); }
};

template <class Format>
__device__ __forceinline__ constexpr u8 to_bits(float8<Format> a) {
    return a.value;
}
template <class Format>
__device__ __forceinline__ f32 to_f32(float8<Format> a) {
    return a.wide();
}
template <class Format>
__device__ __forceinline__ f64 to_f64(float8<Format> a) {
    return static_cast<double>(a.wide());
}

namespace detail {

template <class Format>
__device__ __forceinline__ float raw_value(float8<Format> value) {
    return value.wide();
}

} // namespace detail
} // namespace phalanx
