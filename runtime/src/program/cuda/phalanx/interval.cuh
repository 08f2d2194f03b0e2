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

// The values of an `integer<Raw>`: they are from `low` to `high`, and differ by multiples of the lowest set bit of
// `steps`, or not at all if that is 0. If `known` is false, they can be any. It is true only while no operation
// wraps, for any of the values.
template <class Raw>
struct interval {
    long long low, high;
    unsigned long long steps;
    bool known;

    __device__ __forceinline__ constexpr interval(long long low, long long high, unsigned long long steps, bool known)
        : low(low), high(high), steps(steps), known(known && least() <= low && high <= most()) {}
    __device__ __forceinline__ constexpr interval(integer<Raw> value) : interval(value.value) {}
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr interval(Literal value)
        : interval(static_cast<long long>(value), static_cast<long long>(value), 0,
                   static_cast<Literal>(static_cast<long long>(value)) == value) {}

    // The limits are those of the type, and far enough from those of `long long` that no sum overflows. A larger
    // unsigned value becomes a negative one.
    __device__ __forceinline__ static constexpr long long least() {
        return sizeof(Raw) < 8 || !signed_integer<Raw> ? static_cast<long long>(min_of<Raw>()) : 1 - (1ll << 62);
    }
    __device__ __forceinline__ static constexpr long long most() {
        return sizeof(Raw) < 8 ? static_cast<long long>(max_of<Raw>()) : (1ll << 62) - 1;
    }

    __device__ __forceinline__ friend constexpr interval operator+(interval a, interval b) {
        return {a.low + b.low, a.high + b.high, a.steps | b.steps, a.known && b.known};
    }
    __device__ __forceinline__ friend constexpr interval operator-(interval a, interval b) {
        return {a.low - b.high, a.high - b.low, a.steps | b.steps, a.known && b.known};
    }
    // The factors are small enough that no product overflows.
    __device__ __forceinline__ friend constexpr interval operator*(interval a, interval b) {
        const auto first = static_cast<unsigned long long>(a.low), second = static_cast<unsigned long long>(b.low);
        const bool small = ((a.low | a.high | b.low | b.high) >> 31) == 0;
        return {static_cast<long long>(first * second),
                static_cast<long long>(static_cast<unsigned long long>(a.high) * static_cast<unsigned long long>(b.high)),
                first * b.steps | second * a.steps | a.steps * b.steps, a.known && b.known && small};
    }
    __device__ __forceinline__ friend constexpr interval operator/(interval a, interval b) {
        const bool defined = a.low >= 0 && b.low == b.high && b.low > 0;
        const long long divisor = defined ? b.low : 1;
        const bool whole = a.granule() % static_cast<unsigned long long>(divisor) == 0;
        return {a.low / divisor, a.high / divisor, whole ? a.steps / divisor : 1, a.known && b.known && defined};
    }
    // The values differ by multiples of what both those of `a` and the divisor are multiples of.
    __device__ __forceinline__ friend constexpr interval operator%(interval a, interval b) {
        const auto steps = a.steps | (b.low == b.high ? static_cast<unsigned long long>(b.low) : 1);
        return with_fixed_bits(a.low, lesser(a.high, b.high - 1), steps, a.known && b.known && a.low >= 0 && b.low > 0);
    }
    __device__ __forceinline__ friend constexpr interval operator&(interval a, interval b) {
        return with_fixed_bits(a.low & b.low, lesser(a.high, b.high), a.steps | b.steps, are_natural(a, b));
    }
    __device__ __forceinline__ friend constexpr interval operator|(interval a, interval b) {
        return with_fixed_bits(a.low | b.low, all_bits(a, b), a.steps | b.steps, are_natural(a, b));
    }
    __device__ __forceinline__ friend constexpr interval operator^(interval a, interval b) {
        return with_fixed_bits(a.low ^ b.low, all_bits(a, b), a.steps | b.steps, are_natural(a, b));
    }

    // A single value bounds the result whatever the others are, so that nothing of a thread's own has to be computed for a test of an
    // index that is kept within bounds by it. Otherwise each value is one of both, which differ by the difference of any two of theirs.
    __device__ __forceinline__ friend constexpr interval min(interval a, interval b) {
        const interval bound = b.steps == 0 ? b : a, other = b.steps == 0 ? a : b;
        if (bound.steps == 0) {
            constexpr bool natural = !signed_integer<Raw>;
            const long long low = natural ? 0 : other.known ? lesser(other.low, bound.low) : least();
            return {low, bound.high, 1, bound.known && (natural || other.is_limited())};
        }
        return {lesser(a.low, b.low), lesser(a.high, b.high), mixed(a, b), a.known && b.known};
    }
    __device__ __forceinline__ friend constexpr interval max(interval a, interval b) {
        const interval bound = b.steps == 0 ? b : a, other = b.steps == 0 ? a : b;
        if (bound.steps == 0) {
            return {bound.low, other.known ? greater(other.high, bound.high) : most(), 1, bound.known && other.is_limited()};
        }
        return {greater(a.low, b.low), greater(a.high, b.high), mixed(a, b), a.known && b.known};
    }
    __device__ __forceinline__ friend constexpr interval saturating_sub(interval a, interval b) {
        const auto least = static_cast<long long>(min_of<Raw>());
        const auto steps = a.low - b.high < least ? 1 : a.steps | b.steps;
        return {greater(a.low - b.high, least), greater(a.high - b.low, least), steps, a.known && b.known};
    }

    // What the values differ by multiples of; 0 for a single value.
    __device__ __forceinline__ constexpr unsigned long long granule() const { return steps & (0 - steps); }

private:
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
    with_fixed_bits(long long one, long long high, unsigned long long steps, bool known) {
        const auto fixed = static_cast<long long>((steps & (0 - steps)) - 1);
        const auto low = one & fixed;
        return {low, high - (high - low & fixed), steps, known};
    }
};

template <class Raw, class Amount>
__device__ __forceinline__ constexpr interval<Raw> operator<<(interval<Raw> a, Amount amount) {
    const unsigned bits = shift_amount(amount);
    return a * interval<Raw>(1ll << (bits & 31), 1ll << (bits & 31), 0, bits < 31);
}
template <class Raw, class Amount>
__device__ __forceinline__ constexpr interval<Raw> operator>>(interval<Raw> a, Amount amount) {
    const unsigned bits = shift_amount(amount) & (bit_count<Raw>() - 1);
    const bool whole = a.granule() >> bits << bits == a.granule();
    return {a.low >> bits, a.high >> bits, whole ? a.steps >> bits : 1, a.known};
}

// The values from `a` to `b` or from `b` to `a`.
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> between(Raw a, Raw b, unsigned long long steps, bool known) {
    const interval<Raw> first(a), last(b);
    const bool up = first.low <= last.low;
    return {up ? first.low : last.low, up ? last.low : first.low, steps, known && first.known && last.known};
}

// Whether all of the values are indexes of `length` elements.
template <class Raw>
__device__ __forceinline__ constexpr bool are_below(interval<Raw> values, unsigned long long length) {
    return values.known && values.low >= 0 && static_cast<unsigned long long>(values.high) < length;
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
    bool known = true;

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
        return {by + sign * value.low, known && value.known && -most < value.low && value.low < most};
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
    long long low = first.by, high = first.by;
    unsigned long long steps = base.steps;
    bool known = base.known && first.known;
    const auto add = [&](detail::displacement other) {
        low = other.by < low ? other.by : low;
        high = other.by > high ? other.by : high;
        steps |= static_cast<unsigned long long>(other.by - first.by);
        known = known && other.known;
    };
    (add(others), ...);
    return {base.low + low, base.high + high, steps, known};
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
__device__ __forceinline__ constexpr bool is_counting(detail::counting_steps<Raw> steps) {
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
    return detail::interval<decltype(To::value)>(values.low, values.high, values.steps, values.known);
}

// Whether `memory[i]` is within bounds for all of these values of `i`.
template <class Memory, class Raw>
__device__ __forceinline__ constexpr bool covers(const Memory& memory, detail::interval<Raw> values) {
    return detail::are_below(values, memory.len().value);
}

// Whether `row[i]` is within bounds, where a row is an array that is an element of memory.
template <class Row, class Raw>
__device__ __forceinline__ constexpr bool covers_row(detail::interval<Raw> values) {
    return detail::are_below(values, detail::array_length<Row>::value);
}

} // namespace phalanx
