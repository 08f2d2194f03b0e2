// The scalars of the kernel language by their Rust names, and `as` between them. `bool` is C++'s; `f16` and `bf16` are
// in half.cuh.
#pragma once
#include <phalanx/floating.cuh>
#include <phalanx/integer.cuh>

// `offsetof` needs a header, `__builtin_offsetof` an NVRTC newer than 13.0.
#define PHALANX_OFFSET_OF(TYPE, FIELD) static_cast<unsigned long long>(__INTADDR__(&((TYPE*)0)->FIELD))

// Whether the compiler knows a value. NVRTC 13.0 cannot say it.
#if __CUDACC_VER_MAJOR__ > 13 || __CUDACC_VER_MINOR__ >= 5
#define PHALANX_IS_CONSTANT(VALUE) __builtin_constant_p(VALUE)
#else
#define PHALANX_IS_CONSTANT(VALUE) false
#endif

namespace phalanx {

using i8 = integer<signed char>;
using i16 = integer<short>;
using i32 = integer<int>;
using i64 = integer<long long>;
using u8 = integer<unsigned char>;
using u16 = integer<unsigned short>;
using u32 = integer<unsigned>;
using u64 = integer<unsigned long long>;
using isize = i64;
using usize = u64;
using f32 = floating<float>;
using f64 = floating<double>;
#ifdef PHALANX_INT128
using i128 = integer<__int128>;
using u128 = integer<unsigned __int128>;
#endif

namespace detail {

// The bits of a value of this size.
template <unsigned long long Bytes>
struct loaded;
template <> struct loaded<1> { using type = unsigned char; };
template <> struct loaded<2> { using type = unsigned short; };
template <> struct loaded<4> { using type = unsigned; };
template <> struct loaded<8> { using type = unsigned long long; };
template <> struct loaded<16> { using type = uint4; };

template <class T>
__device__ __forceinline__ constexpr T raw_value(T value) {
    return value;
}
template <class Raw>
__device__ __forceinline__ constexpr Raw raw_value(integer<Raw> value) {
    return value.value;
}
template <class Raw>
__device__ __forceinline__ constexpr Raw raw_value(floating<Raw> value) {
    return value.value;
}

// The hardware's conversions to the integer types it supports, which round toward zero and clamp (PTX ISA, cvt). C++
// casts are undefined out of range, and the compiler folds them as such.
template <bool Signed>
__device__ __forceinline__ auto to_32_bits(float from) {
    if constexpr (Signed) {
        return __float2int_rz(from);
    } else {
        return __float2uint_rz(from);
    }
}
template <bool Signed>
__device__ __forceinline__ auto to_32_bits(double from) {
    if constexpr (Signed) {
        return __double2int_rz(from);
    } else {
        return __double2uint_rz(from);
    }
}
template <bool Signed>
__device__ __forceinline__ auto to_64_bits(float from) {
    if constexpr (Signed) {
        return __float2ll_rz(from);
    } else {
        return __float2ull_rz(from);
    }
}
template <bool Signed>
__device__ __forceinline__ auto to_64_bits(double from) {
    if constexpr (Signed) {
        return __double2ll_rz(from);
    } else {
        return __double2ull_rz(from);
    }
}

#ifdef PHALANX_INT128
// The result is computed from the bits, because the hardware has no such conversion. The value must not be NaN.
template <class To>
__device__ __forceinline__ To to_128_bits(double from) {
    const auto bits = __builtin_bit_cast(unsigned long long, from);
    const bool negative = bits >> 63;
    const int exponent = static_cast<int>(bits >> 52 & 2047) - 1075; // of the mantissa as an integer of 53 bits
    const unsigned __int128 mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    if (exponent < -52 || (negative && !signed_integer<To>)) {
        return 0;
    }
    if (exponent + 53 > static_cast<int>(bit_count<To>()) - signed_integer<To>) {
        return negative ? min_of<To>() : max_of<To>();
    }
    const unsigned __int128 magnitude = exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
    return static_cast<To>(negative ? -magnitude : magnitude);
}

// Rounds once: the low bits that do not fit into a 64-bit integer are merged into its lowest bit, which is below any
// mantissa. Then a multiplication by a power of two, which is exact (or overflows to infinity, as it must).
template <class Float>
__device__ __forceinline__ Float from_128_bits(unsigned __int128 from) {
    const auto high = static_cast<unsigned long long>(from >> 64);
    if (high == 0) {
        return static_cast<Float>(static_cast<unsigned long long>(from));
    }
    const int shift = 64 - __clzll(static_cast<long long>(high)); // 1 to 64
    const auto kept = static_cast<unsigned long long>(from >> shift);
    const bool lost = (from & ((static_cast<unsigned __int128>(1) << shift) - 1)) != 0;
    const auto scale = __builtin_bit_cast(float, static_cast<unsigned>(127 + shift) << 23);
    return static_cast<Float>(kept | lost) * static_cast<Float>(scale);
}
template <class Float>
__device__ __forceinline__ Float from_128_bits(__int128 from) {
    const auto magnitude = static_cast<unsigned __int128>(from);
    return from < 0 ? -from_128_bits<Float>(-magnitude) : from_128_bits<Float>(magnitude);
}
#endif

template <class To, class From>
__device__ __forceinline__ To saturate(From from) {
    // The hardware converts NaN to 0 only between `f32` and 32 bits (PTX ISA, cvt).
    if constexpr (!same<From, float> || bit_count<To>() > 32) {
        if (from != from) {
            return 0;
        }
    }
    if constexpr (bit_count<To>() == 128) {
        return to_128_bits<To>(static_cast<double>(from));
    } else if constexpr (bit_count<To>() == 64) {
        return to_64_bits<signed_integer<To>>(from);
    } else {
        const auto value = to_32_bits<signed_integer<To>>(from);
        if constexpr (bit_count<To>() == 32) {
            return value;
        } else {
            const auto least = static_cast<decltype(value)>(min_of<To>());
            const auto most = static_cast<decltype(value)>(max_of<To>());
            return static_cast<To>(::min(::max(value, least), most));
        }
    }
}

template <class T>
concept raw_float = same<T, float> || same<T, double>;

// `To` is a strong type or `bool`.
template <class To>
struct cast {
    using raw = decltype(To::value);

    template <class From>
    __device__ __forceinline__ static constexpr To of(From from) {
        if constexpr (raw_integer<raw> && raw_float<From>) {
            return To(saturate<raw>(from));
        } else if constexpr (raw_float<raw> && raw_integer<From> && sizeof(From) == 16) {
            return To(from_128_bits<raw>(from));
        } else {
            return To(static_cast<raw>(from));
        }
    }
};
template <>
struct cast<bool> {
    __device__ __forceinline__ static constexpr bool of(bool from) { return from; }
};

} // namespace detail

// Integers truncate or extend; floats to integers round toward zero, saturate, and convert NaN to 0; everything else
// rounds to nearest even. `x` may also be a bare literal, a `bool`, or the `int` that C++ makes of `a & b` of two
// `bool`s.
template <class To, class From>
__device__ __forceinline__ constexpr To as(From x) {
    using detail::raw_value; // This also finds overloads for types that are declared later.
    return detail::cast<To>::of(raw_value(x));
}

// An overload for integers, the most frequent case, because each layer of functions costs compile time.
template <class To, class Raw>
    requires detail::same<To, integer<decltype(To::value)>>
__device__ __forceinline__ To as(integer<Raw> x) {
    // What the compiler knows of a word, it forgets where a sign widens it, but not where zeros do.
    if constexpr (detail::signed_integer<Raw> && sizeof(Raw) == 4 && sizeof(To) == 8) {
        const bool is_natural = x.value >= 0;
        if (PHALANX_IS_CONSTANT(is_natural) && is_natural) {
            return To(static_cast<decltype(To::value)>(static_cast<unsigned>(x.value)));
        }
    }
    return To(static_cast<decltype(To::value)>(x.value));
}

// `(x >> 32) as u32`. Of 64 bits it is a word that the compiler does not look into: it would compute on with 64 bits, and no longer
// see that a product of two such words is one instruction.
template <class To, class From>
__device__ __forceinline__ constexpr To upper_word(From x) {
    return as<To>(x >> 32);
}
template <class To>
    requires detail::same<To, integer<unsigned>>
__device__ __forceinline__ To upper_word(integer<unsigned long long> x) {
    auto word = static_cast<unsigned>(x.value >> 32);
    asm("" : "+r"(word));
    return To(word);
}

} // namespace phalanx
