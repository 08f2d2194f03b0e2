// The methods that all of Rust's numbers have, as functions: `x.min(y)` is `min(x, y)`. The first argument is typed,
// and the others may be bare literals. Methods of only some numbers are in other headers: wrapping, checked, bits,
// float_math.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

template <class T>
struct is_floating {};
template <class Raw>
struct is_floating<floating<Raw>> {
    using yes = void;
};
template <class T>
struct is_half {};
template <class Format>
struct is_half<half_float<Format>> {
    using yes = void;
};

template <class T>
concept half = requires { typename is_half<T>::yes; };
// A float of any size.
template <class T>
concept real = half<T> || requires { typename is_floating<T>::yes; };

} // namespace detail

// The compiler's own functions, of which the assembler knows more than of comparisons: `max(a - 4, 0)` is one instruction, and for the
// compiler `a - 4 < 0 ? 0 : a - 4` soon is `a - 4 > -1 ? a - 4 : 0`, which is two. It has none for constants and for 128 bits.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> min(integer<Raw> a, detail::given<integer<Raw>> b) {
    if constexpr (sizeof(Raw) <= 8) {
        if (!__builtin_is_constant_evaluated()) {
            return static_cast<Raw>(::min(a.value, b.value));
        }
    }
    return b < a ? b : a;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> max(integer<Raw> a, detail::given<integer<Raw>> b) {
    if constexpr (sizeof(Raw) <= 8) {
        if (!__builtin_is_constant_evaluated()) {
            return static_cast<Raw>(::max(a.value, b.value));
        }
    }
    return a < b ? b : a;
}

// For a number and a NaN, these return the number. Rust does not specify which zero is less.
__device__ __forceinline__ f32 min(f32 a, f32 b) {
    return fminf(a.value, b.value);
}
__device__ __forceinline__ f32 max(f32 a, f32 b) {
    return fmaxf(a.value, b.value);
}
__device__ __forceinline__ f64 min(f64 a, f64 b) {
    return fmin(a.value, b.value);
}
__device__ __forceinline__ f64 max(f64 a, f64 b) {
    return fmax(a.value, b.value);
}
template <detail::half T>
__device__ __forceinline__ T min(T a, T b) {
    return T::from_bits(T::format::min(a.value, b.value));
}
template <detail::half T>
__device__ __forceinline__ T max(T a, T b) {
    return T::from_bits(T::format::max(a.value, b.value));
}

// Of bounds that are known to be in order.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> clamped(integer<Raw> a, detail::given<integer<Raw>> low, detail::given<integer<Raw>> high) {
    return min(max(a, low), high);
}
template <detail::real T>
__device__ __forceinline__ T clamped(T a, T low, T high) {
    return a < low ? low : a > high ? high : a;
}

// These fail if `low > high`, or if one of them is a NaN. The failure's site is the name.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> clamp(integer<Raw> a, detail::given<integer<Raw>> low, detail::given<integer<Raw>> high, PHALANX_SITE) {
    if (!(low <= high)) {
        detail::fail(detail::assertion, site);
    }
    return clamped(a, low, high);
}
template <detail::real T>
__device__ __forceinline__ T clamp(T a, T low, T high, PHALANX_SITE) {
    if (!(low <= high)) {
        detail::fail(detail::assertion, site);
    }
    return clamped(a, low, high);
}

// It wraps at the smallest integer.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> abs(integer<Raw> a) {
    return a < 0 ? -a : a;
}
__device__ __forceinline__ f32 abs(f32 a) {
    return fabsf(a.value);
}
__device__ __forceinline__ f64 abs(f64 a) {
    return fabs(a.value);
}
template <detail::half T>
__device__ __forceinline__ T abs(T a) {
    return T::from_bits(static_cast<unsigned short>(a.value & 0x7fff));
}

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> signum(integer<Raw> a) {
    return (0 < a) - (a < 0);
}
// For a zero, it returns 1 with the zero's sign.
__device__ __forceinline__ f32 signum(f32 a) {
    return a == a ? f32(copysignf(1.0f, a.value)) : a;
}
__device__ __forceinline__ f64 signum(f64 a) {
    return a == a ? f64(copysign(1.0, a.value)) : a;
}
template <detail::half T>
__device__ __forceinline__ T signum(T a) {
    return T::from_f32(signum(f32(a.wide())));
}

// Returns the quotient whose remainder is not negative. Integers fail as in division.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> div_euclid(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    const detail::divisor<integer<Raw>> divisor(b, site);
    const integer<Raw> quotient = a / divisor;
    if (a % divisor < 0) {
        return 0 < b ? quotient - 1 : quotient + 1;
    }
    return quotient;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> rem_euclid(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    const integer<Raw> remainder = a % detail::divisor<integer<Raw>>(b, site);
    return remainder < 0 ? remainder + abs(b) : remainder;
}
__device__ __forceinline__ f32 div_euclid(f32 a, f32 b) {
    const f32 quotient = truncf((a / b).value);
    return !(a % b < 0.0f) ? quotient : b > 0.0f ? quotient - 1.0f : quotient + 1.0f;
}
__device__ __forceinline__ f64 div_euclid(f64 a, f64 b) {
    const f64 quotient = trunc((a / b).value);
    return !(a % b < 0.0) ? quotient : b > 0.0 ? quotient - 1.0 : quotient + 1.0;
}
__device__ __forceinline__ f32 rem_euclid(f32 a, f32 b) {
    const f32 remainder = a % b;
    return remainder < 0.0f ? remainder + abs(b) : remainder;
}
__device__ __forceinline__ f64 rem_euclid(f64 a, f64 b) {
    const f64 remainder = a % b;
    return remainder < 0.0 ? remainder + abs(b) : remainder;
}
template <detail::half T>
__device__ __forceinline__ T div_euclid(T a, T b) {
    return T::from_f32(div_euclid(f32(a.wide()), f32(b.wide())));
}
template <detail::half T>
__device__ __forceinline__ T rem_euclid(T a, T b) {
    return T::from_f32(rem_euclid(f32(a.wide()), f32(b.wide())));
}

// `std::cmp`, of whatever has an order: numbers other than floats, `bool`s and tuples of them. Of equal ones, `min` is the first and `max`
// the second.
namespace cmp {

template <class T>
__device__ __forceinline__ constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
__device__ __forceinline__ constexpr T max(T a, T b) {
    return b < a ? a : b;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> min(integer<Raw> a, integer<Raw> b) {
    return phalanx::min(a, b);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> max(integer<Raw> a, integer<Raw> b) {
    return phalanx::max(a, b);
}

} // namespace cmp
} // namespace phalanx
