// Accesses of a loop that are reported after it. The loop goes on with the last element in place of one that is out of bounds,
// and if there was one, runs again with its checks:
//
//     unsigned outside = !covers(x, values_of(0));
//     if (!outside) { for (auto e : steps) { sum += x.get_unchecked(deferred(x, columns.get_unchecked(e), outside)); } }
//     if (outside) { for (auto e : steps) { sum += x[columns[e]]; } }
#pragma once
#include <phalanx/vector_within.cuh>

namespace phalanx {
namespace detail {

// What of an index does not fit a word. A negative one of at most 32 bits is larger than all lengths that do.
template <class Index>
__device__ __forceinline__ unsigned beyond_word(Index i) {
    if constexpr (requires { i.value; }) {
        if constexpr (sizeof(i.value) <= sizeof(unsigned)) {
            return 0;
        }
    }
    return static_cast<unsigned>(index(i).value >> 32);
}

// The largest multiple of a power of two that is at most `i` and at most `last`. What differs between it and `i` is added to `outside`: a
// minimum and an operation of bits, where a comparison would take two for its result. Of a multiple, the compiler knows that the minimum is one.
template <class Index>
__device__ __forceinline__ usize nearest(Index i, slice_length last, unsigned multiple, unsigned& outside) {
    const auto whole = static_cast<slice_length>(index(i).value);
    const slice_length mask = ~static_cast<slice_length>(multiple - 1), largest = last & mask;
    const slice_length near = (whole < largest ? whole : largest) & mask;
    const slice_length differs = whole ^ near;
    if constexpr (sizeof(slice_length) == sizeof(unsigned)) {
        outside |= differs | beyond_word(i);
    } else {
        outside |= static_cast<unsigned>(differs) | static_cast<unsigned>(static_cast<unsigned long long>(differs) >> 32);
    }
    return static_cast<unsigned long long>(near);
}

} // namespace detail

// Returns the index of an element that is within bounds: `i`, or another one, which `outside` then says. There is an element.
template <class Memory, class Index>
__device__ __forceinline__ usize deferred(const Memory& memory, Index i, unsigned& outside) {
    return detail::nearest(i, static_cast<detail::slice_length>(memory.len().value - 1), 1, outside);
}

// The same of a vector. The first one is within bounds and aligned, so that others are if their index is a multiple of their lanes.
template <unsigned long long N, class Memory, class Index>
__device__ __forceinline__ usize deferred_vector(Memory&& memory, Index i, unsigned& outside) {
    static_assert((N & (N - 1)) == 0, "the lanes are a power of two");
    return detail::nearest(i, static_cast<detail::slice_length>(detail::whole(memory).length - N), N, outside);
}

} // namespace phalanx
