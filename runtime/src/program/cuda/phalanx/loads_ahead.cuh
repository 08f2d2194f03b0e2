// Elements next to each other that a loop from 0 loads, loaded before it:
//
//     const auto x_ahead = loaded_ahead<8>(x, steps, [&](auto memory, auto k) { return memory.get_adjacent(i * 8 + k); });
//     for (auto k : steps) { out[i * 8 + k] = f(x_ahead.get_unchecked(k)); }
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {
namespace detail {

// The most elements that are loaded before a loop, and the most bytes.
constexpr unsigned long long most_ahead = 32, most_bytes_ahead = 128;

// Memory whose loads are not joined.
template <class Memory>
struct unjoined {
    const Memory& memory;
    __device__ __forceinline__ decltype(auto) get_adjacent(tested_index i) const { return memory.get_unchecked(i); }
};

// Loads that stay where they are.
template <class Memory, class Load>
struct loaded_late {
    unjoined<Memory> memory;
    Load load;
    template <class Index>
    __device__ __forceinline__ auto get_unchecked(Index i) const { return load(memory, i); }
};

} // namespace detail

template <unsigned long long rounds, class Memory, class Range, class Load>
__device__ __forceinline__ detail::loaded_late<Memory, Load> loaded_ahead(const Memory& memory, const Range&, Load load) {
    return {{memory}, load};
}
// The launch before a kernel that waits for it may write the memory while the kernel runs.
#ifndef PHALANX_WAITS_FOR_PREVIOUS
template <unsigned long long rounds, class T, class Range, class Load>
    requires(rounds >= 2 && rounds <= detail::most_ahead && rounds * sizeof(T) <= detail::most_bytes_ahead)
__device__ __forceinline__ local_array<T, rounds> loaded_ahead(const readonly_slice<T>& memory, const Range& steps, Load load) {
    local_array<T, rounds> loaded;
    auto number = *steps.begin();
#pragma unroll
    for (unsigned k = 0; k < rounds; ++k) {
        number.value = static_cast<decltype(number.value)>(k);
        loaded.elements[k] = load(memory, number);
    }
    return loaded;
}
#endif

} // namespace phalanx
