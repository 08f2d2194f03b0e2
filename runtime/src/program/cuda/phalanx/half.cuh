// `half_float<Format>`: `f16` and `bf16` with the operators of Rust's `half` crate, each rounded once. Arithmetic is
// PTX's own (PTX ISA, Half Precision Floating Point Instructions), in the forms that are never contracted; what PTX
// lacks goes through `f32`, where a second rounding changes nothing, since `f32` has more than twice the digits plus
// two. Subnormals are kept. float_math.cuh has the named functions.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

// An operation on two numbers.
#define PHALANX_OPERATION(NAME, INSTRUCTION)                                                                           \
    __device__ __forceinline__ static unsigned short NAME(unsigned short a, unsigned short b) {                        \
        asm(INSTRUCTION " %0, %0, %1;" : "+h"(a) : "h"(b));                                                            \
        return a;                                                                                                      \
    }

// Whether two numbers compare in a way, by one instruction for what would be two conversions and a comparison.
#define PHALANX_COMPARISON(NAME, TYPE)                                                                                 \
    __device__ __forceinline__ static bool NAME(unsigned short a, unsigned short b) {                                  \
        unsigned holds;                                                                                                \
        asm("{.reg .pred p; setp." #NAME "." TYPE " p, %1, %2; selp.u32 %0, 1, 0, p;}"                                 \
            : "=r"(holds)                                                                                              \
            : "h"(a), "h"(b));                                                                                         \
        return holds != 0;                                                                                             \
    }
#define PHALANX_COMPARISONS(TYPE)                                                                                      \
    PHALANX_COMPARISON(eq, TYPE)                                                                                       \
    PHALANX_COMPARISON(lt, TYPE)                                                                                       \
    PHALANX_COMPARISON(le, TYPE)                                                                                       \
    PHALANX_COMPARISON(gt, TYPE)                                                                                       \
    PHALANX_COMPARISON(ge, TYPE)

// The differences between `f16` and `bf16`.
struct binary16 {
    enum : unsigned { infinity = 0x7c00, least_normal = 0x0400 };

    __device__ __forceinline__ static constexpr float widen(unsigned short a) {
        float wide;
        asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(a));
        return wide;
    }
    __device__ __forceinline__ static unsigned short narrow(float a) {
        unsigned short bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(a));
        return bits;
    }
    __device__ __forceinline__ static unsigned short narrow(double a) {
        unsigned short bits;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(a));
        return bits;
    }
    PHALANX_OPERATION(add, "add.rn.f16")
    PHALANX_OPERATION(sub, "sub.rn.f16")
    PHALANX_OPERATION(mul, "mul.rn.f16")
    __device__ __forceinline__ static unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
        asm("fma.rn.f16 %0, %0, %1, %2;" : "+h"(a) : "h"(b), "h"(c));
        return a;
    }
    PHALANX_OPERATION(min, "min.f16")
    PHALANX_OPERATION(max, "max.f16")
    PHALANX_COMPARISONS("f16")
};
struct brain16 {
    enum : unsigned { infinity = 0x7f80, least_normal = 0x0080 };

    __device__ __forceinline__ static constexpr float widen(unsigned short a) { return __builtin_bit_cast(float, static_cast<unsigned>(a) << 16); }
    __device__ __forceinline__ static unsigned short narrow(float a) {
        unsigned short bits;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a));
        return bits;
    }
#if __CUDA_ARCH__ >= 900
    __device__ __forceinline__ static unsigned short narrow(double a) {
        unsigned short bits;
        asm("cvt.rn.bf16.f64 %0, %1;" : "=h"(bits) : "d"(a));
        return bits;
    }
    PHALANX_OPERATION(add, "add.rn.bf16")
    PHALANX_OPERATION(sub, "sub.rn.bf16")
    PHALANX_OPERATION(mul, "mul.rn.bf16")
    PHALANX_COMPARISONS("bf16")
#else
    // Older GPUs have no more than the fused operation, which is exact in its product by one, and in its sum with a zero that changes no
    // sign. A `double` is rounded to odd on its way.
    __device__ __forceinline__ static unsigned short narrow(double a) {
        const float toward_zero = __double2float_rz(a);
        const unsigned is_inexact = static_cast<double>(toward_zero) != a && a == a;
        return narrow(__builtin_bit_cast(float, __builtin_bit_cast(unsigned, toward_zero) | is_inexact));
    }
    __device__ __forceinline__ static unsigned short add(unsigned short a, unsigned short b) { return fma(a, 0x3f80, b); }
    __device__ __forceinline__ static unsigned short sub(unsigned short a, unsigned short b) { return fma(b, 0xbf80, a); }
    __device__ __forceinline__ static unsigned short mul(unsigned short a, unsigned short b) { return fma(a, b, 0x8000); }
    __device__ __forceinline__ static bool eq(unsigned short a, unsigned short b) { return widen(a) == widen(b); }
    __device__ __forceinline__ static bool lt(unsigned short a, unsigned short b) { return widen(a) < widen(b); }
    __device__ __forceinline__ static bool le(unsigned short a, unsigned short b) { return widen(a) <= widen(b); }
    __device__ __forceinline__ static bool gt(unsigned short a, unsigned short b) { return widen(a) > widen(b); }
    __device__ __forceinline__ static bool ge(unsigned short a, unsigned short b) { return widen(a) >= widen(b); }
#endif
    __device__ __forceinline__ static unsigned short fma(unsigned short a, unsigned short b, unsigned short c) {
        asm("fma.rn.bf16 %0, %0, %1, %2;" : "+h"(a) : "h"(b), "h"(c));
        return a;
    }
    PHALANX_OPERATION(min, "min.bf16")
    PHALANX_OPERATION(max, "max.bf16")
};

#undef PHALANX_COMPARISONS
#undef PHALANX_COMPARISON
#undef PHALANX_OPERATION

} // namespace detail

template <class Format>
struct half_float {
    using format = Format;

    unsigned short value; // its bits

    half_float() = default;

    __device__ __forceinline__ static constexpr half_float from_bits(integer<unsigned short> bits) {
        half_float made;
        made.value = bits.value;
        return made;
    }
    __device__ __forceinline__ static half_float from_f32(floating<float> a) { return from_bits(Format::narrow(a.value)); }
    __device__ __forceinline__ static half_float from_f64(floating<double> a) { return from_bits(Format::narrow(a.value)); }

    __device__ __forceinline__ constexpr float wide() const { return Format::widen(value); }

    __device__ __forceinline__ friend half_float operator+(half_float a, half_float b) { return from_bits(Format::add(a.value, b.value)); }
    __device__ __forceinline__ friend half_float operator-(half_float a, half_float b) { return from_bits(Format::sub(a.value, b.value)); }
    __device__ __forceinline__ friend half_float operator*(half_float a, half_float b) { return from_bits(Format::mul(a.value, b.value)); }
    __device__ __forceinline__ friend half_float operator/(half_float a, half_float b) {
        return from_bits(Format::narrow(__fdiv_rn(a.wide(), b.wide())));
    }
    // Exact, with the sign of `a`.
    __device__ __forceinline__ friend half_float operator%(half_float a, half_float b) {
        return from_bits(Format::narrow(fmodf(a.wide(), b.wide())));
    }

    __device__ __forceinline__ constexpr half_float operator-() const { return from_bits(static_cast<unsigned short>(value ^ 0x8000)); }

    __device__ __forceinline__ half_float& operator+=(half_float b) { return *this = *this + b; }
    __device__ __forceinline__ half_float& operator-=(half_float b) { return *this = *this - b; }
    __device__ __forceinline__ half_float& operator*=(half_float b) { return *this = *this * b; }
    __device__ __forceinline__ half_float& operator/=(half_float b) { return *this = *this / b; }
    __device__ __forceinline__ half_float& operator%=(half_float b) { return *this = *this % b; }

    __device__ __forceinline__ friend bool operator==(half_float a, half_float b) { return Format::eq(a.value, b.value); }
    __device__ __forceinline__ friend bool operator<(half_float a, half_float b) { return Format::lt(a.value, b.value); }
    __device__ __forceinline__ friend bool operator<=(half_float a, half_float b) { return Format::le(a.value, b.value); }
    __device__ __forceinline__ friend bool operator>(half_float a, half_float b) { return Format::gt(a.value, b.value); }
    __device__ __forceinline__ friend bool operator>=(half_float a, half_float b) { return Format::ge(a.value, b.value); }
};

using f16 = half_float<detail::binary16>;
using bf16 = half_float<detail::brain16>;

namespace detail {

template <class Format>
__device__ __forceinline__ float raw_value(half_float<Format> value) {
    return value.wide();
}
// Converts an integer of eight bits, which every float represents exactly. Rust has no other lossless conversion to
// them.
template <class Format>
struct cast<half_float<Format>> {
    template <class From>
    __device__ __forceinline__ static half_float<Format> of(From from) {
        return half_float<Format>::from_f32(static_cast<float>(from));
    }
};

// The bits of a value, for reductions (operator.cuh).
template <class T>
struct limits;
template <class Format>
struct limits<half_float<Format>> {
    __device__ __forceinline__ static constexpr half_float<Format> zero() { return half_float<Format>::from_bits(0); }
    __device__ __forceinline__ static constexpr half_float<Format> least() { return half_float<Format>::from_bits(Format::infinity | 0x8000); }
    __device__ __forceinline__ static constexpr half_float<Format> most() { return half_float<Format>::from_bits(unsigned(Format::infinity)); }
};

} // namespace detail
} // namespace phalanx
