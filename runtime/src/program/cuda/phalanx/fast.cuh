// `fast::`, the hardware's approximations for `f32` (PTX ISA, the `.approx` forms; CUDA C++ Programming Guide, Mathematical Functions,
// Intrinsic Functions, whose formulas these are). Subnormal numbers count as zeros (`.ftz`), whatever the kernel's options: that is what the
// hardware does, and to preserve them takes as many instructions again. Errors are in the host module of the same name.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx::fast {

// The compiler's own functions for the instructions, between which it joins loads. It does not across PTX.
__device__ __forceinline__ f32 sin(f32 a) { return __nvvm_sin_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 cos(f32 a) { return __nvvm_cos_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 exp2(f32 a) { return __nvvm_ex2_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 log2(f32 a) { return __nvvm_lg2_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 sqrt(f32 a) { return __nvvm_sqrt_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 rsqrt(f32 a) { return __nvvm_rsqrt_approx_ftz_f(a.value); }
__device__ __forceinline__ f32 div(f32 a, f32 b) { return __nvvm_div_approx_ftz_f(a.value, b.value); }

// It has none for these.
#define PHALANX_PTX(NAME, INSTRUCTION)                                                                                 \
    __device__ __forceinline__ f32 NAME(f32 a) {                                                                                \
        float result;                                                                                                  \
        asm(INSTRUCTION " %0, %1;" : "=f"(result) : "f"(a.value));                                                     \
        return result;                                                                                                 \
    }
PHALANX_PTX(recip, "rcp.approx.ftz.f32")
PHALANX_PTX(tanh, "tanh.approx.f32")
#undef PHALANX_PTX

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
