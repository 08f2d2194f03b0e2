// The values that an index has where an access is made, which the comparisons before the access let through: `if x > 0 { a[x - 1] }`.
#pragma once
#include <phalanx/spread.cuh>

namespace phalanx {

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
    const bool is_said = values.known & says_something(values, limit);
    if (values.steps == 0) {
        return {values.low, values.high, 0, values.known, values.none || is_said && value == values.low};
    }
    if (!is_said || value != values.low && value != values.high) {
        return values;
    }
    const auto step = static_cast<long long>(values.granule());
    const long long low = values.low + (value == values.low ? step : 0), high = values.high - (value == values.high ? step : 0);
    return {low, high, values.steps, true, values.none || low > high};
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

} // namespace phalanx
