// `low..high` in `for`: `for (auto i : range(a, b))`. It is a plain counted loop that does not exceed its type's
// limits. A range is only for iteration, and not a value of the language. stepped_range.cuh has reversed, stepped and
// inclusive ranges.
//
// Ranges are their own iterators and count in raw values, because each layer of functions costs compile time.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

// Defined in stepped_range.cuh, which a text that names them includes.
template <class Raw>
struct reversed_range;
template <class Raw>
struct forward_steps;
struct index;
template <class Raw>
__device__ __forceinline__ forward_steps<Raw> forward_stepped(Raw low, Raw high, index step, unsigned site);
template <class Raw>
__device__ __forceinline__ constexpr forward_steps<Raw> forward_stepped(Raw low, Raw high, index step);

struct range_end {};

// Counts from `low` to below `high`.
template <class Raw>
struct forward_range {
    Raw low, high;

    __device__ __forceinline__ forward_range begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const { return low; }
    __device__ __forceinline__ void operator++() { low = static_cast<Raw>(low + 1); }
    __device__ __forceinline__ bool operator!=(range_end) const { return low < high; }

    __device__ __forceinline__ reversed_range<Raw> rev() const { return {high, low}; }
    template <class Step>
    __device__ __forceinline__ forward_steps<Raw> step_by(Step step, PHALANX_SITE) const {
        return forward_stepped(low, high, step, site);
    }
    // The same for a test, which must not fail: with a step of zero, its values are unknown.
    template <class Step>
    __device__ __forceinline__ forward_steps<Raw> stepped(Step step) const {
        return forward_stepped(low, high, step);
    }
};

} // namespace detail

// `low..high`. One bound may be a bare literal.
template <class Raw>
__device__ __forceinline__ detail::forward_range<Raw> range(integer<Raw> low, detail::given<integer<Raw>> high) {
    return {low.value, high.value};
}
template <detail::raw_integer Literal, class Raw>
__device__ __forceinline__ detail::forward_range<Raw> range(Literal low, integer<Raw> high) {
    return {static_cast<Raw>(low), high.value};
}

} // namespace phalanx
