// Binary searches, of which the test before the loop shows that the elements in the middle are within bounds.
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {

// Whether all natural numbers below `end` are indexes of memory. The middle of a range of a signed type may be no natural number.
template <class Memory, class Raw>
__device__ __forceinline__ constexpr bool covers_below(const Memory& memory, integer<Raw> end) {
    if constexpr (detail::signed_integer<Raw>) {
        return false;
    } else {
        return end.value <= memory.len().value;
    }
}

// Whether so many natural numbers from `base` on are indexes of memory.
template <class Memory, class Raw>
__device__ __forceinline__ constexpr bool covers_next(const Memory& memory, integer<Raw> base, integer<Raw> size) {
    if constexpr (detail::signed_integer<Raw>) {
        return false;
    } else {
        const auto length = memory.len().value;
        // The half of the largest number is rounded up to zero.
        return base.value <= length && size.value <= length - base.value && static_cast<Raw>(size.value + 1) != 0;
    }
}

// What was found in such a range is at most the length. The compiler does not see that, and would compute with 64 bits.
template <class Memory, class Raw>
__device__ __forceinline__ void found_in(const Memory& memory, integer<Raw> base) {
    [[maybe_unused]] const auto length = memory.len().value;
    __builtin_assume(base.value <= length);
}

// The middle of a range of indexes. In a launch of short slices, 31 bits hold both ends, and 32 their sum. Written in PTX, because the compiler
// would compute it with 64 bits, and mask the words.
template <class Raw>
__device__ __forceinline__ integer<Raw> middle_of([[maybe_unused]] integer<Raw> low, [[maybe_unused]] integer<Raw> high, integer<Raw> middle) {
#if defined(PHALANX_SHORT_SLICES) && defined(__CUDA_ARCH__)
    if constexpr (sizeof(Raw) == 8 && !detail::signed_integer<Raw>) {
        unsigned half;
        asm("{\n\t.reg .u32 sum;\n\tadd.u32 sum, %1, %2;\n\tshr.u32 %0, sum, 1;\n\t}"
            : "=r"(half)
            : "r"(static_cast<unsigned>(low.value)), "r"(static_cast<unsigned>(high.value)));
        return integer<Raw>(static_cast<Raw>(half));
    }
#endif
    return middle;
}

} // namespace phalanx
