// Loops over the elements of a shared array that are in a range, which lies within the array:
//
//     for (auto k : positions_of(sums, steps)) { if (is_in(k, steps)) { sum += sums.get_unchecked(k); } }
#pragma once
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>

namespace phalanx {
namespace detail {

// The most elements of an array that are all looked at.
constexpr unsigned long long short_length = 16;

} // namespace detail

// The positions of all elements of a short array, and those of the range in another one.
template <class T, unsigned long long N, class Raw>
__device__ __forceinline__ detail::forward_range<Raw> positions_of(const shared_array<T, N>&, detail::forward_range<Raw> range) {
    if constexpr (N <= detail::short_length) {
        return {0, N};
    } else {
        return range;
    }
}

// Whether a range has a number.
template <class Raw>
__device__ __forceinline__ bool is_in(integer<Raw> number, detail::forward_range<Raw> range) {
    return range.low <= number.value & number.value < range.high;
}

} // namespace phalanx
