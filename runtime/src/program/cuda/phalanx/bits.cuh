// Rust's integer methods for bits, powers of two, logarithms, roots and signs. Some exist only for certain integers;
// rustc rejects calls on the others.
#pragma once
#include <phalanx/math.cuh>

namespace phalanx {
namespace detail {

template <class Raw>
using unsigned_integer = integer<bits_of<Raw>>;

// Half of an integer of 64 or 128 bits.
template <class Raw>
struct half_bits {
    using type = unsigned long long;
};
template <class Raw>
    requires(sizeof(Raw) == 8)
struct half_bits<Raw> {
    using type = unsigned;
};

template <class Bits>
__device__ __forceinline__ constexpr unsigned long long high_half(Bits bits) {
    return static_cast<unsigned long long>(bits >> (sizeof(Bits) * 4));
}
template <class Raw>
__device__ __forceinline__ constexpr Raw joined(unsigned long long high, unsigned long long low) {
    return static_cast<Raw>(static_cast<bits_of<Raw>>(high) << (sizeof(Raw) * 4) | low);
}

} // namespace detail

template <class Raw>
__device__ __forceinline__ u32 count_ones(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) == 16) {
        return __popcll(detail::high_half(bits)) + __popcll(static_cast<unsigned long long>(bits));
    } else if constexpr (sizeof(Raw) == 8) {
        return __popcll(bits);
    } else {
        return __popc(bits);
    }
}
template <class Raw>
__device__ __forceinline__ u32 count_zeros(integer<Raw> a) {
    return count_ones(!a);
}

template <class Raw>
__device__ __forceinline__ u32 leading_zeros(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) == 16) {
        const auto high = static_cast<long long>(detail::high_half(bits));
        return high != 0 ? __clzll(high) : 64 + __clzll(static_cast<long long>(bits));
    } else if constexpr (sizeof(Raw) == 8) {
        return __clzll(static_cast<long long>(bits));
    } else {
        return __clz(static_cast<int>(bits)) - (32 - detail::bit_count<Raw>());
    }
}
template <class Raw>
__device__ __forceinline__ u32 trailing_zeros(integer<Raw> a) {
    // The zeros below the lowest set bit are the set bits of this value.
    return count_ones(!a & (a - 1));
}
template <class Raw>
__device__ __forceinline__ u32 leading_ones(integer<Raw> a) {
    return leading_zeros(!a);
}
template <class Raw>
__device__ __forceinline__ u32 trailing_ones(integer<Raw> a) {
    return trailing_zeros(!a);
}

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> rotate_left(integer<Raw> a, u32 amount) {
    const detail::unsigned_integer<Raw> bits = static_cast<detail::bits_of<Raw>>(a.value);
    return static_cast<Raw>((bits << amount | bits >> -amount).value);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> rotate_right(integer<Raw> a, u32 amount) {
    return rotate_left(a, -amount);
}

template <class Raw>
__device__ __forceinline__ integer<Raw> reverse_bits(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) == 16) {
        return detail::joined<Raw>(__brevll(static_cast<unsigned long long>(bits)), __brevll(detail::high_half(bits)));
    } else if constexpr (sizeof(Raw) == 8) {
        return static_cast<Raw>(__brevll(bits));
    } else {
        return static_cast<Raw>(__brev(bits) >> (32 - detail::bit_count<Raw>()));
    }
}
template <class Raw>
__device__ __forceinline__ integer<Raw> swap_bytes(integer<Raw> a) {
    const auto bits = static_cast<detail::bits_of<Raw>>(a.value);
    if constexpr (sizeof(Raw) >= 8) {
        using half = integer<typename detail::half_bits<Raw>::type>;
        const half high = static_cast<decltype(half::value)>(detail::high_half(bits));
        const half low = static_cast<decltype(half::value)>(bits);
        return detail::joined<Raw>(swap_bytes(low).value, swap_bytes(high).value);
    } else {
        return static_cast<Raw>(__byte_perm(bits, 0, 0x0123) >> (32 - detail::bit_count<Raw>()));
    }
}
// The device is little endian.
template <class Raw>
__device__ __forceinline__ integer<Raw> to_be(integer<Raw> a) {
    return swap_bytes(a);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> to_le(integer<Raw> a) {
    return a;
}

template <class Raw>
__device__ __forceinline__ constexpr auto cast_signed(integer<Raw> a) {
    return integer<detail::signed_of<Raw>>(static_cast<detail::signed_of<Raw>>(a.value));
}
template <class Raw>
__device__ __forceinline__ constexpr auto cast_unsigned(integer<Raw> a) {
    return detail::unsigned_integer<Raw>(static_cast<detail::bits_of<Raw>>(a.value));
}
template <class Raw>
__device__ __forceinline__ constexpr auto unsigned_abs(integer<Raw> a) {
    return cast_unsigned(abs(a));
}
template <class Raw>
__device__ __forceinline__ constexpr auto abs_diff(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a < b ? cast_unsigned(b - a) : cast_unsigned(a - b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool is_positive(integer<Raw> a) {
    return 0 < a;
}
template <class Raw>
__device__ __forceinline__ constexpr bool is_negative(integer<Raw> a) {
    return a < 0;
}

// Returns half of the sum, which itself may overflow, rounded toward zero.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> midpoint(integer<Raw> a, detail::given<integer<Raw>> b) {
    const integer<Raw> down = (a & b) + ((a ^ b) >> 1);
    return down < 0 ? down + ((a ^ b) & 1) : down;
}

template <class Raw>
__device__ __forceinline__ bool is_power_of_two(integer<Raw> a) {
    return count_ones(a) == 1;
}
// Of 0, only 0 is a multiple.
template <class Raw>
__device__ __forceinline__ constexpr bool is_multiple_of(integer<Raw> a, detail::given<integer<Raw>> b) {
    return b.value == 0 ? a.value == 0 : a.value % b.value == 0;
}
// Returns 0 if the result does not fit.
template <class Raw>
__device__ __forceinline__ integer<Raw> next_power_of_two(integer<Raw> a) {
    if (a <= 1) {
        return 1;
    }
    const u32 zeros = leading_zeros(a - 1);
    return zeros == 0 ? integer<Raw>(0) : integer<Raw>(1) << (u32(detail::bit_count<Raw>()) - zeros);
}

// These fail if `b` is 0. The failure's site is the name.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> div_ceil(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    const detail::divisor<integer<Raw>> divisor(b, site);
    const integer<Raw> quotient = a / divisor;
    return 0 < a % divisor ? quotient + 1 : quotient;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw>
next_multiple_of(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    const integer<Raw> remainder = a % detail::divisor<integer<Raw>>(b, site);
    return remainder == 0 ? a : a + (b - remainder);
}

// These fail if `a` is not positive. The failure's site is the name.
template <class Raw>
__device__ __forceinline__ u32 ilog2(integer<Raw> a, PHALANX_SITE) {
    if (a <= 0) {
        detail::fail(detail::assertion, site);
    }
    return u32(detail::bit_count<Raw>() - 1) - leading_zeros(a);
}
template <class Raw>
__device__ __forceinline__ constexpr u32 ilog10(integer<Raw> a, PHALANX_SITE) {
    if (a <= 0) {
        detail::fail(detail::assertion, site);
    }
    u32 digits = 0;
    for (a /= 10; 0 < a; a /= 10) {
        digits += 1;
    }
    return digits;
}

// Returns the root rounded down, determining one bit at a time, the highest first. It fails if `a` is negative; the
// failure's site is the name.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> isqrt(integer<Raw> a, PHALANX_SITE) {
    if (a < 0) {
        detail::fail(detail::assertion, site);
    }
    auto rest = cast_unsigned(a);
    decltype(rest) root = 0;
    for (auto bit = decltype(rest)(1) << (detail::bit_count<Raw>() - 2); !(bit == 0); bit >>= 2) {
        const auto square = root + bit;
        root >>= 1;
        if (square <= rest) {
            rest -= square;
            root += bit;
        }
    }
    return static_cast<Raw>(root.value);
}

} // namespace phalanx
