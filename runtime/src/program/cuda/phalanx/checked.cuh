// Rust's `checked_*`, which return an option, and `overflowing_*`, which return the wrapped result and whether it
// wrapped.
#pragma once
#include <phalanx/option.cuh>
#include <phalanx/bits.cuh>
#include <phalanx/tuple.cuh>
#include <phalanx/wrapping.cuh>

namespace phalanx {
namespace detail {

template <class Raw>
__device__ __forceinline__ constexpr option<integer<Raw>> unless_wrapped(wrapped<Raw> result) {
    return {result.value, !result.overflow};
}
template <class Raw>
__device__ __forceinline__ constexpr tuple<integer<Raw>, bool> with_overflow(wrapped<Raw> result) {
    return {result.value, result.overflow};
}
// `-a`, and `a / -1`: for an unsigned integer every value but 0 wraps.
template <class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> neg(integer<Raw> a) {
    return {-a, signed_integer<Raw> ? a == least<Raw>() : !(a == 0)};
}
template <class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> magnitude(integer<Raw> a) {
    return {abs(a), signed_integer<Raw> && a == least<Raw>()};
}
template <class Raw>
__device__ __forceinline__ constexpr bool is_minus_one(integer<Raw> a) {
    return signed_integer<Raw> && a == -1;
}

} // namespace detail

// `T::try_from(x)`: a value of the other type that is the same number.
template <class To, class Raw>
__device__ __forceinline__ constexpr option<To> checked_from(integer<Raw> x) {
    const To cast = as<To>(x);
    return {cast, as<integer<Raw>>(cast) == x && (cast < 0) == (x < 0)};
}

#define PHALANX_BINARY(CHECKED, OVERFLOWING, COMPUTED, OTHER)                                                          \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr option<integer<Raw>> CHECKED(integer<Raw> a, detail::given<OTHER> b) {                        \
        return detail::unless_wrapped(COMPUTED(a, b));                                                                 \
    }                                                                                                                  \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr tuple<integer<Raw>, bool> OVERFLOWING(integer<Raw> a, detail::given<OTHER> b) {               \
        return detail::with_overflow(COMPUTED(a, b));                                                                  \
    }
PHALANX_BINARY(checked_add, overflowing_add, detail::add, integer<Raw>)
PHALANX_BINARY(checked_sub, overflowing_sub, detail::sub, integer<Raw>)
PHALANX_BINARY(checked_mul, overflowing_mul, detail::mul, integer<Raw>)
PHALANX_BINARY(checked_pow, overflowing_pow, detail::pow, u32)
PHALANX_BINARY(checked_add_signed, overflowing_add_signed, detail::add, detail::other_of<Raw>)
PHALANX_BINARY(checked_add_unsigned, overflowing_add_unsigned, detail::add, detail::other_of<Raw>)
PHALANX_BINARY(checked_sub_unsigned, overflowing_sub_unsigned, detail::sub, detail::other_of<Raw>)
#undef PHALANX_BINARY

#define PHALANX_UNARY(CHECKED, OVERFLOWING, COMPUTED)                                                                  \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr option<integer<Raw>> CHECKED(integer<Raw> a) {                                                \
        return detail::unless_wrapped(COMPUTED(a));                                                                    \
    }                                                                                                                  \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr tuple<integer<Raw>, bool> OVERFLOWING(integer<Raw> a) {                                       \
        return detail::with_overflow(COMPUTED(a));                                                                     \
    }
PHALANX_UNARY(checked_neg, overflowing_neg, detail::neg)
PHALANX_UNARY(checked_abs, overflowing_abs, detail::magnitude)
#undef PHALANX_UNARY

// The amount is masked. It is too large if the mask changes it.
#define PHALANX_SHIFT(CHECKED, OVERFLOWING, OP)                                                                        \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr option<integer<Raw>> CHECKED(integer<Raw> a, u32 amount) {                                    \
        return {a OP amount, amount < detail::bit_count<Raw>()};                                                       \
    }                                                                                                                  \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr tuple<integer<Raw>, bool> OVERFLOWING(integer<Raw> a, u32 amount) {                           \
        return {a OP amount, amount >= detail::bit_count<Raw>()};                                                      \
    }
PHALANX_SHIFT(checked_shl, overflowing_shl, <<)
PHALANX_SHIFT(checked_shr, overflowing_shr, >>)
#undef PHALANX_SHIFT

// The checked functions return none if `b` is 0 or the quotient wraps. The overflowing ones fail if `b` is 0; the
// failure's site is the name.
#define PHALANX_DIVISION(CHECKED, OVERFLOWING, WRAPPING)                                                               \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr option<integer<Raw>> CHECKED(integer<Raw> a, detail::given<integer<Raw>> b) {                 \
        if (b == 0 || (detail::is_minus_one(b) && a == detail::least<Raw>())) {                                        \
            return none;                                                                                               \
        }                                                                                                              \
        return {WRAPPING(a, b), true};                                                                                 \
    }                                                                                                                  \
    template <class Raw>                                                                                               \
    __device__ __forceinline__ constexpr tuple<integer<Raw>, bool>                                                                     \
    OVERFLOWING(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {                                                         \
        return {WRAPPING(a, b, site), detail::is_minus_one(b) && a == detail::least<Raw>()};                   \
    }
PHALANX_DIVISION(checked_div, overflowing_div, wrapping_div)
PHALANX_DIVISION(checked_rem, overflowing_rem, wrapping_rem)
PHALANX_DIVISION(checked_div_euclid, overflowing_div_euclid, wrapping_div_euclid)
PHALANX_DIVISION(checked_rem_euclid, overflowing_rem_euclid, wrapping_rem_euclid)
#undef PHALANX_DIVISION

template <class Raw>
__device__ __forceinline__ constexpr option<u32> checked_ilog2(integer<Raw> a) {
    if (a <= 0) {
        return none;
    }
    return {ilog2(a), true};
}
template <class Raw>
__device__ __forceinline__ constexpr option<u32> checked_ilog10(integer<Raw> a) {
    if (a <= 0) {
        return none;
    }
    return {ilog10(a), true};
}
template <class Raw>
__device__ __forceinline__ constexpr option<integer<Raw>> checked_isqrt(integer<Raw> a) {
    if (a < 0) {
        return none;
    }
    return {isqrt(a), true};
}
template <class Raw>
__device__ __forceinline__ constexpr option<integer<Raw>> checked_next_power_of_two(integer<Raw> a) {
    const integer<Raw> power = next_power_of_two(a);
    return {power, !(power == 0)};
}
template <class Raw>
__device__ __forceinline__ constexpr option<integer<Raw>> checked_next_multiple_of(integer<Raw> a, detail::given<integer<Raw>> b) {
    if (b == 0) {
        return none;
    }
    const integer<Raw> multiple = next_multiple_of(a, b);
    return {multiple, a <= multiple};
}

} // namespace phalanx
