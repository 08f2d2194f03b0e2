// The tests before straight-line code (within.cuh) of the bounds and the alignment of vectors.
#pragma once
#include <phalanx/vector.cuh>
#include <phalanx/within.cuh>

namespace phalanx {
namespace detail {

// The failure of the first of some accesses, of vectors or not, that is out of bounds or not aligned.
struct access_failure {
    bool is_within;
    unsigned cause, site, tags;
    unsigned long long first, second, third;

    __device__ __forceinline__ constexpr access_failure(bool is_within, unsigned cause, unsigned site, unsigned tags,
                                        unsigned long long first, unsigned long long second, unsigned long long third)
        : is_within(is_within), cause(cause), site(site), tags(tags), first(first), second(second), third(third) {}
    __device__ __forceinline__ constexpr access_failure(bounds_failure of)
        : access_failure(of.is_within, index_out_of_bounds, of.site, of.tag | unsigned_value << 8, of.value, of.length, 0) {}

    // The first of both.
    __device__ __forceinline__ friend constexpr access_failure operator|(access_failure a, access_failure b) {
        return a.is_within ? b : a;
    }
    __device__ __forceinline__ void end() const { fail(cause, site, tags, first, second, third, 0); }
};

// Whether `N` elements from an index on are within bounds, and aligned in memory that begins at `start`.
template <unsigned long long N, unsigned long long Bytes, class Length>
struct vector_check {
    unsigned site, tag;
    unsigned long long value, start;
    Length length;
    bool holds = is_inside(value) & is_aligned(value);

    __device__ __forceinline__ constexpr bool is_inside(unsigned long long i) const { return i < vector_starts<N>(length); }
    __device__ __forceinline__ constexpr bool is_aligned(unsigned long long i) const { return (start + i * Bytes) % (Bytes * N) == 0; }

    __device__ __forceinline__ access_failure failure() const {
        const auto i = concealed(value);
        const bool inside = is_inside(i);
        const unsigned range_tags = tag | tag << 8 | unsigned_value << 16;
        return {bool(inside & is_aligned(i)),
                inside ? misaligned_vector : range_out_of_bounds,
                site,
                inside ? tag | unsigned_value << 8 : range_tags,
                i,
                inside ? Bytes * N : i + N,
                length};
    }
};

} // namespace detail

// Whether `load_vec::<N>(i)` is within bounds and aligned.
template <unsigned long long N, class Memory>
__device__ __forceinline__ auto vector_within(Memory&& memory, detail::index i, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const auto start = detail::address_of(whole, whole.data);
    return detail::vector_check<N, sizeof(*whole.data), decltype(whole.length)>{site, i.tag, i.value, start, whole.length};
}

// The same in a row, an array that is an element of memory.
template <unsigned long long N, class Memory>
__device__ __forceinline__ auto row_vector_within(Memory&& memory, detail::index row, detail::index i, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    using element = decltype(*whole.data);
    constexpr auto length = detail::array_length<element>::value;
    const auto start = detail::address_of(whole, whole.data) + row.value * sizeof(element);
    return detail::vector_check<N, sizeof(element) / length, unsigned long long>{site, i.tag, i.value, start, length};
}

} // namespace phalanx
