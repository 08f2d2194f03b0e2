// The values that an index takes in a loop, by interval arithmetic. One test before a loop shows that its accesses are
// within their memory, and the loop then runs without checks of its own. If the test fails, the loop runs with its
// checks, and reports the first access that is out of bounds, if there is one:
//
//     const auto steps = range(0, n);
//     if (covers(a, row * n + values_of(steps))) { /* the loop without checks */ } else { /* the loop with checks */ }
#pragma once
#include <phalanx/array.cuh>

namespace phalanx {
namespace detail {

// The values of an `integer<Raw>`. If `known` is true, each of them differs by a multiple of 2^bits from a number from `low` to `high`,
// as it does where an operation wraps. These numbers differ by multiples of the lowest set bit of `steps`, or not at all if that is 0. If
// `none` is true, there is no value, whatever the rest says.
//
// What the numbers can be at most, `ceiling`, follows from types and literals, so that a constant is what decides whether an operation could
// leave 64 bits, and most need no test. If `natural` is true, none of them is negative, and both limits are unsigned. Otherwise
// neither is further from 0 than the ceiling, which is at most `far`. If `plain` is true, the numbers are certainly the values themselves.
template <class Raw>
struct interval {
    long long low, high;
    unsigned long long steps, ceiling;
    bool known, none, natural, plain;

    // The values of the type from `low` to `high`.
    __device__ __forceinline__ constexpr interval(long long low, long long high, unsigned long long steps, bool known, bool none = false)
        : interval(low, high, steps, whole_type(), known && least() <= low && high <= most(), none, !signed_integer<Raw>, true) {}
    __device__ __forceinline__ constexpr interval(integer<Raw> value) : interval(value.value, value.value, 0, true) {}
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr interval(Literal value)
        : interval(static_cast<long long>(value), static_cast<long long>(value), 0, distance_from_zero(static_cast<long long>(value)),
                   static_cast<Literal>(static_cast<long long>(value)) == value && least() <= static_cast<long long>(value) &&
                       static_cast<long long>(value) <= most(),
                   false, static_cast<long long>(value) >= 0, true) {}
    __device__ __forceinline__ constexpr interval(long long low, long long high, unsigned long long steps, unsigned long long ceiling,
                                        bool known, bool none, bool natural, bool plain = false)
        : low(low), high(high), steps(steps), ceiling(ceiling), known(known), none(none), natural(natural), plain(plain) {}

    // The limits are those of the type, and far enough from those of `long long` that no sum of two overflows. A larger
    // unsigned value becomes a negative one.
    __device__ __forceinline__ static constexpr long long least() {
        return sizeof(Raw) < 8 || !signed_integer<Raw> ? static_cast<long long>(min_of<Raw>()) : 1 - (1ll << 62);
    }
    __device__ __forceinline__ static constexpr long long most() {
        return sizeof(Raw) < 8 ? static_cast<long long>(max_of<Raw>()) : (1ll << 62) - 1;
    }

    // The same numbers, if they are values of the type, so that each is the value itself.
    __device__ __forceinline__ constexpr interval exact() const {
        const bool low_fits = plain || natural || least() <= low;
        const bool high_fits = plain || (natural ? static_cast<unsigned long long>(high) <= most() : high <= most());
        return {low, high, steps, ceiling < whole_type() ? ceiling : whole_type(), known && low_fits && high_fits, none,
                natural || !signed_integer<Raw>, true};
    }

    // The sums of natural numbers may need all 64 bits.
    __device__ __forceinline__ friend constexpr interval operator+(interval a, interval b) {
        const auto low = wrapping(a.low, b.low), high = wrapping(a.high, b.high);
        if (a.natural && b.natural) {
            const bool fits = b.ceiling <= ~0ull - a.ceiling;
            const bool carries = !fits && static_cast<unsigned long long>(high) < static_cast<unsigned long long>(a.high);
            return {low, high, a.steps | b.steps, fits ? a.ceiling + b.ceiling : ~0ull, a.known && b.known && !carries,
                    a.none || b.none, true};
        }
        const interval first = a.near_to(b), second = b.near_to(a);
        return {low, high, a.steps | b.steps, first.ceiling + second.ceiling, first.known && second.known, a.none || b.none, false};
    }
    __device__ __forceinline__ friend constexpr interval operator-(interval a, interval b) {
        const interval first = a.near_to(b), second = b.near_to(a);
        return {wrapping(a.low, 0 - static_cast<unsigned long long>(b.high)), wrapping(a.high, 0 - static_cast<unsigned long long>(b.low)),
                a.steps | b.steps, first.ceiling + second.ceiling, first.known && second.known, a.none || b.none, false};
    }
    // The factors are words, so that no product overflows.
    __device__ __forceinline__ friend constexpr interval operator*(interval a, interval b) {
        const auto first = static_cast<unsigned long long>(a.low), second = static_cast<unsigned long long>(b.low);
        const auto of_words = [](long long x, long long y) {
            return static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(x)) * static_cast<unsigned>(y));
        };
        constexpr unsigned long long word = ~0u;
        const unsigned long long most_first = a.ceiling < word ? a.ceiling : word, most_second = b.ceiling < word ? b.ceiling : word;
        return {of_words(a.low, b.low), of_words(a.high, b.high), first * b.steps | second * a.steps | a.steps * b.steps,
                most_first * most_second, a.known && b.known && a.is_of_words() && b.is_of_words(), a.none || b.none, true};
    }
    __device__ __forceinline__ friend constexpr interval operator/(interval dividend, interval by) {
        const interval a = dividend.exact(), b = by.exact();
        const bool defined = a.low >= 0 && b.low == b.high && b.low > 0;
        const long long divisor = defined ? b.low : 1;
        const bool whole = a.granule() % static_cast<unsigned long long>(divisor) == 0;
        return {a.low / divisor, a.high / divisor, whole ? a.steps / divisor : 1, a.known && b.known && defined, a.none || b.none};
    }
    // The values differ by multiples of what both those of `a` and the divisor are multiples of.
    __device__ __forceinline__ friend constexpr interval operator%(interval dividend, interval by) {
        const interval a = dividend.exact(), b = by.exact();
        const auto steps = a.steps | (b.low == b.high ? static_cast<unsigned long long>(b.low) : 1);
        if (!signed_integer<Raw> && b.low > 0 && a.is_bounded_by(b)) {
            return with_fixed_bits(a.low, b.high - 1, a.known ? steps : 1, true, a.none);
        }
        return with_fixed_bits(a.low, lesser(a.high, b.high - 1), steps, a.known && b.known && a.low >= 0 && b.low > 0, a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval operator&(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        if (b.low >= 0 && a.is_bounded_by(b)) {
            return with_fixed_bits(a.low & b.low, b.high, a.known ? a.steps : 1, true, a.none);
        }
        return with_fixed_bits(a.low & b.low, lesser(a.high, b.high), a.steps | b.steps, are_natural(a, b), a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval operator|(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        return with_fixed_bits(a.low | b.low, all_bits(a, b), a.steps | b.steps, are_natural(a, b), a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval operator^(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        return with_fixed_bits(a.low ^ b.low, all_bits(a, b), a.steps | b.steps, are_natural(a, b), a.none || b.none);
    }

    // A single value bounds the result whatever the others are, so that nothing of a thread's own has to be computed for a test of an
    // index that is kept within bounds by it. Otherwise each value is one of both, which differ by the difference of any two of theirs.
    __device__ __forceinline__ friend constexpr interval min(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        const interval bound = b.steps == 0 ? b : a, other = b.steps == 0 ? a : b;
        if (bound.steps == 0) {
            constexpr bool natural = !signed_integer<Raw>;
            const long long low = natural ? 0 : other.known ? lesser(other.low, bound.low) : least();
            return of_type(low, bound.high, 1, bound.known && (natural || other.is_limited()), a.none || b.none);
        }
        return of_type(lesser(a.low, b.low), lesser(a.high, b.high), mixed(a, b), a.known && b.known, a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval max(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        const interval bound = b.steps == 0 ? b : a, other = b.steps == 0 ? a : b;
        if (bound.steps == 0) {
            return of_type(bound.low, other.known ? greater(other.high, bound.high) : most(), 1, bound.known && other.is_limited(),
                           a.none || b.none);
        }
        return of_type(greater(a.low, b.low), greater(a.high, b.high), mixed(a, b), a.known && b.known, a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval saturating_sub(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
        const auto least = static_cast<long long>(min_of<Raw>());
        const auto steps = a.low - b.high < least ? 1 : a.steps | b.steps;
        return {greater(a.low - b.high, least), greater(a.high - b.low, least), steps, a.known && b.known, a.none || b.none};
    }

    // What the values differ by multiples of; 0 for a single value.
    __device__ __forceinline__ constexpr unsigned long long granule() const { return steps & (0 - steps); }

private:
    // Numbers that are values of the type if they are known.
    __device__ __forceinline__ static constexpr interval
    of_type(long long low, long long high, unsigned long long steps, bool known, bool none) {
        return {low, high, steps, whole_type(), known, none, !signed_integer<Raw>, true};
    }

    static constexpr unsigned long long far = ~0ull >> 1;

    // The same numbers, if their sums and differences with the others are signed words of 64 bits.
    __device__ __forceinline__ constexpr interval near_to(interval other) const {
        constexpr long long half = far / 2;
        const bool is_near = ceiling <= half || ceiling <= far && other.ceiling <= far - ceiling;
        const bool low_fits = natural || -half <= low;
        const bool high_fits = natural ? static_cast<unsigned long long>(high) <= half : high <= half;
        return {low, high, steps, is_near ? ceiling : half, known && (is_near || low_fits && high_fits), none, natural, plain};
    }
    // What is too large is not known, and nothing is undefined.
    __device__ __forceinline__ static constexpr long long wrapping(unsigned long long a, unsigned long long b) {
        return static_cast<long long>(a + b);
    }
    __device__ __forceinline__ static constexpr bool is_constant(long long number) { return PHALANX_IS_CONSTANT(number); }
    // How far a value of the type is from 0.
    __device__ __forceinline__ static constexpr unsigned long long whole_type() {
        return static_cast<unsigned long long>(most()) + (signed_integer<Raw> ? 1 : 0);
    }
    __device__ __forceinline__ static constexpr unsigned long long distance_from_zero(long long value) {
        return value < 0 ? 0 - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
    }
    // Whether all are natural numbers of 32 bits. If the lower limit of values of a narrow type is natural, the upper one is, too.
    __device__ __forceinline__ constexpr bool is_of_words() const {
        const bool is_natural = natural || low >= 0;
        return is_natural && (ceiling <= ~0u || static_cast<unsigned long long>(high) <= ~0u);
    }
    // Whether the other operand is a constant, and these values are not: its bound holds of any value, and of what is computed by a thread
    // nothing is needed.
    __device__ __forceinline__ constexpr bool is_bounded_by(interval by) const {
        return by.known && by.steps == 0 && is_constant(by.high) && !is_constant(high);
    }
    // Whether all values are from `least()` to `most()`.
    __device__ __forceinline__ constexpr bool is_limited() const { return known || sizeof(Raw) < 8; }
    __device__ __forceinline__ static constexpr long long lesser(long long a, long long b) { return a < b ? a : b; }
    __device__ __forceinline__ static constexpr long long greater(long long a, long long b) { return a > b ? a : b; }
    __device__ __forceinline__ static constexpr unsigned long long mixed(interval a, interval b) {
        return a.steps | b.steps | static_cast<unsigned long long>(a.low - b.low);
    }
    __device__ __forceinline__ static constexpr bool are_natural(interval a, interval b) {
        return a.known && b.known && a.low >= 0 && b.low >= 0;
    }
    // No bit of the result of `|` and `^` is above the highest bit of both operands.
    __device__ __forceinline__ static constexpr long long all_bits(interval a, interval b) {
        return static_cast<long long>(~0ull >> __clzll(a.high | b.high | 1));
    }
    // The values up to `high` that have the bits of `one` of them below the lowest set bit of `steps`, or all if that is 0.
    __device__ __forceinline__ static constexpr interval
    with_fixed_bits(long long one, long long high, unsigned long long steps, bool known, bool none) {
        const auto fixed = static_cast<long long>((steps & (0 - steps)) - 1);
        const auto low = one & fixed;
        return {low, high - (high - low & fixed), steps, known, none};
    }
};

template <class Raw, class Amount>
__device__ __forceinline__ constexpr interval<Raw> operator<<(interval<Raw> a, Amount amount) {
    const unsigned bits = shift_amount(amount);
    return a * interval<Raw>(1ll << (bits & 31), 1ll << (bits & 31), 0, bits < 31);
}
template <class Raw, class Amount>
__device__ __forceinline__ constexpr interval<Raw> operator>>(interval<Raw> values, Amount amount) {
    const auto a = values.exact();
    const unsigned bits = shift_amount(amount) & (bit_count<Raw>() - 1);
    const bool whole = a.granule() >> bits << bits == a.granule();
    return {a.low >> bits, a.high >> bits, whole ? a.steps >> bits : 1, a.known, a.none};
}

// The values from `a` to `b` or from `b` to `a`.
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> between(Raw a, Raw b, unsigned long long steps, bool known) {
    const interval<Raw> first(a), last(b);
    const bool up = first.low <= last.low;
    return {up ? first.low : last.low, up ? last.low : first.low, steps, known && first.known && last.known};
}

// Whether a test holds. Several are made together, without a branch after each: most consist of few instructions.
struct test {
    bool holds;

    __device__ __forceinline__ constexpr test(bool holds) : holds(holds) {}
    __device__ __forceinline__ constexpr operator bool() const { return holds; }
    __device__ __forceinline__ friend constexpr test operator&&(test a, test b) { return a.holds & b.holds; }
    __device__ __forceinline__ friend constexpr test operator&&(bool a, test b) { return a & b.holds; }
    __device__ __forceinline__ friend constexpr test operator&&(test a, bool b) { return a.holds & b; }
};

// Whether all of the values are indexes of `length` elements. A length that `is_short` is a positive word with a sign.
template <class Raw>
__device__ __forceinline__ constexpr bool are_below(interval<Raw> values, unsigned long long length, bool is_short = false) {
    // A number of a signed type that is too large is the negative one of a value.
    const bool is_value = !signed_integer<Raw> || sizeof(Raw) == 8 || sizeof(Raw) == 4 && is_short ||
                          static_cast<unsigned long long>(values.high) <= max_of<Raw>();
    const bool is_natural = values.natural || values.low >= 0;
    return values.none || values.known && is_natural && is_value && static_cast<unsigned long long>(values.high) < length;
}

} // namespace detail

// The single value of a variable that the loop does not change.
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(integer<Raw> value) {
    return value;
}
__device__ __forceinline__ constexpr detail::interval<unsigned long long> values_of(detail::raw_integer auto literal) {
    return literal;
}

// The numbers of threads of a warp.
__device__ __forceinline__ constexpr detail::interval<unsigned> threads_of_warp() { return {0, 32, 1, true}; }

// All values of the type of one. They are not known, so that only what is limited by another value is.
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> anything_like(integer<Raw>) {
    return {detail::interval<Raw>::least(), detail::interval<Raw>::most(), 1, false};
}

// The elements of a local array of integers, or of a vector.
template <template <class, unsigned long long> class Elements, class Raw, unsigned long long N>
__device__ __forceinline__ constexpr detail::interval<Raw> values_in(const Elements<integer<Raw>, N>& elements) {
    Raw low = elements.get_unchecked(0).value, high = low;
    for (unsigned long long i = 1; i < N; ++i) {
        const Raw element = elements.get_unchecked(i).value;
        low = element < low ? element : low;
        high = element < high ? high : element;
    }
    const detail::interval<Raw> least(integer<Raw>{low}), most(integer<Raw>{high});
    return {least.low, most.low, 1, least.known && most.known};
}

// The values after a conversion of each.
template <class To, class Raw>
__device__ __forceinline__ constexpr auto as(detail::interval<Raw> values) {
    using raw = decltype(To::value);
    // What differs by a multiple of 2^32 does not do so by one of 2^64.
    const auto kept = sizeof(raw) <= sizeof(Raw) ? values : values.exact();
    constexpr bool has_all = sizeof(raw) > sizeof(Raw) && (detail::signed_integer<raw> || !detail::signed_integer<Raw>);
    return detail::interval<raw>(kept.low, kept.high, kept.steps, kept.ceiling, kept.known, kept.none, kept.natural, has_all);
}

// Whether a number, which is the length of a range, is not negative.
template <class Raw>
__device__ __forceinline__ constexpr detail::test is_natural(integer<Raw> length) {
    return !detail::signed_integer<Raw> || length.value >= 0;
}
__device__ __forceinline__ constexpr detail::test is_natural(detail::raw_integer auto literal) {
    return literal >= 0;
}

// Whether `memory[i]` is within bounds for all of these values of `i`.
template <class Memory, class Raw>
__device__ __forceinline__ constexpr detail::test covers(const Memory& memory, detail::interval<Raw> values) {
#ifdef PHALANX_SHORT_SLICES
    constexpr bool is_short = requires { memory.length; };
#else
    constexpr bool is_short = false;
#endif
    return detail::are_below(values, memory.len().value, is_short);
}
// Whether `memory[as<To>(i)]` is. A number that is negative, or one of 32 bits that is none, is larger than every length in 64 bits.
template <class To, class Memory, class Raw>
__device__ __forceinline__ constexpr detail::test covers_as(const Memory& memory, detail::interval<Raw> values) {
    if constexpr (detail::signed_integer<Raw> && sizeof(Raw) == 4 && sizeof(To) == 8) {
        return covers(memory, values);
    } else {
        return covers(memory, as<To>(values));
    }
}

// Whether `row[i]` is within bounds, where a row is an array that is an element of memory.
template <class Row, class Raw>
__device__ __forceinline__ constexpr detail::test covers_row(detail::interval<Raw> values) {
    return detail::are_below(values, detail::array_length<Row>::value);
}

} // namespace phalanx
