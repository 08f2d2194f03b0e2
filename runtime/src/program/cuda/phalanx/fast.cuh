// `fast::`, the hardware's approximations for `f32` (CUDA C++ Programming Guide, Mathematical Functions, Intrinsic
// Functions; PTX ISA, the `.approx` forms). Their errors are in the host module of the same name.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx::fast {

#define PHALANX_UNARY(NAME, INTRINSIC)                                                                                 \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        return INTRINSIC(a.value);                                                                                     \
    }
#define PHALANX_BINARY(NAME, INTRINSIC)                                                                                \
    __device__ __forceinline__ f32 NAME(f32 a, f32 b) {                                                                         \
        return INTRINSIC(a.value, b.value);                                                                            \
    }
#define PHALANX_PTX(NAME, INSTRUCTION)                                                                                 \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        float result;                                                                                                  \
        asm(INSTRUCTION " %0, %1;" : "=f"(result) : "f"(a.value));                                                     \
        return result;                                                                                                 \
    }
// With `fast_math`, subnormal numbers are zeros here, too.
#if __CUDA_FTZ
#define PHALANX_ROUGH(INSTRUCTION) INSTRUCTION ".approx.ftz.f32"
#else
#define PHALANX_ROUGH(INSTRUCTION) INSTRUCTION ".approx.f32"
#endif
PHALANX_UNARY(sin, __sinf)
PHALANX_UNARY(cos, __cosf)
PHALANX_UNARY(tan, __tanf)
PHALANX_UNARY(exp, __expf)
PHALANX_UNARY(exp10, __exp10f)
PHALANX_UNARY(ln, __logf)
PHALANX_UNARY(log2, __log2f)
PHALANX_UNARY(log10, __log10f)
PHALANX_BINARY(powf, __powf)
PHALANX_BINARY(div, __fdividef)
PHALANX_PTX(exp2, PHALANX_ROUGH("ex2"))
PHALANX_PTX(recip, PHALANX_ROUGH("rcp"))
PHALANX_PTX(sqrt, PHALANX_ROUGH("sqrt"))
PHALANX_PTX(rsqrt, PHALANX_ROUGH("rsqrt"))
PHALANX_PTX(tanh, "tanh.approx.f32")
#undef PHALANX_UNARY
#undef PHALANX_BINARY
#undef PHALANX_PTX
#undef PHALANX_ROUGH

} // namespace phalanx::fast
