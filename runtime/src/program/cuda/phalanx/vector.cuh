// Loads and stores vectors of up to 16 bytes by one instruction (PTX ISA, ld and st, `.v2` and `.v4`; CUDA C++
// Programming Guide, Device Memory Accesses). A vector's address must be a multiple of its size, which is checked.
#pragma once
#include <phalanx/lanes.cuh>
#include <phalanx/subslice.cuh>

namespace phalanx {

namespace detail {

// Returns the number of places at which `N` elements begin in memory of this length. It does not change in a loop, and is a constant
// if the length is one.
template <unsigned long long N, class Length>
__device__ __forceinline__ constexpr Length vector_starts(Length length) {
    constexpr Length fewer = N - 1;
    return (length > fewer ? length : fewer) - fewer;
}

// Returns the first of the `N` elements from `i` on, after checking both bounds and the alignment.
template <unsigned long long N, class Slice>
__device__ __forceinline__ auto vector_place(Slice memory, index i, unsigned site) {
    auto* const place = memory.data + i.value;
    if (i.value >= vector_starts<N>(memory.length)) {
        fail(range_out_of_bounds, site, recorded{i.tag, i.value}, recorded{i.tag, i.value + N},
             recorded{unsigned_value, memory.length});
    }
    if (address_of(memory, place) % (sizeof(*place) * N) != 0) {
        fail(misaligned_vector, site, recorded{i.tag, i.value}, recorded{unsigned_value, sizeof(*place) * N});
    }
    return place;
}

// An overload for memory that is not written while the kernel runs.
template <unsigned long long N, class T>
__device__ __forceinline__ vector<T, N> load_vector(readonly_slice<T>, const T* place) {
#ifndef PHALANX_WAITS_FOR_PREVIOUS // as for `load_readonly`
    if constexpr (sizeof(T) < 8 && sizeof(T) * N == 8) {
        // As two words, of which lanes are parts, and not as one integer.
        return __builtin_bit_cast(vector<T, N>, __ldg(reinterpret_cast<const uint2*>(place)));
    }
#endif
    return load_readonly(reinterpret_cast<const vector<T, N>*>(place));
}
template <unsigned long long N, class Slice, class T>
__device__ __forceinline__ vector<T, N> load_vector(Slice, const T* place) {
    return *reinterpret_cast<const vector<T, N>*>(place);
}

template <class T, unsigned long long N>
__device__ __forceinline__ void store_vector(T* place, vector<T, N> value) {
    *reinterpret_cast<vector<T, N>*>(place) = value;
}
// Narrow lanes are stored as one integer, because the compiler may store each part by itself if they are computed one by one.
// The integer is made of words, of which the assembler rounds two 16-bit floats by one conversion. The compiler does not assume
// that memory of another type is other memory.
template <class T, unsigned long long N>
__device__ __forceinline__ unsigned long long two_words(const vector<T, N>& value, unsigned first) {
    const auto* words = reinterpret_cast<const unsigned*>(value.lanes);
    return static_cast<unsigned long long>(words[first + 1]) << 32 | words[first];
}
#ifdef PHALANX_INT128
template <class T, unsigned long long N>
    requires(sizeof(T) < 4 && sizeof(vector<T, N>) == 16)
__device__ __forceinline__ void store_vector(T* place, vector<T, N> value) {
    const auto high = static_cast<unsigned __int128>(two_words(value, 2)) << 64;
    *reinterpret_cast<unsigned __int128*>(place) = high | two_words(value, 0);
}
#endif
template <class T, unsigned long long N>
    requires(sizeof(T) < 4 && sizeof(vector<T, N>) == 8)
__device__ __forceinline__ void store_vector(T* place, vector<T, N> value) {
    *reinterpret_cast<unsigned long long*>(place) = two_words(value, 0);
}
template <class T, unsigned long long N>
    requires(sizeof(T) < 4 && sizeof(vector<T, N>) < 8)
__device__ __forceinline__ void store_vector(T* place, vector<T, N> value) {
    using word = typename loaded<sizeof(vector<T, N>)>::type;
    *reinterpret_cast<word*>(place) = __builtin_bit_cast(word, value);
}

} // namespace detail

// `memory.load_vec::<N>(i)`: the elements from `i` to `i + N`.
template <unsigned long long N, class Memory, class Index>
__device__ __forceinline__ auto load_vec(Memory&& memory, Index i, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const auto* place = detail::vector_place<N>(whole, i, site);
    return detail::load_vector<N>(whole, place);
}

// `memory.store_vec(i, v)`
template <class Memory, class Index, class T, unsigned long long N>
__device__ __forceinline__ void store_vec(Memory&& memory, Index i, vector<T, N> value, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    T* place = detail::vector_place<N>(whole, i, site);
    detail::store_vector(place, value);
}

// The lanes of a vector.
template <class Vector>
__device__ __forceinline__ consteval unsigned long long lanes_of() {
    return detail::array_length<Vector>::value;
}

// The same without any check: a test before them has shown that they hold.
template <unsigned long long N, class Memory, class Index>
__device__ __forceinline__ auto load_vec_unchecked(Memory&& memory, Index i) {
    const auto whole = detail::whole(memory);
    return detail::load_vector<N>(whole, whole.data + detail::index(i).value);
}
template <class Memory, class Index, class T, unsigned long long N>
__device__ __forceinline__ void store_vec_unchecked(Memory&& memory, Index i, vector<T, N> value) {
    detail::store_vector(detail::whole(memory).data + detail::index(i).value, value);
}
// In a loop, the compiler may take the lanes' addresses apart and store each lane by itself, where no test has shown it the alignment.
template <class Index, class T, unsigned long long N>
    requires(sizeof(T) == 4 && N == 4)
__device__ __forceinline__ void store_vec_unchecked(slice_mut<T> memory, Index i, vector<T, N> value) {
    const auto words = __builtin_bit_cast(uint4, value);
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(__cvta_generic_to_global(memory.data + detail::index(i).value)), "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w)
                 : "memory");
}

// The host has made the check (launch_checks.cuh).
template <unsigned long long N, class Memory, class Index>
__device__ __forceinline__ auto load_vec(Memory&& memory, detail::held_index<Index> i, PHALANX_SITE) {
    return load_vec_unchecked<N>(memory, i.index);
}
template <class Memory, class Index, class T, unsigned long long N>
__device__ __forceinline__ void store_vec(Memory&& memory, detail::held_index<Index> i, vector<T, N> value, PHALANX_SITE) {
    store_vec_unchecked(memory, i.index, value);
}

} // namespace phalanx
