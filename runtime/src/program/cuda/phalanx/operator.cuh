// The named operators of `reduce` and the scans, as in cooperative groups: `op::plus()` is Rust's `op::Plus`. Each has
// a function of two values, an `identity`, and the instruction that reduces a warp by it, if the hardware has one (PTX
// ISA, redux.sync, for 32-bit integers).
#pragma once
#include <phalanx/math.cuh>

namespace phalanx {
namespace detail {

// The type to which an integer of up to 32 bits, or a `bool`, is widened for `redux.sync`, so that the low bits of the
// result are correct.
template <bool Signed>
struct register_word {
    using type = unsigned;
};
template <>
struct register_word<true> {
    using type = int;
};
template <class T>
struct widened {};
template <class Raw>
    requires(sizeof(Raw) <= 4)
struct widened<integer<Raw>> : register_word<signed_integer<Raw>> {};
template <>
struct widened<bool> : register_word<false> {};

// Rust's `MIN` and `MAX`; for floats the infinities.
template <class T>
struct limits;
template <class Raw>
struct limits<integer<Raw>> {
    __device__ __forceinline__ static constexpr integer<Raw> zero() { return 0; }
    __device__ __forceinline__ static constexpr integer<Raw> least() { return min_of<Raw>(); }
    __device__ __forceinline__ static constexpr integer<Raw> most() { return max_of<Raw>(); }
};
template <>
struct limits<f32> {
    __device__ __forceinline__ static constexpr f32 zero() { return 0.0f; }
    __device__ __forceinline__ static constexpr f32 least() { return f32::from_bits(0xff800000u); }
    __device__ __forceinline__ static constexpr f32 most() { return f32::from_bits(0x7f800000u); }
};
template <>
struct limits<f64> {
    __device__ __forceinline__ static constexpr f64 zero() { return 0.0; }
    __device__ __forceinline__ static constexpr f64 least() { return f64::from_bits(0xfff0000000000000ull); }
    __device__ __forceinline__ static constexpr f64 most() { return f64::from_bits(0x7ff0000000000000ull); }
};

} // namespace detail

namespace op {

struct plus {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a + b;
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return detail::limits<T>::zero();
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return __reduce_add_sync(lanes, value);
    }
};

struct min {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return phalanx::min(a, b);
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return detail::limits<T>::most();
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return __reduce_min_sync(lanes, value);
    }
};

struct max {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return phalanx::max(a, b);
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return detail::limits<T>::least();
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return __reduce_max_sync(lanes, value);
    }
};

// `bool & bool` is an `int` in C++, so it is converted back to a `T`.
struct bit_and {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a & b;
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return !T(0);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return static_cast<Raw>(__reduce_and_sync(lanes, static_cast<unsigned>(value)));
    }
};

struct bit_or {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a | b;
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return T(0);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return static_cast<Raw>(__reduce_or_sync(lanes, static_cast<unsigned>(value)));
    }
};

struct bit_xor {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a ^ b;
    }
    template <class T>
    __device__ __forceinline__ static constexpr T identity() {
        return T(0);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw in_hardware(unsigned lanes, Raw value) {
        return static_cast<Raw>(__reduce_xor_sync(lanes, static_cast<unsigned>(value)));
    }
};

} // namespace op

namespace detail {

// One of the above operators, as opposed to a closure: it is commutative.
template <class Op>
concept named_operator = requires { Op::in_hardware(0u, 0u); };

// An operator that never fails, whatever it is given, so that any thread may compute it: a branch would take longer.
template <class Op>
struct total_operator {
    Op op;

    template <class T>
    __device__ __forceinline__ auto operator()(const T& left, const T& right) const {
        return op(left, right);
    }
};
template <class Op>
__device__ __forceinline__ total_operator<Op> total(Op op) {
    return {op};
}
template <class Op>
inline constexpr bool is_total = false;
template <class Op>
inline constexpr bool is_total<total_operator<Op>> = true;

} // namespace detail
} // namespace phalanx
