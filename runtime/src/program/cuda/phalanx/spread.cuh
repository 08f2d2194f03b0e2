// Indexes that differ by what a loop does not change, such as those of a cell and its neighbours: one test is about the lowest and the
// highest of them.
#pragma once
#include <phalanx/interval.cuh>

namespace phalanx {

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

template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> values_from(integer<Raw> value) {
    return value;
}
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> values_from(interval<Raw> values) {
    return values;
}

// The limits are compared as signed words.
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw> joined(interval<Raw> a, interval<Raw> b) {
    constexpr unsigned long long most = ~0ull >> 1;
    return {a.low < b.low ? a.low : b.low, a.high < b.high ? b.high : a.high, 1, a.ceiling < b.ceiling ? b.ceiling : a.ceiling,
            a.known && b.known && a.ceiling <= most && b.ceiling <= most, a.none && b.none, a.natural && b.natural, a.plain && b.plain};
}

} // namespace detail

// All of these values, and those between them.
template <class First, class... Others>
__device__ __forceinline__ constexpr auto hull(First first, Others... others) {
    auto all = detail::values_from(first);
    ((all = detail::joined(all, detail::values_from(others))), ...);
    return all;
}

} // namespace phalanx
