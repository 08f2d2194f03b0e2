// The values of the variables of a loop over a range, as intervals (interval.cuh), and the range as a loop without checks counts it.
#pragma once
#include <phalanx/interval.cuh>
#include <phalanx/stepped_range.cuh>

namespace phalanx {

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

// The numbers of a loop's iterations, from 0.
template <class Raw, class Range>
__device__ __forceinline__ constexpr interval<Raw> rounds_of(Range range) {
    const auto values = values_of(range);
    const auto distance = static_cast<unsigned long long>(values.high - values.low);
    const auto last = values.steps == 0 ? 0 : distance / values.steps;
    return {0, static_cast<long long>(last), 1, values.known};
}

// The numbers of iterations that may be over, up to the end of the last one.
template <class Raw, class Range>
__device__ __forceinline__ constexpr interval<Raw> rounds_over(Range range) {
    const auto rounds = rounds_of<Raw>(range);
    return {0, rounds.high + 1, 1, rounds.known};
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

// The values of a variable that each iteration may leave as it is, up to the end of the last one.
template <class Raw, class Step, class Range>
__device__ __forceinline__ constexpr detail::interval<Raw> increased_at_most(integer<Raw> first, Step step, Range range) {
    return detail::interval<Raw>(first) + detail::rounds_over<Raw>(range) * detail::interval<Raw>(step);
}
template <class Raw, class Step, class Range>
__device__ __forceinline__ constexpr detail::interval<Raw> decreased_at_most(integer<Raw> first, Step step, Range range) {
    return detail::interval<Raw>(first) - detail::rounds_over<Raw>(range) * detail::interval<Raw>(step);
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

// The values of a range whose number of rounds is known, which saves a division.
template <class Range, class Rounds>
__device__ __forceinline__ constexpr auto values_of(Range range, Rounds) {
    return values_of(range);
}
template <class Raw>
__device__ __forceinline__ constexpr detail::interval<Raw>
values_of(detail::forward_steps<Raw> range, detail::counted_steps<Raw> rounds) {
    const detail::interval<Raw> low(range.current), high(range.high);
    const bool some = low.known && high.known && rounds.left != 0;
    const auto last = static_cast<detail::bits_of<Raw>>(rounds.left - 1);
    return {low.low, low.low + static_cast<long long>(static_cast<unsigned long long>(last) * rounds.step), rounds.step, some};
}

} // namespace phalanx
