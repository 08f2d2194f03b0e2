// `local_array`, Rust's `[T; N]`. Every `x[i]` is checked.
#pragma once
#include <phalanx/index.cuh>

namespace phalanx {

// `[T; N]`: a value that assignment copies. `local_array<i32, 3>{1, 2, 3}`, `local_array<u32, 16>::filled(0)`.
template <class T, unsigned long long N>
struct local_array {
    T elements[N];

    __device__ __forceinline__ static constexpr local_array filled(T value) {
        local_array a;
        for (unsigned long long i = 0; i < N; ++i) {
            a.elements[i] = value;
        }
        return a;
    }

    __device__ __forceinline__ constexpr T& operator[](detail::located_index i) { return elements[i.below(N)]; }
    __device__ __forceinline__ constexpr const T& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    template <class Index>
    __device__ __forceinline__ constexpr T& operator[](detail::held_index<Index> i) { return get_unchecked(i.index); }
    template <class Index>
    __device__ __forceinline__ constexpr const T& operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ constexpr T& get_unchecked(detail::index i) { return elements[i.value]; }
    __device__ __forceinline__ constexpr const T& get_unchecked(detail::index i) const { return elements[i.value]; }
    __device__ __forceinline__ constexpr usize len() const { return N; }
    __device__ __forceinline__ constexpr bool is_empty() const { return N == 0; }
    __device__ __forceinline__ friend bool operator==(const local_array&, const local_array&) = default;

    // As in Rust, the first elements that differ decide; there is no order beside a NaN.
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const local_array& b, Before before, bool if_equal) const {
        for (unsigned long long i = 0; i < N; ++i) {
            if (!(elements[i] == b.elements[i])) {
                return before(elements[i], b.elements[i]);
            }
        }
        return if_equal;
    }
};

template <class T, unsigned long long N>
__device__ __forceinline__ constexpr bool operator<(const local_array<T, N>& a, const local_array<T, N>& b) {
    return a.ordered(b, [](const T& x, const T& y) { return x < y; }, false);
}

template <class T, unsigned long long N>
__device__ __forceinline__ constexpr bool operator<=(const local_array<T, N>& a, const local_array<T, N>& b) {
    return a.ordered(b, [](const T& x, const T& y) { return x <= y; }, true);
}

template <class T, unsigned long long N>
__device__ __forceinline__ constexpr bool operator>(const local_array<T, N>& a, const local_array<T, N>& b) {
    return a.ordered(b, [](const T& x, const T& y) { return x > y; }, false);
}

template <class T, unsigned long long N>
__device__ __forceinline__ constexpr bool operator>=(const local_array<T, N>& a, const local_array<T, N>& b) {
    return a.ordered(b, [](const T& x, const T& y) { return x >= y; }, true);
}

// What a pattern leaves of an array may be nothing.
template <class T>
struct local_array<T, 0> {
    __device__ __forceinline__ T& operator[](detail::located_index i) const { return *reinterpret_cast<T*>(i.below(0)); }
    __device__ __forceinline__ constexpr usize len() const { return 0; }
    __device__ __forceinline__ constexpr bool is_empty() const { return true; }
    __device__ __forceinline__ friend constexpr bool operator==(const local_array&, const local_array&) { return true; }
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const local_array&, Before, bool if_equal) const {
        return if_equal;
    }
};

// The elements of an array without the first and the last ones: `rest` of `[first, rest @ ..]`.
template <unsigned long long Front, unsigned long long Back, class T, unsigned long long N>
__device__ __forceinline__ constexpr local_array<T, N - Front - Back> rest_of(const local_array<T, N>& of) {
    local_array<T, N - Front - Back> a;
    for (unsigned long long i = Front; i < N - Back; ++i) {
        a.elements[i - Front] = of.elements[i];
    }
    return a;
}

// A variable of which the text only reads this part.
template <class T>
__device__ __forceinline__ constexpr const T& as_const(const T& variable) {
    return variable;
}

namespace detail {

// The number of elements of an array, by its type.
template <class Array>
struct array_length;
template <class T, unsigned long long N>
struct array_length<local_array<T, N>> {
    enum : unsigned long long { value = N };
};
template <class T>
struct array_length<T&> : array_length<T> {};
template <class T>
struct array_length<const T> : array_length<T> {};

} // namespace detail
} // namespace phalanx
