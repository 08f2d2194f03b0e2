// Accesses of a loop that are reported after it. The loop goes on with the first element in place of one that is out of bounds,
// and if there was one, runs again with its checks:
//
//     unsigned inside = covers(x, values_of(0));
//     if (inside) { for (auto e : steps) { sum += x.get_unchecked(deferred(x, columns.get_unchecked(e), inside)); } }
//     if (!inside) { for (auto e : steps) { sum += x[columns[e]]; } }
#pragma once
#include <phalanx/vector_within.cuh>

namespace phalanx {
namespace detail {

// An index that has passed its test fits a length. What all tests say together is a word, of which each test keeps or takes what is left: a
// `bool` would be taken out of the predicate of one test for that of the next.
__device__ __forceinline__ usize first_unless(bool is_inside, index i, unsigned& inside) {
    inside = is_inside ? inside : 0;
    return static_cast<unsigned long long>(is_inside ? static_cast<slice_length>(i.value) : slice_length(0));
}

} // namespace detail

// Returns the index of an element that is within bounds: `i`, or 0, which `inside` then says.
template <class Memory>
__device__ __forceinline__ usize deferred(const Memory& memory, detail::index i, unsigned& inside) {
    return detail::first_unless(i.value < memory.len().value, i, inside);
}

// The same of a vector, which is aligned, too.
template <unsigned long long N, class Memory>
__device__ __forceinline__ usize deferred_vector(Memory&& memory, detail::index i, unsigned& inside) {
    return detail::first_unless(vector_within<N>(memory, i).holds, i, inside);
}

} // namespace phalanx
