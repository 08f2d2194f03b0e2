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

// What a compiler knows is its own affair: nothing may depend on its answer.
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 5
#define __builtin_constant_p(...) shim::perhaps()

#ifndef __clang__
#define __builtin_COLUMN() 0
#endif

namespace shim {

inline bool perhaps() {
    static unsigned answers = 1;
    answers = answers * 1664525 + 1013904223;
    return answers >> 31;
}

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

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __sad(int a, int b, unsigned c) { return c + (a < b ? unsigned(b) - unsigned(a) : unsigned(a) - unsigned(b)); }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a < b ? b - a : a - b); }

namespace shim {

// The sum of products of parts of two words: `A` of the first from its lowest on, `B` of the second from this one on.
template <class A, class B, class Word>
inline Word dot(Word a, Word b, Word sum, int first = 0) {
    auto total = static_cast<unsigned>(sum);
    for (int part = 0; part < int(sizeof(Word) / sizeof(A)); ++part) {
        const auto left = static_cast<A>(static_cast<unsigned>(a) >> part * sizeof(A) * 8);
        const auto right = static_cast<B>(static_cast<unsigned>(b) >> (first + part) * sizeof(B) * 8);
        total += static_cast<unsigned>(left * right);
    }
    return static_cast<Word>(total);
}

// A word of parts, each made of those of two words.
template <class Part, class Value>
inline unsigned parts(unsigned a, unsigned b, Value value) {
    unsigned word = 0;
    for (unsigned at = 0; at < 32; at += sizeof(Part) * 8) {
        const auto part = static_cast<std::make_unsigned_t<Part>>(value(int(static_cast<Part>(a >> at)), int(static_cast<Part>(b >> at))));
        word |= static_cast<unsigned>(part) << at;
    }
    return word;
}
template <class Part>
inline unsigned distances(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (unsigned at = 0; at < 32; at += sizeof(Part) * 8) {
        sum += static_cast<unsigned>(std::abs(int(static_cast<Part>(a >> at)) - int(static_cast<Part>(b >> at))));
    }
    return sum;
}
inline int within(int value, int least, int most) { return value < least ? least : value > most ? most : value; }

} // namespace shim

inline int __dp4a(int a, int b, int c) { return shim::dot<signed char, signed char>(a, b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return shim::dot<unsigned char, unsigned char>(a, b, c); }
inline int __dp2a_lo(int a, int b, int c) { return shim::dot<short, signed char>(a, b, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) { return shim::dot<unsigned short, unsigned char>(a, b, c); }
inline int __dp2a_hi(int a, int b, int c) { return shim::dot<short, signed char>(a, b, c, 2); }
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return shim::dot<unsigned short, unsigned char>(a, b, c, 2); }

#define SHIM_SIMD(NAME, HALF, BYTE, ...)                                                                               \
    inline unsigned __##NAME##2(unsigned x, unsigned y) {                                                              \
        return shim::parts<HALF>(x, y, [](int a, int b) { return int(__VA_ARGS__); });                                 \
    }                                                                                                                  \
    inline unsigned __##NAME##4(unsigned x, unsigned y) {                                                              \
        return shim::parts<BYTE>(x, y, [](int a, int b) { return int(__VA_ARGS__); });                                 \
    }
SHIM_SIMD(vadd, unsigned short, unsigned char, a + b)
SHIM_SIMD(vsub, unsigned short, unsigned char, a - b)
SHIM_SIMD(vmaxs, short, signed char, a < b ? b : a)
SHIM_SIMD(vmaxu, unsigned short, unsigned char, a < b ? b : a)
SHIM_SIMD(vmins, short, signed char, a < b ? a : b)
SHIM_SIMD(vminu, unsigned short, unsigned char, a < b ? a : b)
SHIM_SIMD(vabsdiffs, short, signed char, a < b ? b - a : a - b)
SHIM_SIMD(vabsdiffu, unsigned short, unsigned char, a < b ? b - a : a - b)
SHIM_SIMD(vavgu, unsigned short, unsigned char, (a + b + 1) / 2)
SHIM_SIMD(vsubus, unsigned short, unsigned char, a < b ? 0 : a - b)
SHIM_SIMD(vcmpeq, unsigned short, unsigned char, -(a == b))
SHIM_SIMD(vcmpne, unsigned short, unsigned char, -(a != b))
SHIM_SIMD(vcmpgts, short, signed char, -(a > b))
SHIM_SIMD(vcmpgtu, unsigned short, unsigned char, -(a > b))
SHIM_SIMD(vcmpges, short, signed char, -(a >= b))
SHIM_SIMD(vcmpgeu, unsigned short, unsigned char, -(a >= b))
#undef SHIM_SIMD
inline unsigned __vaddss2(unsigned x, unsigned y) {
    return shim::parts<short>(x, y, [](int a, int b) { return shim::within(a + b, -32768, 32767); });
}
inline unsigned __vaddss4(unsigned x, unsigned y) {
    return shim::parts<signed char>(x, y, [](int a, int b) { return shim::within(a + b, -128, 127); });
}
inline unsigned __vsubss2(unsigned x, unsigned y) {
    return shim::parts<short>(x, y, [](int a, int b) { return shim::within(a - b, -32768, 32767); });
}
inline unsigned __vsubss4(unsigned x, unsigned y) {
    return shim::parts<signed char>(x, y, [](int a, int b) { return shim::within(a - b, -128, 127); });
}
inline unsigned __vaddus2(unsigned x, unsigned y) {
    return shim::parts<unsigned short>(x, y, [](int a, int b) { return shim::within(a + b, 0, 65535); });
}
inline unsigned __vaddus4(unsigned x, unsigned y) {
    return shim::parts<unsigned char>(x, y, [](int a, int b) { return shim::within(a + b, 0, 255); });
}
inline unsigned __vsads2(unsigned x, unsigned y) { return shim::distances<short>(x, y); }
inline unsigned __vsads4(unsigned x, unsigned y) { return shim::distances<signed char>(x, y); }
inline unsigned __vsadu2(unsigned x, unsigned y) { return shim::distances<unsigned short>(x, y); }
inline unsigned __vsadu4(unsigned x, unsigned y) { return shim::distances<unsigned char>(x, y); }

inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
