// `low..high` in `for`: `for (auto i : range(a, b))`. A plain counted loop, which does not run past its type's limits. Only
// iteration: a range is no value to compute with. Backwards, in steps and with the end are stepped_range.cuh's.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {
namespace detail {

enum class direction { up, down };

// stepped_range.cuh, which a text that names them includes.
template <class Raw>
struct reversed_range;
template <class Raw, direction Way>
struct stepped_range;
template <direction Way, class Raw>
__device__ constexpr stepped_range<Raw, Way>
step_by(integer<Raw> first, integer<Raw> last, bool some, usize step, unsigned site);

struct range_end {};

// From `low` to below `high`.
template <class Raw>
struct forward_range {
    struct iterator {
        integer<Raw> current, high;

        __device__ constexpr integer<Raw> operator*() const { return current; }
        __device__ constexpr void operator++() { current += 1; }
        __device__ constexpr bool operator!=(range_end) const { return current < high; }
    };

    integer<Raw> low, high;

    __device__ constexpr iterator begin() const { return {low, high}; }
    __device__ constexpr range_end end() const { return {}; }

    __device__ constexpr reversed_range<Raw> rev() const { return {low, high}; }
    template <class Step>
    __device__ constexpr stepped_range<Raw, direction::up>
    step_by(Step step, PHALANX_SITE) const {
        return detail::step_by<direction::up>(low, high - 1, low < high, step, site);
    }
};

} // namespace detail

// `low..high`. One bound may be a bare literal.
template <class Raw>
__device__ constexpr detail::forward_range<Raw> range(integer<Raw> low, detail::given<integer<Raw>> high) {
    return {low, high};
}
template <detail::raw_integer Literal, class Raw>
__device__ constexpr detail::forward_range<Raw> range(Literal low, integer<Raw> high) {
    return {low, high};
}

} // namespace phalanx
