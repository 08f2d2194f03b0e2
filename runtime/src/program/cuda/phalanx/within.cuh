// One test before straight-line code whose accesses have no checks of their own. The first that is out of bounds fails:
//
//     require(within(a, i) & within(a, i + 1));
//     b[i] = a.get_unchecked(i) + a.get_unchecked(i + 1);
#pragma once
#include <phalanx/array.cuh>

namespace phalanx {
namespace detail {

// Whether an index is within bounds, and what the failure is about if not. vector_within.cuh has the same for
// vectors.
struct bounds_check {
    bool holds;
    unsigned site, tag;
    unsigned long long value, length;

    // The first of both that does not hold.
    __device__ friend constexpr bounds_check operator&(bounds_check a, bounds_check b) {
        return {bool(a.holds & b.holds), a.holds ? b.site : a.site, a.holds ? b.tag : a.tag, a.holds ? b.value : a.value,
                a.holds ? b.length : a.length};
    }
};

} // namespace detail

// Ends the thread if an access is out of bounds.
__device__ inline void require(detail::bounds_check check) {
    if (!check.holds) {
        detail::fail(detail::index_out_of_bounds, check.site, check.tag | detail::unsigned_value << 8, check.value,
                     check.length);
    }
}

// Whether `memory[i]` is within bounds. The site of its failure is that of this call.
template <class Memory>
__device__ constexpr detail::bounds_check within(const Memory& memory, detail::index i, PHALANX_SITE) {
    const unsigned long long length = memory.len().value;
    return {i.value < length, site, i.tag, i.value, length};
}

// Whether `row[i]` is within bounds, where a row is an array that is an element of memory.
template <class Row>
__device__ constexpr detail::bounds_check within_row(detail::index i, PHALANX_SITE) {
    constexpr unsigned long long length = detail::array_length<Row>::value;
    return {i.value < length, site, i.tag, i.value, length};
}

} // namespace phalanx
