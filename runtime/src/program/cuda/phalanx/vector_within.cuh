// The tests before straight-line code (within.cuh) of the bounds and the alignment of vectors.
#pragma once
#include <phalanx/vector.cuh>
#include <phalanx/within.cuh>

namespace phalanx {
namespace detail {

// Whether an access, of a vector or not, is within bounds and aligned, and the failure that it is if not.
struct vector_check {
    bool holds;
    unsigned cause, site, tags;
    unsigned long long first, second, third;

    __device__ constexpr vector_check(bool holds, unsigned cause, unsigned site, unsigned tags, unsigned long long first,
                                      unsigned long long second, unsigned long long third)
        : holds(holds), cause(cause), site(site), tags(tags), first(first), second(second), third(third) {}
    __device__ constexpr vector_check(bounds_check check)
        : vector_check(check.holds, index_out_of_bounds, check.site, check.tag | unsigned_value << 8, check.value,
                       check.length, 0) {}

    // The first of both that does not hold.
    __device__ friend constexpr vector_check operator&(vector_check a, vector_check b) {
        const auto first = [&](auto of_a, auto of_b) { return a.holds ? of_b : of_a; };
        return {bool(a.holds & b.holds), first(a.cause, b.cause),   first(a.site, b.site),  first(a.tags, b.tags),
                first(a.first, b.first), first(a.second, b.second), first(a.third, b.third)};
    }
};

// Whether `N` elements from `i` on are within bounds, and aligned in memory that begins at `start`.
template <unsigned long long N, unsigned long long Bytes>
__device__ constexpr vector_check
is_vector(unsigned long long start, unsigned long long length, index i, unsigned site) {
    const bool inside = (N <= length) & (i.value <= length - N);
    const bool aligned = (start + i.value * Bytes) % (Bytes * N) == 0;
    const unsigned range_tags = i.tag | i.tag << 8 | unsigned_value << 16;
    return {bool(inside & aligned),
            inside ? misaligned_vector : range_out_of_bounds,
            site,
            inside ? i.tag | unsigned_value << 8 : range_tags,
            i.value,
            inside ? Bytes * N : i.value + N,
            length};
}

} // namespace detail

// Ends the thread if an access is out of bounds, or not aligned.
__device__ inline void require(detail::vector_check check) {
    if (!check.holds) {
        detail::fail(check.cause, check.site, check.tags, check.first, check.second, check.third, 0);
    }
}

// Whether `load_vec::<N>(i)` is within bounds and aligned.
template <unsigned long long N, class Memory>
__device__ inline detail::vector_check vector_within(Memory&& memory, detail::index i, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    return detail::is_vector<N, sizeof(*whole.data)>(detail::start_of<Memory>(whole), whole.length, i, site);
}

// The same in a row, an array that is an element of memory.
template <unsigned long long N, class Memory>
__device__ inline detail::vector_check
row_vector_within(Memory&& memory, detail::index row, detail::index i, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    using element = decltype(*whole.data);
    constexpr auto length = detail::array_length<element>::value;
    const auto start = detail::start_of<Memory>(whole) + row.value * sizeof(element);
    return detail::is_vector<N, sizeof(element) / length>(start, length, i, site);
}

} // namespace phalanx
