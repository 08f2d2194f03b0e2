// The tests before straight-line code (within.cuh) of the bounds of parts of memory.
#pragma once
#include <phalanx/subslice.cuh>
#include <phalanx/vector_within.cuh>

namespace phalanx {
namespace detail {

// Whether a range is within bounds, and does not end before it starts.
struct range_check {
    unsigned site;
    index start, end;
    unsigned long long length;
    bool holds = is_inside(start.value, end.value);

    __device__ __forceinline__ constexpr bool is_inside(unsigned long long from, unsigned long long to) const {
        return from <= to && to <= length;
    }
    __device__ __forceinline__ access_failure failure() const {
        const unsigned long long from = concealed(start.value), to = concealed(end.value);
        const unsigned tags = start.tag | end.tag << 8 | unsigned_value << 16;
        return {is_inside(from, to), range_out_of_bounds, site, tags, from, to, length};
    }
};

} // namespace detail

// Whether `&memory[start..end]` is within bounds.
template <class Memory>
__device__ __forceinline__ detail::range_check range_within(Memory&& memory, detail::index start, detail::index end, PHALANX_SITE) {
    return {site, start, end, detail::whole(memory).length};
}

// Whether `&memory[start..]` is within bounds.
template <class Memory>
__device__ __forceinline__ detail::range_check from_within(Memory&& memory, detail::index start, PHALANX_SITE) {
    const auto length = detail::whole(memory).length;
    return {site, start, usize(length), length};
}

// The same in a row, an array that is an element of memory.
template <class Row>
__device__ __forceinline__ detail::range_check row_range_within(detail::index start, detail::index end, PHALANX_SITE) {
    return {site, start, end, detail::array_length<Row>::value};
}

} // namespace phalanx
