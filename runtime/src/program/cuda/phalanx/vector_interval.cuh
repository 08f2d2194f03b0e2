// The tests before loops (interval.cuh) of the bounds and the alignment of vectors.
#pragma once
#include <phalanx/interval.cuh>
#include <phalanx/vector.cuh>

namespace phalanx {

namespace detail {

// Whether vectors of `N` elements from each of these indexes on are within bounds and aligned, in memory that begins at
// a multiple of the alignment of `start`.
template <unsigned long long N, unsigned long long Bytes, class Raw>
__device__ __forceinline__ constexpr bool
are_vectors(interval<Raw> values, unsigned long long length, unsigned long long start) {
    const auto first = start + static_cast<unsigned long long>(values.low) * Bytes;
    const bool aligned = ((first | values.steps * Bytes) & (Bytes * N - 1)) == 0;
    return values.none || are_below(values, vector_starts<N>(length)) && aligned;
}

} // namespace detail

// Whether vectors of `N` elements are within bounds and aligned.
template <unsigned long long N, class Memory, class Raw>
__device__ __forceinline__ detail::test covers_vectors(Memory&& memory, detail::interval<Raw> values) {
    const auto whole = detail::whole(memory);
    return detail::are_vectors<N, sizeof(*whole.data)>(values, whole.length, detail::address_of(whole, whole.data));
}

// The same in rows, arrays that are elements of memory.
template <unsigned long long N, class Memory, class Raw>
__device__ __forceinline__ detail::test covers_row_vectors(Memory&& memory, detail::interval<Raw> values) {
    const auto whole = detail::whole(memory);
    using row = decltype(*whole.data);
    constexpr auto length = detail::array_length<row>::value;
    const auto start = detail::address_of(whole, whole.data) | sizeof(row);
    return detail::are_vectors<N, sizeof(row) / length>(values, length, start);
}

} // namespace phalanx
