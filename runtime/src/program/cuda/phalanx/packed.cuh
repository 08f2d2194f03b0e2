// `cuda::` of two packed halves, by one instruction each (PTX ISA, Half Precision Floating Point Instructions, `.f16x2` and `.bf16x2`),
// in the forms that are never contracted. half.cuh has the same operations of single ones.
#pragma once
#include <phalanx/lanes.cuh>

namespace phalanx::cuda {

#define PHALANX_PACKED(NAME, TYPE, INSTRUCTION)                                                                        \
    __device__ __forceinline__ TYPE NAME(TYPE a, TYPE b) {                                                             \
        auto bits = __builtin_bit_cast(unsigned, a);                                                                   \
        asm(INSTRUCTION " %0, %0, %1;" : "+r"(bits) : "r"(__builtin_bit_cast(unsigned, b)));                           \
        return __builtin_bit_cast(TYPE, bits);                                                                         \
    }
#define PHALANX_FUSED(TYPE, INSTRUCTION)                                                                               \
    __device__ __forceinline__ TYPE hfma2(TYPE a, TYPE b, TYPE c) {                                                    \
        auto bits = __builtin_bit_cast(unsigned, a);                                                                   \
        asm(INSTRUCTION " %0, %0, %1, %2;"                                                                             \
            : "+r"(bits)                                                                                               \
            : "r"(__builtin_bit_cast(unsigned, b)), "r"(__builtin_bit_cast(unsigned, c)));                             \
        return __builtin_bit_cast(TYPE, bits);                                                                         \
    }

PHALANX_FUSED(f16x2, "fma.rn.f16x2")
PHALANX_PACKED(hadd2, f16x2, "add.rn.f16x2")
PHALANX_PACKED(hsub2, f16x2, "sub.rn.f16x2")
PHALANX_PACKED(hmul2, f16x2, "mul.rn.f16x2")
PHALANX_PACKED(hmin2, f16x2, "min.f16x2")
PHALANX_PACKED(hmax2, f16x2, "max.f16x2")

PHALANX_FUSED(bf16x2, "fma.rn.bf16x2")
PHALANX_PACKED(hmin2, bf16x2, "min.bf16x2")
PHALANX_PACKED(hmax2, bf16x2, "max.bf16x2")
#if __CUDA_ARCH__ >= 900
PHALANX_PACKED(hadd2, bf16x2, "add.rn.bf16x2")
PHALANX_PACKED(hsub2, bf16x2, "sub.rn.bf16x2")
PHALANX_PACKED(hmul2, bf16x2, "mul.rn.bf16x2")
#else
// As for single ones, half.cuh: products by one and sums with a zero of either sign are exact.
__device__ __forceinline__ bf16x2 hadd2(bf16x2 a, bf16x2 b) {
    return hfma2(a, __builtin_bit_cast(bf16x2, 0x3f803f80), b);
}
__device__ __forceinline__ bf16x2 hsub2(bf16x2 a, bf16x2 b) {
    return hfma2(b, __builtin_bit_cast(bf16x2, 0xbf80bf80), a);
}
__device__ __forceinline__ bf16x2 hmul2(bf16x2 a, bf16x2 b) {
    return hfma2(a, b, __builtin_bit_cast(bf16x2, 0x80008000));
}
#endif

#undef PHALANX_FUSED
#undef PHALANX_PACKED

// Signs are bits, also those of NaNs.
template <class T>
__device__ __forceinline__ vector<T, 2> hneg2(vector<T, 2> a) {
    return __builtin_bit_cast(decltype(a), __builtin_bit_cast(unsigned, a) ^ 0x80008000);
}
template <class T>
__device__ __forceinline__ vector<T, 2> habs2(vector<T, 2> a) {
    return __builtin_bit_cast(decltype(a), __builtin_bit_cast(unsigned, a) & 0x7fff7fff);
}

} // namespace phalanx::cuda
