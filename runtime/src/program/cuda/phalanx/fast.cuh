// `fast::`, the hardware's approximations for `f32` (PTX ISA, the `.approx` forms; CUDA C++ Programming Guide, Mathematical Functions,
// Intrinsic Functions, whose formulas these are). Subnormal numbers count as zeros (`.ftz`), whatever the kernel's options: that is what the
// hardware does, and to preserve them takes as many instructions again. Errors are in the host module of the same name.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx::fast {

// As PTX, which the compiler moves no load behind: a load that it moves behind the branches of a division is waited for on its own.
#define PHALANX_PTX(NAME, INSTRUCTION)                                                                                 \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        float result;                                                                                                  \
        asm(INSTRUCTION " %0, %1;" : "=f"(result) : "f"(a.value));                                                     \
        return result;                                                                                                 \
    }
PHALANX_PTX(sin, "sin.approx.ftz.f32")
PHALANX_PTX(cos, "cos.approx.ftz.f32")
PHALANX_PTX(exp2, "ex2.approx.ftz.f32")
PHALANX_PTX(log2, "lg2.approx.ftz.f32")
PHALANX_PTX(recip, "rcp.approx.ftz.f32")
PHALANX_PTX(sqrt, "sqrt.approx.ftz.f32")
PHALANX_PTX(rsqrt, "rsqrt.approx.ftz.f32")
PHALANX_PTX(tanh, "tanh.approx.f32")
#undef PHALANX_PTX

__device__ __forceinline__ f32 div(f32 a, f32 b) {
    float result;
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(result) : "f"(a.value), "f"(b.value));
    return result;
}
__device__ __forceinline__ f32 tan(f32 a) {
    return sin(a) * recip(cos(a));
}
__device__ __forceinline__ f32 exp(f32 a) {
    return exp2(a * f32(1.44269504f)); // log2(e)
}
__device__ __forceinline__ f32 exp10(f32 a) {
    return exp2(a * f32(3.32192809f)); // log2(10)
}
__device__ __forceinline__ f32 ln(f32 a) {
    return log2(a) * f32(0.693147182f); // ln(2)
}
__device__ __forceinline__ f32 log10(f32 a) {
    return log2(a) * f32(0.301029995f); // log10(2)
}
__device__ __forceinline__ f32 powf(f32 a, f32 b) {
    return exp2(b * log2(a));
}

} // namespace phalanx::fast
