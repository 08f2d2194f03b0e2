// Further ranges of Rust in `for`: `range_inclusive(a, b)`, `.rev()`, `.step_by(n)`. None exceeds its type's limits.
#pragma once
#include <phalanx/index.cuh>
#include <phalanx/range.cuh>

namespace phalanx {
namespace detail {

// `step_by`, which counts from `current` on, up or down, as long as `left` suffices. Like Rust's, it keeps the step
// less one, clamped to the distance that the type can represent, which does not change the meaning, and compares that
// with the remaining distance before it steps.
template <class Raw>
struct stepped_range {
    using bits = bits_of<Raw>;

    Raw current;
    bits left, skip, step; // the step with its sign
    bool more;

    __device__ __forceinline__ stepped_range begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const { return current; }
    __device__ __forceinline__ void operator++() {
        more = left > skip;
        left = static_cast<bits>(left - skip - 1);
        current = static_cast<Raw>(static_cast<bits>(current) + step);
    }
    __device__ __forceinline__ bool operator!=(range_end) const { return more; }

    // Reversed, it starts at the last element that the range reaches, which may be below its bound.
    __device__ __forceinline__ stepped_range rev() const {
        const auto size = static_cast<bits>(skip + 1);
        const wide_of<Raw> steps = size == 0 ? 0 : left / size;
        const auto last = static_cast<Raw>(static_cast<bits>(current) + steps * step);
        return {last, static_cast<bits>(steps * size), skip, static_cast<bits>(-step), more};
    }
};

// Counts up from `current` to below `high`, which is how most loops over memory count. The compiler is told that it stays
// below, so that an index that is compared with the same bound needs no check, and the loop is unrolled.
template <class Raw>
struct forward_steps {
    using bits = bits_of<Raw>;

    Raw current, high;
    bits skip;
    bool more;

    __device__ __forceinline__ forward_steps begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const {
        __builtin_assume(current < high);
        return current;
    }
    __device__ __forceinline__ void operator++() {
        more = last() > skip;
        current = static_cast<Raw>(static_cast<bits>(current) + skip + 1);
    }
    __device__ __forceinline__ bool operator!=(range_end) const { return more; }

    __device__ __forceinline__ stepped_range<Raw> rev() const {
        return stepped_range<Raw>{current, last(), skip, static_cast<bits>(skip + 1), more}.rev();
    }

    // The distance to the last value below `high`.
    __device__ __forceinline__ bits last() const {
        return static_cast<bits>(static_cast<bits>(high) - static_cast<bits>(current) - 1);
    }
};

// The step less one, clamped to what the type can represent.
template <class Raw>
__device__ __forceinline__ bits_of<Raw> skipped(index step, unsigned site) {
    if (step.value == 0) {
        fail(step_of_zero, site);
    }
    const unsigned long long skip = step.value - 1;
    const auto most = static_cast<bits_of<Raw>>(~bits_of<Raw>(0));
    return skip < most ? static_cast<bits_of<Raw>>(skip) : most;
}

template <class Raw>
__device__ __forceinline__ forward_steps<Raw> forward_stepped(Raw low, Raw high, index step, unsigned site) {
    return {low, high, skipped<Raw>(step, site), low < high};
}

// A step of zero becomes the number of values of the type, which is as unknown as a step.
template <class Raw>
__device__ __forceinline__ constexpr forward_steps<Raw> forward_stepped(Raw low, Raw high, index step) {
    const auto most = static_cast<bits_of<Raw>>(~bits_of<Raw>(0));
    const unsigned long long skip = step.value - 1;
    return {low, high, skip < most ? static_cast<bits_of<Raw>>(skip) : most, low < high};
}

// `way` is 1, or -1 for down.
template <class Raw>
__device__ __forceinline__ stepped_range<Raw>
stepped(Raw first, bits_of<Raw> left, bits_of<Raw> way, bool some, index step, unsigned site) {
    const auto skip = skipped<Raw>(step, site);
    return {first, left, skip, static_cast<bits_of<Raw>>((static_cast<wide_of<Raw>>(skip) + 1) * way), some};
}

// From `current` to `last`, both included. Tests for equality before it steps, so that it never steps past `last`.
template <class Raw>
struct inclusive_range {
    using bits = bits_of<Raw>;

    Raw current, last;
    bits way;
    bool more;

    __device__ __forceinline__ inclusive_range begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const { return current; }
    __device__ __forceinline__ void operator++() {
        more = current != last;
        current = static_cast<Raw>(static_cast<bits>(current) + way);
    }
    __device__ __forceinline__ bool operator!=(range_end) const { return more; }

    __device__ __forceinline__ inclusive_range rev() const { return {last, current, static_cast<bits>(-way), more}; }
    template <class Step>
    __device__ __forceinline__ stepped_range<Raw> step_by(Step step, PHALANX_SITE) const {
        const auto up = static_cast<wide_of<Raw>>(last) - static_cast<wide_of<Raw>>(current);
        return stepped(current, static_cast<bits>(up * way), way, more, step, site);
    }
};

// Counts from below `high` down to `low`.
template <class Raw>
struct reversed_range {
    Raw high, low;

    __device__ __forceinline__ reversed_range begin() const { return *this; }
    __device__ __forceinline__ range_end end() const { return {}; }
    __device__ __forceinline__ integer<Raw> operator*() const { return static_cast<Raw>(high - 1); }
    __device__ __forceinline__ void operator++() { high = static_cast<Raw>(high - 1); }
    __device__ __forceinline__ bool operator!=(range_end) const { return high > low; }

    template <class Step>
    __device__ __forceinline__ stepped_range<Raw> step_by(Step step, PHALANX_SITE) const {
        using bits = bits_of<Raw>;
        const auto first = static_cast<bits>(static_cast<bits>(high) - 1);
        const auto left = static_cast<bits>(first - static_cast<bits>(low));
        return stepped(static_cast<Raw>(first), left, static_cast<bits>(-1), low < high, step, site);
    }
};

} // namespace detail

// `low..=high`.
template <class Raw>
__device__ __forceinline__ detail::inclusive_range<Raw> range_inclusive(integer<Raw> low, detail::given<integer<Raw>> high) {
    return {low.value, high.value, 1, low.value <= high.value};
}
template <detail::raw_integer Literal, class Raw>
__device__ __forceinline__ detail::inclusive_range<Raw> range_inclusive(Literal low, integer<Raw> high) {
    return {static_cast<Raw>(low), high.value, 1, static_cast<Raw>(low) <= high.value};
}

} // namespace phalanx
