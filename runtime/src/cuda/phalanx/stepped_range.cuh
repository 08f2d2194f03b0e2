// More of Rust's ranges in `for`: `range_inclusive(a, b)`, `.rev()`, `.step_by(n)`. None runs past its type's limits.
#pragma once
#include <phalanx/range.cuh>

namespace phalanx {
namespace detail {

__device__ constexpr direction opposite(direction way) {
    return way == direction::up ? direction::down : direction::up;
}

template <direction Way, class Raw>
__device__ constexpr integer<Raw> moved(integer<Raw> from, bits_of<Raw> by) {
    const integer<Raw> step = static_cast<Raw>(by);
    return Way == direction::up ? from + step : from - step;
}
// How far `to` is from `from`, which may be more than a signed type holds.
template <direction Way, class Raw>
__device__ constexpr bits_of<Raw> distance(integer<Raw> from, integer<Raw> to) {
    return static_cast<bits_of<Raw>>((Way == direction::up ? to - from : from - to).value);
}

// `step_by`, from `first` to at most `last`. Like Rust's it keeps the step less one, which is cut to what the type can be
// apart without a change of meaning; it compares that with what is left before it steps.
template <class Raw, direction Way>
struct stepped_range {
    struct iterator {
        integer<Raw> current;
        bits_of<Raw> left, skip;
        bool more;

        __device__ constexpr integer<Raw> operator*() const { return current; }
        __device__ constexpr void operator++() {
            const auto step = static_cast<bits_of<Raw>>(skip + 1);
            more = left > skip;
            left -= step;
            current = moved<Way>(current, step);
        }
        __device__ constexpr bool operator!=(range_end) const { return more; }
    };

    integer<Raw> first, last;
    bits_of<Raw> skip;
    bool some;

    __device__ constexpr iterator begin() const { return {first, distance<Way>(first, last), skip, some}; }
    __device__ constexpr range_end end() const { return {}; }

    // Starts at the element that the range reaches, which may not be `last`.
    __device__ constexpr stepped_range<Raw, opposite(Way)> rev() const {
        const auto step = static_cast<bits_of<Raw>>(skip + 1);
        const auto left = distance<Way>(first, last);
        const auto reach = step == 0 ? bits_of<Raw>(0) : static_cast<bits_of<Raw>>(left - left % step);
        return {moved<Way>(first, reach), first, skip, some};
    }
};

template <direction Way, class Raw>
__device__ constexpr stepped_range<Raw, Way>
step_by(integer<Raw> first, integer<Raw> last, bool some, usize step, unsigned site) {
    if (step == 0) {
        fail(step_of_zero, site);
    }
    const usize most = static_cast<usize>(static_cast<unsigned long long>(bits_of<Raw>(~bits_of<Raw>(0))));
    const usize skip = step - 1;
    return {first, last, static_cast<bits_of<Raw>>((skip < most ? skip : most).value), some};
}

// From `first` to `last`, both included. Asks for equality before it steps, so that it never steps past `last`.
template <class Raw, direction Way>
struct inclusive_range {
    struct iterator {
        integer<Raw> current, last;
        bool more;

        __device__ constexpr integer<Raw> operator*() const { return current; }
        __device__ constexpr void operator++() {
            more = current != last;
            current = moved<Way>(current, 1);
        }
        __device__ constexpr bool operator!=(range_end) const { return more; }
    };

    integer<Raw> first, last;
    bool some;

    __device__ constexpr iterator begin() const { return {first, last, some}; }
    __device__ constexpr range_end end() const { return {}; }

    __device__ constexpr inclusive_range<Raw, opposite(Way)> rev() const { return {last, first, some}; }
    template <class Step>
    __device__ constexpr stepped_range<Raw, Way>
    step_by(Step step, PHALANX_SITE) const {
        return detail::step_by<Way>(first, last, some, step, site);
    }
};

// From `low` to below `high`, backwards.
template <class Raw>
struct reversed_range {
    struct iterator {
        integer<Raw> above, low;

        __device__ constexpr integer<Raw> operator*() const { return above - 1; }
        __device__ constexpr void operator++() { above -= 1; }
        __device__ constexpr bool operator!=(range_end) const { return above > low; }
    };

    integer<Raw> low, high;

    __device__ constexpr iterator begin() const { return {high, low}; }
    __device__ constexpr range_end end() const { return {}; }

    template <class Step>
    __device__ constexpr stepped_range<Raw, direction::down>
    step_by(Step step, PHALANX_SITE) const {
        return detail::step_by<direction::down>(high - 1, low, low < high, step, site);
    }
};

} // namespace detail

// `low..=high`.
template <class Raw>
__device__ constexpr detail::inclusive_range<Raw, detail::direction::up>
range_inclusive(integer<Raw> low, detail::given<integer<Raw>> high) {
    return {low, high, low <= high};
}
template <detail::raw_integer Literal, class Raw>
__device__ constexpr detail::inclusive_range<Raw, detail::direction::up> range_inclusive(Literal low, integer<Raw> high) {
    return {low, high, high >= low};
}

} // namespace phalanx
