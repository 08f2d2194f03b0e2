// Rust's number methods as functions: `x.min(y)` is `min(x, y)`. The first argument is typed, the others may be bare
// literals.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {

template <class Raw>
__device__ constexpr integer<Raw> min(integer<Raw> a, detail::given<integer<Raw>> b) {
    return b < a ? b : a;
}
template <class Raw>
__device__ constexpr integer<Raw> max(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a < b ? b : a;
}

// Of a number and a NaN, the number; Rust leaves open which zero is less.
__device__ inline f32 min(f32 a, f32 b) {
    return fminf(a.value, b.value);
}
__device__ inline f32 max(f32 a, f32 b) {
    return fmaxf(a.value, b.value);
}
__device__ inline f64 min(f64 a, f64 b) {
    return fmin(a.value, b.value);
}
__device__ inline f64 max(f64 a, f64 b) {
    return fmax(a.value, b.value);
}

// Wraps at the least integer.
template <class Raw>
__device__ constexpr integer<Raw> abs(integer<Raw> a) {
    return a < 0 ? -a : a;
}
__device__ inline f32 abs(f32 a) {
    return fabsf(a.value);
}
__device__ inline f64 abs(f64 a) {
    return fabs(a.value);
}

// Correctly rounded, whatever the compiler is told of square roots.
__device__ inline f32 sqrt(f32 a) {
    return __fsqrt_rn(a.value);
}
__device__ inline f64 sqrt(f64 a) {
    return __dsqrt_rn(a.value);
}

// `a * b + c`, rounded once.
__device__ inline f32 mul_add(f32 a, f32 b, f32 c) {
    return __fmaf_rn(a.value, b.value, c.value);
}
__device__ inline f64 mul_add(f64 a, f64 b, f64 c) {
    return __fma_rn(a.value, b.value, c.value);
}

// The operators wrap and mask too; these are Rust's names for it.
template <class Raw>
__device__ constexpr integer<Raw> wrapping_add(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a + b;
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_sub(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a - b;
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_mul(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a * b;
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_neg(integer<Raw> a) {
    return -a;
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_abs(integer<Raw> a) {
    return abs(a);
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_shl(integer<Raw> a, u32 amount) {
    return a << amount;
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_shr(integer<Raw> a, u32 amount) {
    return a >> amount;
}

// Fail where `b` is 0. The site is the name.
template <class Raw>
__device__ constexpr integer<Raw> wrapping_div(integer<Raw> a, detail::given<integer<Raw>> b, unsigned line = __builtin_LINE(),
                                               unsigned column = __builtin_COLUMN()) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return -a;
        }
    }
    return a / detail::divisor<integer<Raw>>(b, line, column);
}
template <class Raw>
__device__ constexpr integer<Raw> wrapping_rem(integer<Raw> a, detail::given<integer<Raw>> b, unsigned line = __builtin_LINE(),
                                               unsigned column = __builtin_COLUMN()) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return 0;
        }
    }
    return a % detail::divisor<integer<Raw>>(b, line, column);
}

// By squaring.
template <class Raw>
__device__ constexpr integer<Raw> wrapping_pow(integer<Raw> base, u32 exponent) {
    integer<Raw> power = 1;
    while (exponent > 1) {
        if ((exponent & 1) == 1) {
            power *= base;
        }
        exponent >>= 1;
        base *= base;
    }
    return exponent == 1 ? power * base : power;
}

template <class Raw>
__device__ inline u32 count_ones(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) == 16) {
        return __popcll(static_cast<unsigned long long>(bits >> 64)) + __popcll(static_cast<unsigned long long>(bits));
    } else if constexpr (sizeof(Raw) == 8) {
        return __popcll(bits);
    } else {
        return __popc(bits);
    }
}
template <class Raw>
__device__ inline u32 count_zeros(integer<Raw> a) {
    return count_ones(!a);
}

template <class Raw>
__device__ inline u32 leading_zeros(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) == 16) {
        const auto high = static_cast<long long>(bits >> 64);
        return high != 0 ? __clzll(high) : 64 + __clzll(static_cast<long long>(bits));
    } else if constexpr (sizeof(Raw) == 8) {
        return __clzll(static_cast<long long>(bits));
    } else {
        return __clz(static_cast<int>(bits)) - (32 - detail::bit_count<Raw>());
    }
}
template <class Raw>
__device__ inline u32 trailing_zeros(integer<Raw> a) {
    // The zeros below the lowest one are the ones of this.
    return count_ones(!a & (a - 1));
}

template <class Raw>
__device__ constexpr integer<Raw> rotate_left(integer<Raw> a, u32 amount) {
    const integer<detail::bits_of<Raw>> bits = static_cast<detail::bits_of<Raw>>(a.value);
    return static_cast<Raw>((bits << amount | bits >> -amount).value);
}
template <class Raw>
__device__ constexpr integer<Raw> rotate_right(integer<Raw> a, u32 amount) {
    return rotate_left(a, -amount);
}

} // namespace phalanx
