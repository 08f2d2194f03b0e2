// What the compiler of CUDA C++ has built in, as far as the values of the kernel language need it, for the host's compiler.
// A kernel runs as one thread. Not here: groups, barriers, atomics, half floats.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __shared__
#define __noinline__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __ldg(place) (*(place))
#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_trap())
#endif

// Inline PTX disappears, `asm("...")` as well as `asm volatile("...")`: nothing needs it but failures, whose end throws.
#define asm shim_asm
#define shim_asm(...) shim_asm
#define volatile(...)
inline int shim_asm;
#define __builtin_unreachable() throw shim::failed{}

#ifndef __clang__
#define __builtin_COLUMN() 0
#endif

namespace shim {

// Thrown in place of the thread's end.
struct failed {};

// The hardware's conversions: toward zero, clamped, and of NaN the value that PTX gives.
template <class To, class From>
inline To clamped(From from, To least, To most) {
    if (from != from) {
        return 0;
    }
    const From bound = std::ldexp(From(1), sizeof(To) * 8 - (least != 0));
    return from >= bound ? most : from < (least == 0 ? From(0) : -bound) ? least : static_cast<To>(from);
}

} // namespace shim

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    unsigned x, y, z, w;
};
struct dim3 {
    unsigned x, y, z;
};
inline dim3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

template <class T>
    requires(std::is_arithmetic_v<T>)
inline T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
    requires(std::is_arithmetic_v<T>)
inline T max(T a, T b) {
    return a < b ? b : a;
}
inline int __any_sync(unsigned, int holds) { return holds; }
inline unsigned atomicExch(unsigned*, unsigned) { return 0; }
inline unsigned long long __cvta_generic_to_shared(const void* place) { return reinterpret_cast<uintptr_t>(place); }
inline unsigned long long __cvta_generic_to_global(const void* place) { return reinterpret_cast<uintptr_t>(place); }

inline int __float2int_rz(float a) { return shim::clamped<int>(a, INT32_MIN, INT32_MAX); }
inline unsigned __float2uint_rz(float a) { return shim::clamped<unsigned>(a, 0, UINT32_MAX); }
inline long long __float2ll_rz(float a) { return shim::clamped<long long>(a, INT64_MIN, INT64_MAX); }
inline unsigned long long __float2ull_rz(float a) { return shim::clamped<unsigned long long>(a, 0, UINT64_MAX); }
inline float __double2float_rz(double a) {
    const float nearest = static_cast<float>(a);
    return std::fabs(static_cast<double>(nearest)) > std::fabs(a) ? std::nextafterf(nearest, 0.0f) : nearest;
}
inline int __double2int_rz(double a) { return shim::clamped<int>(a, INT32_MIN, INT32_MAX); }
inline unsigned __double2uint_rz(double a) { return shim::clamped<unsigned>(a, 0, UINT32_MAX); }
inline long long __double2ll_rz(double a) { return shim::clamped<long long>(a, INT64_MIN, INT64_MAX); }
inline unsigned long long __double2ull_rz(double a) { return shim::clamped<unsigned long long>(a, 0, UINT64_MAX); }

inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(a); }
inline int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline unsigned long long __brevll(unsigned long long a) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) {
        reversed |= (a >> bit & 1) << (63 - bit);
    }
    return reversed;
}
inline unsigned __brev(unsigned a) { return static_cast<unsigned>(__brevll(a) >> 32); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
    unsigned chosen = 0;
    for (int byte = 0; byte < 4; ++byte) {
        chosen |= static_cast<unsigned>(bytes >> (selector >> byte * 4 & 7) * 8 & 255) << byte * 8;
    }
    return chosen;
}

inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
