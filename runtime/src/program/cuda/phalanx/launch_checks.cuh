// Checks of accesses that the host makes before a launch, for all of its threads. PHALANX_HELD_CHECKS has a bit for each that holds, by its
// number in the program. The kernel makes the others itself:
//
//     out[at_launch<0>(i)] = a[at_launch<1>(y * width + x)];
//
// words.cuh has the operations on words.
#pragma once
#include <phalanx/within.cuh>

#ifndef PHALANX_HELD_CHECKS
#define PHALANX_HELD_CHECKS 0ull
#endif

namespace phalanx {

// Whether a check holds for all threads of the launch.
template <unsigned number>
inline constexpr bool holds_at_launch = (PHALANX_HELD_CHECKS >> number & 1) != 0;

// An index, whose check is the one of this number.
template <unsigned number, class Index>
__device__ __forceinline__ constexpr auto at_launch(Index i) {
    if constexpr (holds_at_launch<number>) {
        return detail::held_index<Index>{i};
    } else {
        return i;
    }
}

// A check of straight-line code, which is the one of this number.
template <unsigned number, detail::check Check>
__device__ __forceinline__ constexpr Check at_launch(Check check) {
    check.holds |= holds_at_launch<number>;
    return check;
}

} // namespace phalanx
