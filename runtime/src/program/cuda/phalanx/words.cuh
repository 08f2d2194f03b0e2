// Operations on integers of 64 bits whose numbers are words: the host knows before the launch that they are natural numbers of 32 bits in all of
// its threads. The instructions are those of 32 bits then, of which one does what takes two to twenty of 64:
//
//     word_at_launch<3>(y * width + x) * depth
//
// The compiler does not find this by itself: it narrows nothing behind a mask, and widens what is narrowed where it can. So each operation is
// one of the type `u32`.
#pragma once
#include <phalanx/launch_checks.cuh>
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

// The first operand of an operation whose numbers are words. If it is a float, only its conversion is to be one.
template <class Number>
struct word {
    Number number;
};

// A dividend that is less than twice the divisor.
template <class Number>
struct once {
    Number number;
};

template <class T>
inline constexpr bool is_integer = false;
template <class Raw>
inline constexpr bool is_integer<integer<Raw>> = true;
// What is known of several numbers is known of the largest, so that a negative one may be among them.
template <class T>
inline constexpr bool is_wide = false;
template <class Raw>
inline constexpr bool is_wide<integer<Raw>> = sizeof(Raw) == 8 && !signed_integer<Raw>;

template <class T>
inline constexpr bool is_dividend = is_integer<T>;
template <class Raw>
inline constexpr bool is_dividend<word<integer<Raw>>> = true;

template <class Raw>
__device__ __forceinline__ constexpr integer<unsigned> low(integer<Raw> number) {
    return integer<unsigned>(static_cast<unsigned>(number.value));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> from_low(integer<unsigned> number) {
    return integer<Raw>(static_cast<Raw>(number.value));
}

template <class Raw>
__device__ __forceinline__ constexpr unsigned divisor_of(word<integer<Raw>> dividend, divisor<integer<Raw>> by) {
    const unsigned value = low(by.value).value;
    if (value == 0) {
        fail(division_by_zero, by.site, record_value(dividend.number));
    }
    return value;
}

} // namespace detail

// The first operand of an operation, or what is converted, which is one of words if the check of this number holds.
template <unsigned number, class Number>
__device__ __forceinline__ constexpr auto word_at_launch(Number first) {
    if constexpr (holds_at_launch<number> && (detail::is_wide<Number> || !detail::is_integer<Number>)) {
        return detail::word<Number>{first};
    } else {
        return first;
    }
}

// The dividend of a remainder, from which the divisor is taken once at most if the check of this number holds.
template <unsigned number, class Number>
__device__ __forceinline__ constexpr auto once_at_launch(Number dividend) {
    if constexpr (holds_at_launch<number> && detail::is_dividend<Number>) {
        return detail::once<Number>{dividend};
    } else {
        return dividend;
    }
}

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> operator%(detail::once<integer<Raw>> a, detail::given<detail::divisor<integer<Raw>>> b) {
    const Raw dividend = a.number.value, by = b.value.value;
    return integer<Raw>(dividend < by ? dividend : static_cast<Raw>(dividend - by));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> operator%(detail::once<detail::word<integer<Raw>>> a, detail::given<detail::divisor<integer<Raw>>> b) {
    const unsigned dividend = detail::low(a.number.number).value, by = detail::low(b.value).value;
    return detail::from_low<Raw>(integer<unsigned>(dividend < by ? dividend : dividend - by));
}

template <class Raw>
__device__ __forceinline__ constexpr bool operator<(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) < detail::low(b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool operator<=(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) <= detail::low(b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool operator>(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) > detail::low(b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool operator>=(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) >= detail::low(b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool operator==(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) == detail::low(b);
}
template <class Raw>
__device__ __forceinline__ constexpr bool operator!=(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::low(a.number) != detail::low(b);
}

// The product has 64 bits.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> operator*(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    const auto factor = static_cast<unsigned long long>(detail::low(a.number).value);
    return integer<Raw>(static_cast<Raw>(factor * detail::low(b).value));
}
// The division is the compiler's own, which knows more of its result than of that of division.cuh.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> operator/(detail::word<integer<Raw>> a, detail::given<detail::divisor<integer<Raw>>> b) {
    return detail::from_low<Raw>(integer<unsigned>(detail::low(a.number).value / detail::divisor_of(a, b)));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> operator%(detail::word<integer<Raw>> a, detail::given<detail::divisor<integer<Raw>>> b) {
    return detail::from_low<Raw>(integer<unsigned>(detail::low(a.number).value % detail::divisor_of(a, b)));
}

template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> min(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::from_low<Raw>(min(detail::low(a.number), detail::low(b)));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> max(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::from_low<Raw>(max(detail::low(a.number), detail::low(b)));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> saturating_sub(detail::word<integer<Raw>> a, detail::given<integer<Raw>> b) {
    return detail::from_low<Raw>(saturating_sub(detail::low(a.number), detail::low(b)));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> clamped(detail::word<integer<Raw>> a, detail::given<integer<Raw>> low, detail::given<integer<Raw>> high) {
    return detail::from_low<Raw>(clamped(detail::low(a.number), detail::low(low), detail::low(high)));
}
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> clamp(detail::word<integer<Raw>> a, detail::given<integer<Raw>> low, detail::given<integer<Raw>> high, PHALANX_SITE) {
    return detail::from_low<Raw>(clamp(detail::low(a.number), detail::low(low), detail::low(high), site));
}

// What is no integer has its own operators and functions.
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto operator*(detail::word<A> a, B b) {
    return a.number * b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto operator/(detail::word<A> a, B b) {
    return a.number / b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto operator%(detail::word<A> a, B b) {
    return a.number % b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator<(detail::word<A> a, B b) {
    return a.number < b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator<=(detail::word<A> a, B b) {
    return a.number <= b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator>(detail::word<A> a, B b) {
    return a.number > b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator>=(detail::word<A> a, B b) {
    return a.number >= b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator==(detail::word<A> a, B b) {
    return a.number == b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr bool operator!=(detail::word<A> a, B b) {
    return a.number != b;
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto min(detail::word<A> a, B b) {
    return min(a.number, A(b));
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto max(detail::word<A> a, B b) {
    return max(a.number, A(b));
}
template <class A, class B>
    requires(!detail::is_integer<A>)
__device__ __forceinline__ constexpr auto clamp(detail::word<A> a, B low, B high, PHALANX_SITE) {
    return clamp(a.number, A(low), A(high), site);
}

// A conversion of an integer to a float, or of a float to an integer.
template <class To, class From>
__device__ __forceinline__ constexpr To as(detail::word<From> from) {
    if constexpr (detail::is_wide<From>) {
        return as<To>(detail::low(from.number));
    } else if constexpr (detail::is_wide<To>) {
        return as<To>(as<integer<unsigned>>(from.number));
    } else {
        return as<To>(from.number);
    }
}

// An index that is within bounds, as a word if lengths are. The address of an access without neighbours takes fewer instructions then.
template <class Raw>
__device__ __forceinline__ constexpr auto word_of(integer<Raw> i) {
#ifdef PHALANX_SHORT_SLICES
    return integer<unsigned>{static_cast<unsigned>(i.value)};
#else
    return i;
#endif
}

// The index of such an access, whose check is the one of this number.
template <unsigned number, class Raw>
__device__ __forceinline__ constexpr auto scattered_at_launch(integer<Raw> i) {
    if constexpr (holds_at_launch<number>) {
        return detail::held_index<decltype(word_of(i))>{word_of(i)};
    } else {
        return i;
    }
}

} // namespace phalanx
