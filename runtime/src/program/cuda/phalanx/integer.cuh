// `integer<Raw>`: an integer whose operators have Rust's meaning. It wraps (overflow is never undefined), is not
// promoted (`u8 + u8` is a `u8`), masks shift amounts, and fails on a division by zero or one that overflows. A bare
// literal may be combined with a typed operand. The machine code is that of the raw type. scalar.cuh has the names
// (`u32`) and casts, math.cuh the named functions.
#pragma once
#include <phalanx/division.cuh>
#include <phalanx/failure.cuh>

// nvcc has the type if the host compiler has it, NVRTC with --device-int128.
#if defined(__SIZEOF_INT128__) || defined(__CUDACC_RTC_INT128__)
#define PHALANX_INT128 1
#endif

namespace phalanx {

template <class Raw>
struct integer;

namespace detail {

template <class A, class B>
struct same_types {};
template <class A>
struct same_types<A, A> {
    using yes = void;
};
template <class A, class B>
concept same = requires { typename same_types<A, B>::yes; };

// A `T` that is not deduced, for a parameter that gets its type from another one, so that a literal converts.
template <class T>
struct given_type {
    using type = T;
};
template <class T>
using given = typename given_type<T>::type;

// The types related to each raw integer: its signed and unsigned counterparts, and the type in which it wraps, which is
// at least as wide as `unsigned`, because narrower types are promoted to `int`, whose overflow is undefined. (There are
// no static members, because they would be variables of the module.)
template <class Signed, class Unsigned, class Wide>
struct integer_traits {
    using signed_type = Signed;
    using bits_type = Unsigned;
    using wide = Wide;
};
template <class Raw>
struct raw_traits {};
template <> struct raw_traits<signed char> : integer_traits<signed char, unsigned char, unsigned> {};
template <> struct raw_traits<unsigned char> : integer_traits<signed char, unsigned char, unsigned> {};
template <> struct raw_traits<short> : integer_traits<short, unsigned short, unsigned> {};
template <> struct raw_traits<unsigned short> : integer_traits<short, unsigned short, unsigned> {};
template <> struct raw_traits<int> : integer_traits<int, unsigned, unsigned> {};
template <> struct raw_traits<unsigned> : integer_traits<int, unsigned, unsigned> {};
template <> struct raw_traits<long> : integer_traits<long, unsigned long, unsigned long> {};
template <> struct raw_traits<unsigned long> : integer_traits<long, unsigned long, unsigned long> {};
template <> struct raw_traits<long long> : integer_traits<long long, unsigned long long, unsigned long long> {};
template <> struct raw_traits<unsigned long long> : integer_traits<long long, unsigned long long, unsigned long long> {};
#ifdef PHALANX_INT128
template <> struct raw_traits<__int128> : integer_traits<__int128, unsigned __int128, unsigned __int128> {};
template <> struct raw_traits<unsigned __int128> : integer_traits<__int128, unsigned __int128, unsigned __int128> {};
#endif

template <class Raw>
using bits_of = typename raw_traits<Raw>::bits_type;
template <class Raw>
using signed_of = typename raw_traits<Raw>::signed_type;
template <class Raw>
using wide_of = typename raw_traits<Raw>::wide;

// The type of an integer literal, but not `bool`, which has no arithmetic in Rust.
template <class T>
concept raw_integer = requires { typename raw_traits<T>::wide; };
template <class T>
concept signed_integer = raw_integer<T> && !same<T, bits_of<T>>;

template <class Raw>
__device__ __forceinline__ consteval unsigned bit_count() {
    return sizeof(Raw) * 8;
}
template <class Raw>
__device__ __forceinline__ consteval Raw max_of() {
    return static_cast<Raw>(static_cast<bits_of<Raw>>(~bits_of<Raw>(0)) >> signed_integer<Raw>);
}
template <class Raw>
__device__ __forceinline__ consteval Raw min_of() {
    return static_cast<Raw>(~max_of<Raw>());
}

// A divisor with the site of its operator.
template <class Integer>
struct divisor {
    Integer value;
    unsigned site;

    __device__ __forceinline__ constexpr divisor(Integer value, PHALANX_SITE) : value(value), site(site) {}
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr divisor(Literal value, PHALANX_SITE) : value(value), site(site) {}
};

__device__ __forceinline__ constexpr unsigned shift_amount(raw_integer auto amount) {
    return static_cast<unsigned>(amount);
}
template <class Raw>
__device__ __forceinline__ constexpr unsigned shift_amount(integer<Raw> amount) {
    return static_cast<unsigned>(amount.value);
}
template <class T>
concept shift = requires(T amount) { shift_amount(amount); };

// What two integers are compared by. Bytes are compared as words: the compiler makes a comparison of bytes of one of words as soon as it
// sees that both come from bytes in memory, as all members do at first, and then masks what it computes from a lane of a word, such as
// `c | 0x20`, after each step. It sees less through the word's memory, until no memory is left.
template <class Raw>
__device__ __forceinline__ constexpr Raw compared(Raw a) {
    return a;
}
__device__ __forceinline__ constexpr unsigned compared(unsigned char a) {
    struct padded {
        unsigned char low, zeros[3];
    };
    return __builtin_bit_cast(unsigned, padded{a, {0, 0, 0}});
}

} // namespace detail

template <class Raw>
struct integer {
    using wide = detail::wide_of<Raw>;

    Raw value;

    // The constructor is trivial, so that shared memory and arrays of integers need no initialization.
    integer() = default;

    template <detail::raw_integer Literal>
    __device__ __forceinline__ constexpr integer(Literal value) : value(static_cast<Raw>(value)) {}

    // `u128(high, low)`: C++ has no literals of 128 bits.
    __device__ __forceinline__ constexpr integer(unsigned long long high, unsigned long long low)
        requires(sizeof(Raw) == 16)
        : value(static_cast<Raw>(static_cast<wide>(high) << 64 | low)) {}

    __device__ __forceinline__ friend constexpr integer operator+(integer a, integer b) {
        return wrap(static_cast<wide>(a.value) + static_cast<wide>(b.value));
    }
    __device__ __forceinline__ friend constexpr integer operator-(integer a, integer b) {
        return wrap(static_cast<wide>(a.value) - static_cast<wide>(b.value));
    }
    __device__ __forceinline__ friend constexpr integer operator*(integer a, integer b) {
        return wrap(static_cast<wide>(a.value) * static_cast<wide>(b.value));
    }
    __device__ __forceinline__ friend constexpr integer operator/(integer a, detail::divisor<integer> b) {
        check_division(a, b);
        if constexpr (detail::same<Raw, unsigned>) {
            if (!PHALANX_IS_CONSTANT_DIVISOR(b.value.value)) {
                return integer(detail::divided(a.value, b.value.value).quotient);
            }
        }
        return integer(static_cast<Raw>(a.value / b.value.value));
    }
    __device__ __forceinline__ friend constexpr integer operator%(integer a, detail::divisor<integer> b) {
        check_division(a, b);
        if constexpr (detail::same<Raw, unsigned>) {
            if (!PHALANX_IS_CONSTANT_DIVISOR(b.value.value)) {
                return integer(detail::divided(a.value, b.value.value).remainder);
            }
        }
        return integer(static_cast<Raw>(a.value % b.value.value));
    }
    __device__ __forceinline__ friend constexpr integer operator&(integer a, integer b) {
        return integer(static_cast<Raw>(a.value & b.value));
    }
    __device__ __forceinline__ friend constexpr integer operator|(integer a, integer b) {
        return integer(static_cast<Raw>(a.value | b.value));
    }
    __device__ __forceinline__ friend constexpr integer operator^(integer a, integer b) {
        return integer(static_cast<Raw>(a.value ^ b.value));
    }
    // Shifts are members, so that a bare literal on the left does not get its type from the amount.
    template <detail::shift Amount>
    __device__ __forceinline__ constexpr integer operator<<(Amount amount) const {
        return wrap(static_cast<wide>(value) << (detail::shift_amount(amount) & (detail::bit_count<Raw>() - 1)));
    }
    template <detail::shift Amount>
    __device__ __forceinline__ constexpr integer operator>>(Amount amount) const {
        return integer(static_cast<Raw>(value >> (detail::shift_amount(amount) & (detail::bit_count<Raw>() - 1))));
    }

    __device__ __forceinline__ constexpr integer operator-() const { return wrap(wide(0) - static_cast<wide>(value)); }
    // Rust's `!` of an integer is C's `~`.
    __device__ __forceinline__ constexpr integer operator!() const { return wrap(~static_cast<wide>(value)); }

    __device__ __forceinline__ constexpr integer& operator+=(integer b) { return *this = *this + b; }
    __device__ __forceinline__ constexpr integer& operator-=(integer b) { return *this = *this - b; }
    __device__ __forceinline__ constexpr integer& operator*=(integer b) { return *this = *this * b; }
    __device__ __forceinline__ constexpr integer& operator/=(detail::divisor<integer> b) { return *this = *this / b; }
    __device__ __forceinline__ constexpr integer& operator%=(detail::divisor<integer> b) { return *this = *this % b; }
    __device__ __forceinline__ constexpr integer& operator&=(integer b) { return *this = *this & b; }
    __device__ __forceinline__ constexpr integer& operator|=(integer b) { return *this = *this | b; }
    __device__ __forceinline__ constexpr integer& operator^=(integer b) { return *this = *this ^ b; }
    template <detail::shift Amount>
    __device__ __forceinline__ constexpr integer& operator<<=(Amount amount) { return *this = *this << amount; }
    template <detail::shift Amount>
    __device__ __forceinline__ constexpr integer& operator>>=(Amount amount) { return *this = *this >> amount; }

    __device__ __forceinline__ friend constexpr bool operator==(integer a, integer b) { return detail::compared(a.value) == detail::compared(b.value); }
    __device__ __forceinline__ friend constexpr bool operator<(integer a, integer b) { return detail::compared(a.value) < detail::compared(b.value); }
    __device__ __forceinline__ friend constexpr bool operator<=(integer a, integer b) { return detail::compared(a.value) <= detail::compared(b.value); }
    __device__ __forceinline__ friend constexpr bool operator>(integer a, integer b) { return detail::compared(a.value) > detail::compared(b.value); }
    __device__ __forceinline__ friend constexpr bool operator>=(integer a, integer b) { return detail::compared(a.value) >= detail::compared(b.value); }

    // Sign-extended to 64 bits, or all 128.
    __device__ __forceinline__ friend constexpr detail::recorded record_value(integer a) {
        constexpr bool has_sign = detail::signed_integer<Raw>;
        const auto low = static_cast<unsigned long long>(a.value);
        if constexpr (sizeof(Raw) == 16) {
            return {has_sign ? detail::signed_wide_value : detail::unsigned_wide_value, low,
                    static_cast<unsigned long long>(a.value >> 64)};
        } else {
            return {has_sign ? detail::signed_value : detail::unsigned_value, low, 0};
        }
    }

  private:
    __device__ __forceinline__ static constexpr integer wrap(wide value) { return integer(static_cast<Raw>(value)); }

    __device__ __forceinline__ static constexpr void check_division(integer a, const detail::divisor<integer>& b) {
        if (b.value.value == 0) {
            detail::fail(detail::division_by_zero, b.site, record_value(a));
        }
        if constexpr (detail::signed_integer<Raw>) {
            if (b.value.value == -1 && a.value == detail::min_of<Raw>()) {
                detail::fail(detail::division_overflow, b.site, record_value(a));
            }
        }
    }
};

} // namespace phalanx
