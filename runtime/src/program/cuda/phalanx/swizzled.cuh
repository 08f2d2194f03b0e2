// `swizzled`, a row of a tile in shared memory whose units of 16 bytes are exchanged (PTX ISA, Swizzling modes): unit `u` of
// the row at address `a` is at `u ^ (a / 128 % (bytes / 16))`. Every `x[i]` is checked.
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {
namespace detail {

// Returns what is exclusive-ored with the numbers of a row's units, by the address of the first of several rows, and the row's number: `a / 128 %
// (Bytes / 16)` for the address `a` of the row. The compiler knows the low bits of both, and so that rows 8 apart have the same, but not those of
// their sum.
template <unsigned long long Bytes>
__device__ __forceinline__ unsigned exchange(unsigned first, unsigned row) {
    static_assert(Bytes == 32 || Bytes == 64 || Bytes == 128, "the hardware has three patterns");
    return (first / Bytes + row) / (128 / Bytes) % (Bytes / 16);
}

} // namespace detail

// Rust's `Swizzled<T, N>`, which lies in shared memory alone.
template <class T, unsigned long long N>
struct swizzled {
    T elements[N];

    swizzled() = default;
    swizzled(const swizzled&) = delete;
    swizzled& operator=(const swizzled&) = delete;

    __device__ __forceinline__ T& operator[](detail::located_index i) { return elements[place(i.below(N))]; }
    __device__ __forceinline__ const T& operator[](detail::located_index i) const { return elements[place(i.below(N))]; }
    __device__ __forceinline__ T& get_unchecked(detail::index i) { return elements[place(i.value)]; }
    __device__ __forceinline__ const T& get_unchecked(detail::index i) const { return elements[place(i.value)]; }
    __device__ __forceinline__ usize len() const { return N; }
    __device__ __forceinline__ bool is_empty() const { return false; }

private:
    __device__ __forceinline__ unsigned long long place(unsigned long long i) const {
        return i ^ detail::exchange<sizeof(T) * N>(detail::shared_address(this), 0) * (16 / sizeof(T));
    }
};

namespace detail {

template <class T, unsigned long long N>
struct array_length<swizzled<T, N>> {
    enum : unsigned long long { value = N };
};

// Where a byte of a row lies, by the address of the first of several rows, and the row's number.
template <class Row>
struct exchanged {
    __device__ __forceinline__ static unsigned address(unsigned first, unsigned row, unsigned byte) {
        return first + row * static_cast<unsigned>(sizeof(Row)) + byte;
    }
};
template <class T, unsigned long long N>
struct exchanged<swizzled<T, N>> {
    __device__ __forceinline__ static unsigned address(unsigned first, unsigned row, unsigned byte) {
        constexpr unsigned bytes = sizeof(T) * N;
        return first + row * bytes + (byte ^ exchange<bytes>(first, row) * 16);
    }
};

} // namespace detail
} // namespace phalanx
