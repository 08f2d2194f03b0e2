// The checks of indices and ranges. The conditions are Rust's own, and the site of a failure is that of the `[` or of
// the function's name.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

template <class Raw>
concept index_type = raw_integer<Raw> && sizeof(Raw) <= 8;

// An integer of up to 64 bits, or a bare literal. A negative one is larger than every length.
struct index {
    unsigned long long value;
    value_tag tag;

    template <index_type Raw>
    __device__ __forceinline__ constexpr index(integer<Raw> i)
        : value(static_cast<unsigned long long>(i.value)), tag(signed_integer<Raw> ? signed_value : unsigned_value) {}
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr index(Literal i)
        : value(static_cast<unsigned long long>(i)), tag(signed_integer<Literal> ? signed_value : unsigned_value) {}

    __device__ __forceinline__ constexpr unsigned long long below(unsigned long long length, unsigned site) const {
        if (value >= length) {
            fail(index_out_of_bounds, site, tag | unsigned_value << 8, value, length);
        }
        return value;
    }
};

// An index with the site of its `[`. It does not build on the above, because every access uses it, and each layer costs
// compile time.
struct located_index {
    unsigned long long value;
    value_tag tag;
    unsigned site;

    template <index_type Raw>
    __device__ __forceinline__ constexpr located_index(integer<Raw> i, PHALANX_SITE)
        : value(static_cast<unsigned long long>(i.value)), tag(signed_integer<Raw> ? signed_value : unsigned_value),
          site(site) {}
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr located_index(Literal i, PHALANX_SITE)
        : value(static_cast<unsigned long long>(i)), tag(signed_integer<Literal> ? signed_value : unsigned_value),
          site(site) {}

    // Raw words are passed instead of a `recorded` each, for the same reason.
    __device__ __forceinline__ constexpr unsigned long long below(unsigned long long length) const {
        if (value >= length) {
            fail(index_out_of_bounds, site, tag | unsigned_value << 8, value, length);
        }
        return value;
    }
};

// An index that the host has checked before the launch (launch_checks.cuh).
template <class Index>
struct held_index {
    Index index;
};

// Checks `start..end` against the length of memory. It says `start <= end && end <= length`, by what is often a constant: if the end
// is before the start, either their distance exceeds any length, or the start does.
template <class Length>
__device__ __forceinline__ constexpr void check_range(index start, index end, Length length, unsigned site) {
    const unsigned long long distance = end.value - start.value;
    if (distance > length || start.value > static_cast<Length>(length - static_cast<Length>(distance))) {
        fail(range_out_of_bounds, site, recorded{start.tag, start.value}, recorded{end.tag, end.value},
             recorded{unsigned_value, length});
    }
}

// Checks `start..=end`.
__device__ __forceinline__ constexpr void check_range_inclusive(index start, index end, unsigned long long length, unsigned site) {
    if (end.value >= length || start.value > end.value + 1) {
        fail(inclusive_range_out_of_bounds, site, recorded{start.tag, start.value}, recorded{end.tag, end.value},
             recorded{unsigned_value, length});
    }
}

} // namespace detail

// Has a test before a loop made there. The compiler would make one that decides in a single place of the loop there, in each iteration.
__device__ __forceinline__ void keep_test(bool holds) {
    asm volatile("" : : "r"(static_cast<unsigned>(holds)));
}

} // namespace phalanx
