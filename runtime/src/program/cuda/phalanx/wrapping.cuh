// Rust's `wrapping_*`, `saturating_*` and `pow` of integers as functions. The operators wrap and mask, too; the
// `wrapping_*` functions are Rust's names for that.
#pragma once
#include <phalanx/math.cuh>

namespace phalanx {
namespace detail {

// The signed integer of the same size.
template <class Raw>
struct other_type {
    using type = integer<signed_of<Raw>>;
};
template <signed_integer Raw>
struct other_type<Raw> {
    using type = integer<bits_of<Raw>>;
};
template <class Raw>
using other_of = typename other_type<Raw>::type;

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> least() {
    return min_of<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> greatest() {
    return max_of<Raw>();
}

// A wrapped result, and whether it has wrapped. The second operand may be of the other signedness.
template <class Raw>
struct wrapped {
    integer<Raw> value;
    bool overflow;
};
// Narrows the result for a type that fits into an `int`. NVRTC 13.0 reports no overflow of `0 - i16::MIN` if asked as
// below.
template <class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> narrowed(int exact) {
    return {static_cast<Raw>(exact), exact != static_cast<int>(static_cast<Raw>(exact))};
}
template <class Raw, class Other>
__device__ __forceinline__ constexpr wrapped<Raw> add(integer<Raw> a, integer<Other> b) {
    if constexpr (sizeof(Raw) < sizeof(int)) {
        return narrowed<Raw>(static_cast<int>(a.value) + static_cast<int>(b.value));
    }
    const integer<Raw> sum = a + static_cast<Raw>(b.value);
    return {sum, (sum < a) != (b < 0)};
}
template <class Raw, class Other>
__device__ __forceinline__ constexpr wrapped<Raw> sub(integer<Raw> a, integer<Other> b) {
    if constexpr (sizeof(Raw) < sizeof(int)) {
        return narrowed<Raw>(static_cast<int>(a.value) - static_cast<int>(b.value));
    }
    const integer<Raw> difference = a - static_cast<Raw>(b.value);
    return {difference, (a < difference) != (b < 0)};
}
// The product is computed in a type of twice the size, if there is one.
template <class Product, class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> mul_through(integer<Raw> a, integer<Raw> b) {
    const auto product = static_cast<Product>(a.value) * static_cast<Product>(b.value);
    return {static_cast<Raw>(product), product != static_cast<Product>(static_cast<Raw>(product))};
}
template <class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> mul(integer<Raw> a, integer<Raw> b) {
    if constexpr (sizeof(Raw) <= 4) {
        if constexpr (signed_integer<Raw>) {
            return mul_through<long long>(a, b);
        } else {
            return mul_through<unsigned long long>(a, b);
        }
#ifdef PHALANX_INT128
    } else if constexpr (sizeof(Raw) == 8) {
        if constexpr (signed_integer<Raw>) {
            return mul_through<__int128>(a, b);
        } else {
            return mul_through<unsigned __int128>(a, b);
        }
#endif
    } else {
        const integer<Raw> product = a * b;
        if constexpr (signed_integer<Raw>) {
            // The only quotient that wraps.
            if (a == -1) {
                return {product, b == least<Raw>()};
            }
        }
        return {product, !(a == 0) && !(integer<Raw>(static_cast<Raw>(product.value / a.value)) == b)};
    }
}
// It is computed by squaring. The last square is not used, and may wrap.
template <class Raw>
__device__ __forceinline__ constexpr wrapped<Raw> pow(integer<Raw> base, u32 exponent) {
    wrapped<Raw> power{1, false};
    bool overflow = false;
    while (0 < exponent) {
        if ((exponent & 1) == 1) {
            const wrapped<Raw> product = mul(power.value, base);
            power = {product.value, power.overflow || overflow || product.overflow};
        }
        exponent >>= 1;
        const wrapped<Raw> square = mul(base, base);
        base = square.value;
        overflow = overflow || square.overflow;
    }
    return power;
}

} // namespace detail

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_add(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a + b;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_sub(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a - b;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_mul(integer<Raw> a, detail::given<integer<Raw>> b) {
    return a * b;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_neg(integer<Raw> a) {
    return -a;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_abs(integer<Raw> a) {
    return abs(a);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_shl(integer<Raw> a, u32 amount) {
    return a << amount;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_shr(integer<Raw> a, u32 amount) {
    return a >> amount;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_add_signed(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    return detail::add(a, b).value;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_add_unsigned(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    return detail::add(a, b).value;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_sub_unsigned(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    return detail::sub(a, b).value;
}

// These fail if `b` is 0. The failure's site is the name.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_div(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return -a;
        }
    }
    return a / detail::divisor<integer<Raw>>(b, site);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_rem(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return 0;
        }
    }
    return a % detail::divisor<integer<Raw>>(b, site);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw>
wrapping_div_euclid(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return -a;
        }
    }
    return div_euclid(a, b, site);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw>
wrapping_rem_euclid(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return 0;
        }
    }
    return rem_euclid(a, b, site);
}

// It is computed by squaring.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> wrapping_pow(integer<Raw> base, u32 exponent) {
    integer<Raw> power = 1;
    while (1 < exponent) {
        if ((exponent & 1) == 1) {
            power *= base;
        }
        exponent >>= 1;
        base *= base;
    }
    return exponent == 1 ? power * base : power;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> pow(integer<Raw> base, u32 exponent) {
    return wrapping_pow(base, exponent);
}

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_add(integer<Raw> a, detail::given<integer<Raw>> b) {
    const auto sum = detail::add(a, b);
    return !sum.overflow ? sum.value : b < 0 ? detail::least<Raw>() : detail::greatest<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_sub(integer<Raw> a, detail::given<integer<Raw>> b) {
    if constexpr (!detail::signed_integer<Raw>) {
        // The larger of two is one instruction.
        return max(a, b) - b;
    }
    const auto difference = detail::sub(a, b);
    return !difference.overflow ? difference.value : b < 0 ? detail::greatest<Raw>() : detail::least<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_mul(integer<Raw> a, detail::given<integer<Raw>> b) {
    const auto product = detail::mul(a, b);
    return !product.overflow ? product.value : (a < 0) != (b < 0) ? detail::least<Raw>() : detail::greatest<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_neg(integer<Raw> a) {
    return a == detail::least<Raw>() ? detail::greatest<Raw>() : -a;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_abs(integer<Raw> a) {
    return a == detail::least<Raw>() ? detail::greatest<Raw>() : abs(a);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_pow(integer<Raw> base, u32 exponent) {
    const auto power = detail::pow(base, exponent);
    return !power.overflow ? power.value
           : base < 0 && (exponent & 1) == 1 ? detail::least<Raw>() : detail::greatest<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw>
saturating_div(integer<Raw> a, detail::given<integer<Raw>> b, PHALANX_SITE) {
    if constexpr (detail::signed_integer<Raw>) {
        if (b == -1) {
            return saturating_neg(a);
        }
    }
    return a / detail::divisor<integer<Raw>>(b, site);
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_add_signed(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    const auto sum = detail::add(a, b);
    return !sum.overflow ? sum.value : b < 0 ? detail::least<Raw>() : detail::greatest<Raw>();
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_add_unsigned(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    const auto sum = detail::add(a, b);
    return sum.overflow ? detail::greatest<Raw>() : sum.value;
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_sub_unsigned(integer<Raw> a, detail::given<detail::other_of<Raw>> b) {
    const auto difference = detail::sub(a, b);
    return difference.overflow ? detail::least<Raw>() : difference.value;
}

} // namespace phalanx
