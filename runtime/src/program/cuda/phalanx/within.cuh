// One test before straight-line code whose accesses have no checks of their own. The first that is out of bounds fails:
//
//     require(within(a, i) & within(a, i + 1));
//     b[i] = a.get_unchecked(i) + a.get_unchecked(i + 1);
//
// An access that is made only if a condition holds is tested by `when(i > 0, within(a, i - 1))`.
#pragma once
#include <phalanx/array.cuh>
#include <phalanx/memory.cuh>

namespace phalanx {
namespace detail {

// Returns the value, of which the compiler knows nothing any more, so that it computes what depends on it here and not
// before the branch that leads here.
__device__ __forceinline__ unsigned long long concealed(unsigned long long value) {
    asm volatile("" : "+l"(value));
    return value;
}
__device__ __forceinline__ unsigned concealed(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
}

// The failure of the first of some accesses that is out of bounds.
struct bounds_failure {
    bool is_within;
    unsigned site, tag;
    unsigned long long value, length;
    // Whether it is none of an access.
    bool is_assertion = false;

    // The first of both.
    __device__ __forceinline__ friend constexpr bounds_failure operator|(bounds_failure a, bounds_failure b) {
        return a.is_within ? b : a;
    }
    __device__ __forceinline__ void end() const {
        if (is_assertion) {
            fail(assertion, site);
        }
        fail(index_out_of_bounds, site, tag | unsigned_value << 8, value, length);
    }
};

// Whether an index is within bounds. vector_within.cuh has the same for vectors. The index of a word stays one: a load that widens it
// itself computes its address by one instruction.
template <class Value>
struct bounds_check {
    bool holds;
    unsigned site, tag;
    Value value;
    unsigned long long length;

    __device__ __forceinline__ bounds_failure failure() const {
        const unsigned long long value = concealed(this->value);
        return {value < length, site, tag, value, length};
    }
};

// Whether the bounds of a `clamp` are in order.
struct order_check {
    bool holds;
    unsigned site;

    __device__ __forceinline__ bounds_failure failure() const { return {holds, site, 0, 0, 0, true}; }
};

template <class T>
concept check = requires(T of) {
    of.holds;
    of.failure();
};

// A check that counts only if a condition holds.
template <check Of>
struct guarded_check {
    bool condition;
    Of of;
    bool holds = !condition | of.holds;

    __device__ __forceinline__ auto failure() const {
        auto failure = of.failure();
        failure.is_within |= !condition;
        return failure;
    }
};

// Whether all of some accesses are within bounds.
template <check First, check Last>
struct checks {
    First first;
    Last last;
    bool holds = first.holds & last.holds;

    __device__ __forceinline__ auto failure() const { return first.failure() | last.failure(); }
};
template <check First, check Last>
__device__ __forceinline__ constexpr checks<First, Last> operator&(First first, Last last) {
    return {first, last};
}

} // namespace detail

// Ends the thread if an access is out of bounds.
template <detail::check Checks>
__device__ __forceinline__ void require(Checks checks) {
    if (!checks.holds) {
        checks.failure().end();
    }
}

namespace detail {

// Whether a condition holds for some thread of a warp, all of whose threads are here. Of what the compiler knows, none is asked.
__device__ __forceinline__ bool is_any_of_warp(bool holds) {
    if (PHALANX_IS_CONSTANT(holds)) {
        return holds;
    }
    return __any_sync(~0u, holds) != 0;
}

// A divisor, or 1 if the division would fail.
template <class Raw>
__device__ __forceinline__ constexpr integer<Raw> harmless(integer<Raw> a, integer<Raw> by) {
    if constexpr (signed_integer<Raw>) {
        if (by.value == -1 && a.value == min_of<Raw>()) {
            return 1;
        }
    }
    return by.value == 0 ? 1 : by.value;
}

template <class T>
concept divided_integer = requires { typename raw_traits<decltype(T::value)>::wide; };

} // namespace detail

// The quotient and the remainder by a constant in a test. A test never fails: if the constant is 0, the division itself does, where it is made.
template <class A, class B>
__device__ __forceinline__ constexpr auto constant_quotient(A a, B by) -> decltype(a / by) {
    using result = decltype(a / by);
    if constexpr (detail::divided_integer<result>) {
        return result(a) / detail::harmless(result(a), result(by));
    } else {
        return a / by;
    }
}
template <class A, class B>
__device__ __forceinline__ constexpr auto constant_remainder(A a, B by) -> decltype(a % by) {
    using result = decltype(a % by);
    if constexpr (detail::divided_integer<result>) {
        return result(a) % detail::harmless(result(a), result(by));
    } else {
        return a % by;
    }
}

// Whether a test holds for all threads of a warp, all of whose threads are here.
__device__ __forceinline__ bool all_of_warp(bool holds) { return !detail::is_any_of_warp(!holds); }

// Ends a warp, all of whose threads are here, if an access of one of them is out of bounds.
template <detail::check Checks>
__device__ __forceinline__ void require_of_warp(Checks checks) {
    if (detail::is_any_of_warp(!checks.holds)) {
        require(checks);
        detail::end_thread(detail::this_launch());
    }
}

// The check of accesses that are made only if a condition holds.
template <detail::check Of>
__device__ __forceinline__ constexpr detail::guarded_check<Of> when(bool condition, Of of) {
    return {condition, of};
}

// Whether the bounds of a `clamp` are in order. The site of its failure is that of this call.
template <class Low, class High>
__device__ __forceinline__ constexpr detail::order_check ordered(Low low, High high, PHALANX_SITE) {
    return {low <= high, site};
}

// Whether accesses are within bounds, where that only decides what is done.
__device__ __forceinline__ constexpr bool holds(detail::check auto checks) { return checks.holds; }

namespace detail {

// Whether memory is global, whose length the compiler never knows, so that it decides no test of it.
template <class Memory>
inline constexpr bool is_global = false;
template <class T>
inline constexpr bool is_global<readonly_slice<T>> = true;
template <class T>
inline constexpr bool is_global<slice<T>> = true;
template <class T>
inline constexpr bool is_global<slice_mut<T>> = true;

// How much longer than a power of two an array is with its border.
inline constexpr unsigned widest_border = 4;

// Whether an index is less than a length. The compiler knows which bits of a number may be set, and so that a rank is less than a power of
// two, but not that the next one is less than that and 1. So the index is also compared less what the length may have above the power of
// two, if the compiler decides that. It sees through the difference in a word, also where a cast widens the sum.
template <class Word>
__device__ __forceinline__ constexpr bool is_below(Word index, Word length) {
    const auto power = static_cast<Word>(1ull << (63 - __clzll(static_cast<long long>(length | 1))));
    const bool is_word = index <= ~0u;
    const auto word = static_cast<unsigned>(index);
    bool below = false;
#pragma unroll
    for (unsigned border = 0; border <= widest_border; ++border) {
        below |= is_word && power + border <= length && word - border < power;
    }
    return PHALANX_IS_CONSTANT(below) && below || index < length;
}

// The same for an index of this memory.
template <class Memory, class Word>
__device__ __forceinline__ constexpr bool is_below_length(Word index, Word length) {
    if constexpr (is_global<Memory>) {
        return index < length;
    }
    return is_below(index, length);
}

} // namespace detail

// Whether `memory[i]` is within bounds. The site of its failure is that of this call.
template <class Memory>
__device__ __forceinline__ constexpr detail::bounds_check<unsigned long long> within(const Memory& memory, detail::index i, PHALANX_SITE) {
    const unsigned long long length = memory.len().value;
    return {detail::is_below_length<Memory>(i.value, length), site, i.tag, i.value, length};
}
template <class Memory, class Raw>
    requires(detail::raw_integer<Raw> && !detail::signed_integer<Raw> && sizeof(Raw) == 4)
__device__ __forceinline__ constexpr detail::bounds_check<unsigned> within(const Memory& memory, integer<Raw> i, PHALANX_SITE) {
#ifdef PHALANX_SHORT_SLICES
    using word = unsigned;
#else
    using word = unsigned long long;
#endif
    const auto length = static_cast<word>(memory.len().value);
    return {detail::is_below_length<Memory>(static_cast<word>(i.value), length), site, detail::unsigned_value, i.value, length};
}

// Whether `row[i]` is within bounds, where a row is an array that is an element of memory.
template <class Row>
__device__ __forceinline__ constexpr detail::bounds_check<unsigned long long> within_row(detail::index i, PHALANX_SITE) {
    constexpr unsigned long long length = detail::array_length<Row>::value;
    return {detail::is_below(i.value, length), site, i.tag, i.value, length};
}

} // namespace phalanx
