// The values of the counter of a `while` loop, which is a loop over a range where a test has shown what they are:
//
//     const auto steps = counting(i, n, 4);
//     if (is_counting(steps) && covers(a, values_of(steps))) { for (auto k : unclamped(steps)) { /* without checks */ } }
#pragma once
#include <phalanx/range_values.cuh>

namespace phalanx {

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

    // A friend, so that range_values.cuh finds it.
    __device__ __forceinline__ friend constexpr interval<Raw> values_of(counting_steps steps) {
        const auto step = static_cast<unsigned long long>(steps.step);
        const auto distance = steps.end - 1 - steps.low;
        // The last value differs from the first by a multiple of what the step is one of.
        const auto past = distance & static_cast<long long>((step & (0 - step)) - 1);
        return {steps.low, steps.low + distance - past, step, steps.known};
    }
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

namespace detail {

// The type of two operands in an expression, of which the first may be a literal, whose values are of 64 bits.
template <class Raw, class Other>
struct type_of_both {
    using raw = Raw;
};
template <class Other>
struct type_of_both<unsigned long long, interval<Other>> {
    using raw = Other;
};
template <class Other>
struct type_of_both<unsigned long long, integer<Other>> {
    using raw = Other;
};

// The values of an operand as those of the type of both.
template <class Raw, class Other>
__device__ __forceinline__ constexpr interval<Raw> values_as(interval<Other> values) {
    if constexpr (same<Raw, Other>) {
        return values;
    } else {
        return {values.low, values.high, values.steps, values.known, values.none};
    }
}
template <class Raw, class Value>
__device__ __forceinline__ constexpr interval<Raw> values_as(Value value) {
    return value;
}

// Numbers from those of `first` to those of `last + beyond`, which differ by multiples of what `steps` do. If no last one is as large as a
// first one, there are none.
template <class Raw>
__device__ __forceinline__ constexpr interval<Raw>
from_to(interval<Raw> first, interval<Raw> last, long long beyond, unsigned long long steps, bool counts = true) {
    const interval<Raw> low = first.exact(), high = last.exact();
    const bool known = counts && low.known && high.known;
    const bool none = low.none || high.none || known && high.high + beyond < low.low;
    return {low.low, high.high + beyond, steps, known, none};
}
template <class First, class Last>
__device__ __forceinline__ constexpr auto from_to_either(interval<First> first, Last last, long long beyond) {
    using raw = typename type_of_both<First, Last>::raw;
    return from_to<raw>(values_as<raw>(first), values_as<raw>(last), beyond, 1);
}

// The values of a counter. They are unknown if it could wrap.
template <class First, class Last, class Step>
__device__ __forceinline__ constexpr auto counted(interval<First> start, Last end, long long beyond, Step by) {
    using raw = typename type_of_both<First, Last>::raw;
    const interval<raw> first = values_as<raw>(start), last = values_as<raw>(end), step = values_as<raw>(by);
    const bool counts = step.known && step.steps == 0 && step.low > 0 && last.exact().high + beyond <= interval<raw>::most() - step.low;
    return from_to<raw>(first, last, beyond, first.exact().steps | static_cast<unsigned long long>(step.low), counts);
}

} // namespace detail

// The values of the variable of a loop inside of another one, of which one or both ends have several values.
template <class First, class Last>
__device__ __forceinline__ constexpr auto values_through(detail::interval<First> first, Last last) {
    return detail::from_to_either(first, last, 0);
}
template <class First, class End>
__device__ __forceinline__ constexpr auto values_below(detail::interval<First> first, End end) {
    return detail::from_to_either(first, end, -1);
}

// The values of the counter of a `while` loop inside of another one, where it is below its bound.
template <class First, class Last, class Step>
__device__ __forceinline__ constexpr auto counted_through(detail::interval<First> first, Last last, Step step) {
    return detail::counted(first, last, 0, step);
}
template <class First, class End, class Step>
__device__ __forceinline__ constexpr auto counted_below(detail::interval<First> first, End end, Step step) {
    return detail::counted(first, end, -1, step);
}

} // namespace phalanx
