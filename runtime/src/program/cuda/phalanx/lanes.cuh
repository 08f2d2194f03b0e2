// `vector`, which is `Vector<T, N>`, and the short names of those that have one. Assignment copies it, and every `x[i]`
// is checked. vector.cuh has loads and stores.
#pragma once
#include <phalanx/array.cuh>
#include <phalanx/half.cuh>

namespace phalanx {
namespace detail {

// Returns one of the two `f16` in a word. Both come out of the word by one instruction, for the assembler to do arithmetic on both at once.
// If the lower one is a conversion of the word, as the compiler writes it, it computes with the halves exchanged, and exchanges
// those of each operand before.
__device__ __forceinline__ f16 half_of(unsigned word, bool is_upper) {
    unsigned short lower, upper;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(lower), "=h"(upper) : "r"(word));
    return f16::from_bits(is_upper ? upper : lower);
}

} // namespace detail

// A vector of up to 16 bytes, aligned to its size. `f32x4{a, b, c, d}`, `f32x4::filled(x)`.
template <class T, unsigned long long N>
struct alignas(sizeof(T) * N) vector {
    T lanes[N];

    __device__ __forceinline__ static constexpr vector filled(T value) {
        vector v;
        for (unsigned long long i = 0; i < N; ++i) {
            v.lanes[i] = value;
        }
        return v;
    }
    __device__ __forceinline__ static constexpr vector of(local_array<T, N> values) {
        vector v;
        for (unsigned long long i = 0; i < N; ++i) {
            v.lanes[i] = values.elements[i];
        }
        return v;
    }

    __device__ __forceinline__ constexpr T& operator[](detail::located_index i) { return lanes[i.below(N)]; }
    __device__ __forceinline__ constexpr decltype(auto) operator[](detail::located_index i) const { return lane(i.below(N)); }
    __device__ __forceinline__ constexpr T& get_unchecked(detail::index i) { return lanes[i.value]; }
    __device__ __forceinline__ constexpr decltype(auto) get_unchecked(detail::index i) const { return lane(i.value); }
    __device__ __forceinline__ constexpr usize len() const { return N; }
    __device__ __forceinline__ constexpr bool is_empty() const { return N == 0; }

private:
    // A narrow lane is taken out of the word that holds it. Where paths of the program meet, the compiler then keeps the words of a
    // vector; if lanes were read by themselves, it would keep each in a register of its own.
    __device__ __forceinline__ constexpr decltype(auto) lane(unsigned long long i) const {
        if constexpr (sizeof(T) < sizeof(unsigned) && sizeof(T) * N >= sizeof(unsigned)) {
            using bits = typename detail::loaded<sizeof(T)>::type;
            const auto at = i * sizeof(T);
            const unsigned word = reinterpret_cast<const unsigned*>(lanes)[at / sizeof(unsigned)];
            if constexpr (detail::same<T, f16>) {
                return detail::half_of(word, at % sizeof(unsigned) != 0);
            } else {
                return __builtin_bit_cast(T, static_cast<bits>(word >> at % sizeof(unsigned) * 8));
            }
        } else {
            return static_cast<const T&>(lanes[i]);
        }
    }
};

namespace detail {

template <class T, unsigned long long N>
struct array_length<vector<T, N>> {
    enum : unsigned long long { value = N };
};

} // namespace detail

using i8x2 = vector<i8, 2>;
using i8x4 = vector<i8, 4>;
using i8x8 = vector<i8, 8>;
using i8x16 = vector<i8, 16>;
using u8x2 = vector<u8, 2>;
using u8x4 = vector<u8, 4>;
using u8x8 = vector<u8, 8>;
using u8x16 = vector<u8, 16>;
using i16x2 = vector<i16, 2>;
using i16x4 = vector<i16, 4>;
using i16x8 = vector<i16, 8>;
using u16x2 = vector<u16, 2>;
using u16x4 = vector<u16, 4>;
using u16x8 = vector<u16, 8>;
using f16x2 = vector<f16, 2>;
using f16x4 = vector<f16, 4>;
using f16x8 = vector<f16, 8>;
using bf16x2 = vector<bf16, 2>;
using bf16x4 = vector<bf16, 4>;
using bf16x8 = vector<bf16, 8>;
using i32x2 = vector<i32, 2>;
using i32x4 = vector<i32, 4>;
using u32x2 = vector<u32, 2>;
using u32x4 = vector<u32, 4>;
using f32x2 = vector<f32, 2>;
using f32x4 = vector<f32, 4>;
using i64x2 = vector<i64, 2>;
using u64x2 = vector<u64, 2>;
using f64x2 = vector<f64, 2>;

} // namespace phalanx
