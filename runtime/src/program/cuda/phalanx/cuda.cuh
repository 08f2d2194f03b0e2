// `cuda::` of integers: CUDA's intrinsic functions under their own names, without the underscores (CUDA Math API, Integer Intrinsics and
// SIMD Intrinsics). packed.cuh has those of packed halves. The host module of the same name says what each computes.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx::cuda {

__device__ __forceinline__ i32 dp4a(i32 a, i32 b, i32 c) { return __dp4a(a.value, b.value, c.value); }
__device__ __forceinline__ u32 dp4a(u32 a, u32 b, u32 c) { return __dp4a(a.value, b.value, c.value); }
__device__ __forceinline__ i32 dp2a_lo(i32 a, i32 b, i32 c) { return __dp2a_lo(a.value, b.value, c.value); }
__device__ __forceinline__ u32 dp2a_lo(u32 a, u32 b, u32 c) { return __dp2a_lo(a.value, b.value, c.value); }
__device__ __forceinline__ i32 dp2a_hi(i32 a, i32 b, i32 c) { return __dp2a_hi(a.value, b.value, c.value); }
__device__ __forceinline__ u32 dp2a_hi(u32 a, u32 b, u32 c) { return __dp2a_hi(a.value, b.value, c.value); }

// The instruction repeats a byte's sign where a selector's upper bit is set, which CUDA's function does not look at.
__device__ __forceinline__ u32 byte_perm(u32 x, u32 y, u32 selector) {
    return __byte_perm(x.value, y.value, selector.value & 0x7777);
}

__device__ __forceinline__ u32 funnelshift_l(u32 lo, u32 hi, u32 shift) {
    return __funnelshift_l(lo.value, hi.value, shift.value);
}
__device__ __forceinline__ u32 funnelshift_r(u32 lo, u32 hi, u32 shift) {
    return __funnelshift_r(lo.value, hi.value, shift.value);
}
__device__ __forceinline__ u32 funnelshift_lc(u32 lo, u32 hi, u32 shift) {
    return __funnelshift_lc(lo.value, hi.value, shift.value);
}
__device__ __forceinline__ u32 funnelshift_rc(u32 lo, u32 hi, u32 shift) {
    return __funnelshift_rc(lo.value, hi.value, shift.value);
}

__device__ __forceinline__ i32 mulhi(i32 x, i32 y) { return __mulhi(x.value, y.value); }
__device__ __forceinline__ u32 mulhi(u32 x, u32 y) { return __umulhi(x.value, y.value); }
__device__ __forceinline__ i64 mulhi(i64 x, i64 y) { return __mul64hi(x.value, y.value); }
__device__ __forceinline__ u64 mulhi(u64 x, u64 y) { return __umul64hi(x.value, y.value); }

__device__ __forceinline__ u32 sad(i32 x, i32 y, u32 z) { return __sad(x.value, y.value, z.value); }
__device__ __forceinline__ u32 sad(u32 x, u32 y, u32 z) { return __usad(x.value, y.value, z.value); }

// The functions of the halves and of the bytes of words.
#define PHALANX_SIMD(NAME)                                                                                             \
    __device__ __forceinline__ u32 NAME##2(u32 a, u32 b) { return __##NAME##2(a.value, b.value); }                     \
    __device__ __forceinline__ u32 NAME##4(u32 a, u32 b) { return __##NAME##4(a.value, b.value); }
PHALANX_SIMD(vadd)
PHALANX_SIMD(vsub)
PHALANX_SIMD(vaddss)
PHALANX_SIMD(vaddus)
PHALANX_SIMD(vsubss)
PHALANX_SIMD(vsubus)
PHALANX_SIMD(vmaxs)
PHALANX_SIMD(vmaxu)
PHALANX_SIMD(vmins)
PHALANX_SIMD(vminu)
PHALANX_SIMD(vabsdiffs)
PHALANX_SIMD(vabsdiffu)
PHALANX_SIMD(vavgu)
PHALANX_SIMD(vcmpeq)
PHALANX_SIMD(vcmpne)
PHALANX_SIMD(vcmpgts)
PHALANX_SIMD(vcmpgtu)
PHALANX_SIMD(vcmpges)
PHALANX_SIMD(vcmpgeu)
PHALANX_SIMD(vsads)
PHALANX_SIMD(vsadu)
#undef PHALANX_SIMD

} // namespace phalanx::cuda
