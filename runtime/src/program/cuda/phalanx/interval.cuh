// The values that an index takes in a loop, by interval arithmetic. One test before a loop shows that its accesses are
// within their memory, and the loop then runs without checks of its own. If the test fails, the loop runs with its
// checks, and reports the first access that is out of bounds, if there is one:
//
//     const auto steps = range(0, n);
//     if (covers(a, row * n + values_of(steps))) { /* the loop without checks */ } else { /* the loop with checks */ }
#pragma once
#include <phalanx/array.cuh>
#include <phalanx/stepped_range.cuh>

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
        return with_fixed_bits(a.low, lesser(a.high, b.high - 1), steps, a.known && b.known && a.low >= 0 && b.low > 0, a.none || b.none);
    }
    __device__ __forceinline__ friend constexpr interval operator&(interval left, interval right) {
        const interval a = left.exact(), b = right.exact();
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

// Whether all of the values are indexes of `length` elements.
template <class Raw>
__device__ __forceinline__ constexpr bool are_below(interval<Raw> values, unsigned long long length) {
    // A number of a signed type that is too large is the negative one of a value.
    const bool is_value = !signed_integer<Raw> || sizeof(Raw) == 8 || static_cast<unsigned long long>(values.high) <= max_of<Raw>();
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

// The elements of a local array of integers.
template <class Raw, unsigned long long N>
__device__ __forceinline__ constexpr detail::interval<Raw> values_in(const local_array<integer<Raw>, N>& array) {
    Raw low = array.elements[0].value, high = low;
    for (unsigned long long i = 1; i < N; ++i) {
        const Raw element = array.elements[i].value;
        low = element < low ? element : low;
        high = element < high ? high : element;
    }
    const detail::interval<Raw> least(integer<Raw>{low}), most(integer<Raw>{high});
    return {least.low, most.low, 1, least.known && most.known};
}

// The values of a loop over a range. They are unknown if there are none.
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::forward_range<Raw> range) {
    const detail::interval<Raw> low(range.low), high(range.high);
    return {low.low, high.low - 1, 1, low.known && high.known && low.low < high.low};
}
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::reversed_range<Raw> range) {
    return values_of(detail::forward_range<Raw>{range.low, range.high});
}
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::forward_steps<Raw> range) {
    const detail::interval<Raw> low(range.current), high(range.high);
    // It is 0 if the step is the number of values of the type.
    const auto step = static_cast<detail::bits_of<Raw>>(range.skip + 1);
    const bool some = low.known && high.known && range.more && step != 0;
    const auto steps = some ? range.last() / step : 0;
    return {low.low, low.low + static_cast<long long>(steps * step), step, some};
}

template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::inclusive_range<Raw> range) {
    return detail::between(range.current, range.last, 1, range.more);
}
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::stepped_range<Raw> range) {
    const auto size = static_cast<detail::bits_of<Raw>>(range.skip + 1);
    const bool some = range.more && size != 0;
    const auto steps = some ? range.left / size : 0;
    const auto last = static_cast<Raw>(static_cast<detail::bits_of<Raw>>(range.current) + steps * range.step);
    return detail::between(range.current, last, size, some);
}

namespace detail {

// What is added to each value of an interval. It is known while no term is so large that a sum of some could overflow.
struct displacement {
    long long by = 0;
    unsigned long long ceiling = 0;
    // Whether it is certainly no decrease, and no increase.
    bool known = true, natural = true, lowers = true;

    template <class Value>
    __device__ __forceinline__ constexpr displacement up_by(Value value) const {
        return added(values_of(value), 1);
    }
    template <class Value>
    __device__ __forceinline__ constexpr displacement down_by(Value value) const {
        return added(values_of(value), -1);
    }

private:
    template <class Interval>
    __device__ __forceinline__ constexpr displacement added(Interval value, int sign) const {
        constexpr long long most = 1ll << 56;
        const bool is_small = value.ceiling <= most || -most < value.low && value.low < most;
        return {by + sign * value.low, ceiling + (value.ceiling < most ? value.ceiling : most), known && value.known && is_small,
                natural && value.natural && (sign > 0 || value.ceiling == 0),
                lowers && value.natural && (sign < 0 || value.ceiling == 0)};
    }
};

} // namespace detail

template <class Value>
__device__ __forceinline__ constexpr detail::displacement up_by(Value value) {
    return detail::displacement().up_by(value);
}
template <class Value>
__device__ __forceinline__ constexpr detail::displacement down_by(Value value) {
    return detail::displacement().down_by(value);
}

// The values of several indexes that differ by what the loop does not change: `i + 1`, `i - n`. Only the sums have to be values of the type:
// what wraps on the way to them wraps back.
template <class Raw, class... Shifts>
__device__ __forceinline__ constexpr detail::interval<Raw> spread_by(detail::interval<Raw> base, detail::displacement first, Shifts... others) {
    // Where some certainly increase the values and others decrease them, the ones say nothing of the lowest sum, and the others
    // nothing of the highest: what is compared are natural numbers, of 32 bits if the terms are.
    const bool is_apart = (first.natural || ... || others.natural) && (first.lowers || ... || others.lowers);
    unsigned long long up = 0, down = 0, steps = 0, ceiling = 0;
    long long low = is_apart ? 0 : first.by, high = low;
    bool known = true, natural = true;
    const auto add = [&](detail::displacement of) {
        const auto by = static_cast<unsigned long long>(of.by);
        if (is_apart && of.natural) {
            up = by > up ? by : up;
        } else if (is_apart && of.lowers) {
            down = 0 - by > down ? 0 - by : down;
        } else {
            low = of.by < low ? of.by : low;
            high = of.by > high ? of.by : high;
        }
        steps |= static_cast<unsigned long long>(of.by - first.by);
        ceiling = of.ceiling > ceiling ? of.ceiling : ceiling;
        known = known && of.known;
        natural = natural && of.natural;
    };
    (add(first), ..., add(others));
    if (is_apart) {
        const auto least = -static_cast<long long>(down), most = static_cast<long long>(up);
        low = least < low ? least : low;
        high = most > high ? most : high;
    }
    return base + detail::interval<Raw>(low, high, steps, ceiling, known, false, natural);
}

namespace detail {

// The values of a variable that a `while` loop increases by a step as long as it is below a bound. They are unknown if there are none,
// or if the variable could wrap.
template <class Raw>
struct counting_steps {
    long long low, end, step;
    bool known;

    __device__ __forceinline__ constexpr counting_steps(interval<Raw> first, interval<Raw> end, long long beyond, interval<Raw> step)
        : low(first.low), end(end.low + beyond), step(step.low),
          known(first.known && end.known && step.known && step.low > 0 && first.low < end.low + beyond &&
                end.low + beyond - 1 + step.low <= interval<Raw>::most()) {}
};

} // namespace detail

// The values of `i` in `while i < end { ..; i += step; }`
template <class Raw, class End, class Step>
__device__ __forceinline__ constexpr detail::counting_steps<Raw> counting(integer<Raw> first, End end, Step step) {
    return {first, end, 0, step};
}
// The same while `i <= end`.
template <class Raw, class End, class Step>
__device__ __forceinline__ constexpr detail::counting_steps<Raw> counting_through(integer<Raw> first, End end, Step step) {
    return {first, end, 1, step};
}
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw> values_of(detail::counting_steps<Raw> steps) {
    const auto step = static_cast<unsigned long long>(steps.step);
    const auto distance = steps.end - 1 - steps.low;
    // The last value differs from the first by a multiple of what the step is one of.
    const auto past = distance & static_cast<long long>((step & (0 - step)) - 1);
    return {steps.low, steps.low + distance - past, step, steps.known};
}

namespace detail {

// The numbers of a loop's iterations, from 0.
template <class Raw, class Range>
__device__ __forceinline__ constexpr interval<Raw> rounds_of(Range range) {
    const auto values = values_of(range);
    const auto distance = static_cast<unsigned long long>(values.high - values.low);
    const auto last = values.steps == 0 ? 0 : distance / values.steps;
    return {0, static_cast<long long>(last), 1, values.known};
}

} // namespace detail

// The values of a variable that is `first` in the first iteration of a loop over a range, and `step` more or less in each
// further one.
template <class Raw, class Step, class Range>
__device__ __forceinline__ constexpr detail::interval<Raw> increased(integer<Raw> first, Step step, Range range) {
    return detail::interval<Raw>(first) + detail::rounds_of<Raw>(range) * detail::interval<Raw>(step);
}
template <class Raw, class Step, class Range>
__device__ __forceinline__ constexpr detail::interval<Raw> decreased(integer<Raw> first, Step step, Range range) {
    return detail::interval<Raw>(first) - detail::rounds_of<Raw>(range) * detail::interval<Raw>(step);
}

namespace detail {

// A range that counts down how many values are left.
template <class Raw>
struct counted_steps {
    Raw current;
    bits_of<Raw> step, left;

    __device__ __forceinline__ counted_steps begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const { return current; }
    __device__ __forceinline__ void operator++() {
        current = static_cast<Raw>(current + step);
        --left;
    }
    __device__ __forceinline__ bool operator!=(range_end) const { return left != 0; }
};

} // namespace detail

// The same range without what only a range needs that comes near its type's limits. It may be empty: a test of accesses whose
// index does not change says nothing of the range.
template <class Range>
__device__ __forceinline__ Range unclamped(Range range) {
    return range;
}
template <class Raw>
__device__ __forceinline__ detail::counted_steps<Raw> unclamped(detail::forward_steps<Raw> range) {
    // It is 0 if the step is the number of values of the type.
    const auto step = static_cast<detail::bits_of<Raw>>(range.skip + 1);
    const auto further = step == 0 ? 0 : range.last() / step;
    return {range.current, step, static_cast<detail::bits_of<Raw>>(range.more ? further + 1 : 0)};
}

// Whether there are such values. Without them, `unclamped` has no meaning.
template <class Raw>
__device__ __forceinline__ constexpr detail::test is_counting(detail::counting_steps<Raw> steps) {
    return steps.known;
}
template <class Raw>
__device__ __forceinline__ detail::counted_steps<Raw> unclamped(detail::counting_steps<Raw> steps) {
    using bits = detail::bits_of<Raw>;
    const auto step = static_cast<bits>(steps.step), distance = static_cast<bits>(steps.end - 1 - steps.low);
    return {static_cast<Raw>(steps.low), step, static_cast<bits>(distance / step + 1)};
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

namespace detail {

// A comparison that a value plus a displacement passes: the least and the most that the sum may be, or what it is not.
struct lower_limit {
    long long least;
    displacement added;
    bool known;
};
struct upper_limit {
    long long most;
    displacement added;
    bool known;
};
struct excluded_value {
    long long value;
    displacement added;
    bool known;
};

template <class>
inline constexpr bool is_lower = false;
template <>
inline constexpr bool is_lower<lower_limit> = true;
template <class>
inline constexpr bool is_upper = false;
template <>
inline constexpr bool is_upper<upper_limit> = true;

// Whether the sum of each of the values and the displacement is a value of the type, so that it is compared as it is.
template <class Raw, class Limit>
__device__ __forceinline__ constexpr bool says_something(interval<Raw> values, Limit limit) {
    const long long by = limit.added.by;
    const bool is_sum = values.known && interval<Raw>::least() <= values.low + by && values.high + by <= interval<Raw>::most();
    return limit.known && limit.added.known && (by == 0 || is_sum);
}

// The values that pass a comparison.
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> limited_by(interval<Raw> all, lower_limit limit) {
    const auto values = all.exact();
    const long long least = limit.least - limit.added.by;
    if (!values.known || !says_something(values, limit) || least <= values.low) {
        return values;
    }
    // The next value that differs from the lowest by a multiple of what all differ by.
    const auto step = values.granule(), missing = static_cast<unsigned long long>(least) - static_cast<unsigned long long>(values.low);
    const long long low = values.low + static_cast<long long>(step == 0 ? missing : (missing + step - 1) & -step);
    return {low, values.high, values.steps, true, values.none || low > values.high};
}
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> limited_by(interval<Raw> all, upper_limit limit) {
    const auto values = all.exact();
    const long long high = limit.most - limit.added.by;
    if (!values.known || !says_something(values, limit) || values.high <= high) {
        return values;
    }
    return {values.low, high, values.steps, true, values.none || high < values.low};
}
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> limited_by(interval<Raw> all, excluded_value limit) {
    const auto values = all.exact();
    const long long value = limit.value - limit.added.by;
    if (!values.known || !says_something(values, limit) || value != values.low && value != values.high) {
        return values;
    }
    const auto step = static_cast<long long>(values.granule());
    const long long low = values.low + (value == values.low ? step : 0), high = values.high - (value == values.high ? step : 0);
    return {low, high, values.steps, true, values.none || step == 0 || low > high};
}

// The least and the most that limits from both sides allow.
struct bounds_of_limits {
    long long low = -(1ll << 62), high = 1ll << 62;

    __device__ __forceinline__ constexpr void add(lower_limit limit) {
        const long long least = limit.least - limit.added.by;
        low = least > low ? least : low;
    }
    __device__ __forceinline__ constexpr void add(upper_limit limit) {
        const long long most = limit.most - limit.added.by;
        high = most < high ? most : high;
    }
    __device__ __forceinline__ constexpr void add(excluded_value) {}
};

} // namespace detail

// The comparisons with a bound that a value passes, or its sum with a displacement: `less_than(n, up_by(1))` is `value + 1 < n`.
template <class Bound>
__device__ __forceinline__ constexpr detail::lower_limit at_least(Bound bound, detail::displacement added = {}) {
    const auto value = values_of(bound);
    return {value.low, added, value.known};
}
template <class Bound>
__device__ __forceinline__ constexpr detail::lower_limit more_than(Bound bound, detail::displacement added = {}) {
    const auto value = values_of(bound);
    return {value.low + 1, added, value.known};
}
template <class Bound>
__device__ __forceinline__ constexpr detail::upper_limit at_most(Bound bound, detail::displacement added = {}) {
    const auto value = values_of(bound);
    return {value.low, added, value.known};
}
template <class Bound>
__device__ __forceinline__ constexpr detail::upper_limit less_than(Bound bound, detail::displacement added = {}) {
    const auto value = values_of(bound);
    return {value.low - 1, added, value.known};
}
template <class Bound>
__device__ __forceinline__ constexpr detail::excluded_value other_than(Bound bound, detail::displacement added = {}) {
    const auto value = values_of(bound);
    return {value.low, added, value.known};
}

// The values that pass all of some comparisons.
template <class Raw, class... Limits>
__device__ __forceinline__ constexpr detail::interval<Raw> limited(detail::interval<Raw> values, Limits... limits) {
    ((values = detail::limited_by(values, limits)), ...);
    return values;
}

// The values that some comparisons allow. Where they bound them from both sides, the thread's own values do not matter, so that
// all threads make the same test.
template <class Raw, class... Limits>
__device__ __forceinline__ constexpr detail::interval<Raw> confined(detail::interval<Raw> all, Limits... limits) {
    const auto values = all.exact();
    if constexpr ((detail::is_lower<Limits> || ...) && (detail::is_upper<Limits> || ...)) {
        detail::bounds_of_limits bounds;
        (bounds.add(limits), ...);
        const bool known = (detail::says_something(values, limits) && ...);
        return {bounds.low, bounds.high, 1, known, values.none || known && bounds.low > bounds.high};
    }
    return limited(values, limits...);
}

// Whether `memory[i]` is within bounds for all of these values of `i`.
template <class Memory, class Raw>
__device__ __forceinline__ constexpr detail::test covers(const Memory& memory, detail::interval<Raw> values) {
    return detail::are_below(values, memory.len().value);
}

// Whether `row[i]` is within bounds, where a row is an array that is an element of memory.
template <class Row, class Raw>
__device__ __forceinline__ constexpr detail::test covers_row(detail::interval<Raw> values) {
    return detail::are_below(values, detail::array_length<Row>::value);
}

} // namespace phalanx
