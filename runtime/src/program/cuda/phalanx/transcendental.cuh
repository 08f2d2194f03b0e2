// Rust's float methods that the CUDA math library implements, with its errors (CUDA C++ Programming Guide, Mathematical
// Functions). Those of `f16` and `bf16` are those of `f32`, rounded once more.
#pragma once
#include <phalanx/math.cuh>

namespace phalanx {

#define PHALANX_UNARY(NAME, SINGLE, DOUBLE)                                                                            \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        return SINGLE(a.value);                                                                                        \
    }                                                                                                                  \
    __device__ __forceinline__ f64 NAME(f64 a) {                                                                                \
        return DOUBLE(a.value);                                                                                        \
    }
#define PHALANX_BINARY(NAME, SINGLE, DOUBLE)                                                                           \
    __device__ __forceinline__ f32 NAME(f32 a, f32 b) {                                                                         \
        return SINGLE(a.value, b.value);                                                                               \
    }                                                                                                                  \
    __device__ __forceinline__ f64 NAME(f64 a, f64 b) {                                                                         \
        return DOUBLE(a.value, b.value);                                                                               \
    }
PHALANX_UNARY(cbrt, cbrtf, ::cbrt)
PHALANX_UNARY(rsqrt, rsqrtf, ::rsqrt)
PHALANX_UNARY(exp, expf, ::exp)
PHALANX_UNARY(exp2, exp2f, ::exp2)
PHALANX_UNARY(exp_m1, expm1f, ::expm1)
PHALANX_UNARY(ln, logf, ::log)
PHALANX_UNARY(ln_1p, log1pf, ::log1p)
PHALANX_UNARY(log2, log2f, ::log2)
PHALANX_UNARY(log10, log10f, ::log10)
PHALANX_UNARY(sin, sinf, ::sin)
PHALANX_UNARY(cos, cosf, ::cos)
PHALANX_UNARY(tan, tanf, ::tan)
PHALANX_UNARY(asin, asinf, ::asin)
PHALANX_UNARY(acos, acosf, ::acos)
PHALANX_UNARY(atan, atanf, ::atan)
PHALANX_UNARY(sinh, sinhf, ::sinh)
PHALANX_UNARY(cosh, coshf, ::cosh)
PHALANX_UNARY(tanh, tanhf, ::tanh)
PHALANX_UNARY(asinh, asinhf, ::asinh)
PHALANX_UNARY(acosh, acoshf, ::acosh)
PHALANX_UNARY(atanh, atanhf, ::atanh)
PHALANX_BINARY(powf, ::powf, ::pow)
PHALANX_BINARY(atan2, atan2f, ::atan2)
PHALANX_BINARY(hypot, hypotf, ::hypot)
#undef PHALANX_UNARY
#undef PHALANX_BINARY

// Computed as in Rust: two logarithms and a quotient.
template <class Raw>
__device__ __forceinline__ floating<Raw> log(floating<Raw> a, floating<Raw> base) {
    return ln(a) / ln(base);
}

#define PHALANX_UNARY(NAME)                                                                                            \
    template <class Format>                                                                                            \
    __device__ __forceinline__ half_float<Format> NAME(half_float<Format> a) {                                                  \
        return half_float<Format>::from_f32(NAME(f32(a.wide())));                                                      \
    }
#define PHALANX_BINARY(NAME)                                                                                           \
    template <class Format>                                                                                            \
    __device__ __forceinline__ half_float<Format> NAME(half_float<Format> a, half_float<Format> b) {                            \
        return half_float<Format>::from_f32(NAME(f32(a.wide()), f32(b.wide())));                                       \
    }
PHALANX_UNARY(cbrt)
PHALANX_UNARY(rsqrt)
PHALANX_UNARY(exp)
PHALANX_UNARY(exp2)
PHALANX_UNARY(exp_m1)
PHALANX_UNARY(ln)
PHALANX_UNARY(ln_1p)
PHALANX_UNARY(log2)
PHALANX_UNARY(log10)
PHALANX_UNARY(sin)
PHALANX_UNARY(cos)
PHALANX_UNARY(tan)
PHALANX_UNARY(asin)
PHALANX_UNARY(acos)
PHALANX_UNARY(atan)
PHALANX_UNARY(sinh)
PHALANX_UNARY(cosh)
PHALANX_UNARY(tanh)
PHALANX_UNARY(asinh)
PHALANX_UNARY(acosh)
PHALANX_UNARY(atanh)
PHALANX_BINARY(powf)
PHALANX_BINARY(atan2)
PHALANX_BINARY(hypot)
PHALANX_BINARY(log)
#undef PHALANX_UNARY
#undef PHALANX_BINARY

} // namespace phalanx
