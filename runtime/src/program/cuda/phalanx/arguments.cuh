// What the host knows of a launch's arguments before it compiles. PHALANX_SHORT_INTEGERS says that each integer of 64 bits is less than
// 2^32, so that a division by a width is one of words. PHALANX_MULTIPLES has a bit for each slice and each integer among a kernel's
// parameters, in their order: the slice begins at a multiple of 16 bytes, or the integer is a multiple of 16. With a stride that is
// such a multiple, the compiler sees that all rows are aligned, and the tests of vectors and copies vanish.
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {
namespace detail {

#ifndef PHALANX_MULTIPLES
#define PHALANX_MULTIPLES 0ull
#endif

template <class T>
__device__ __forceinline__ void assume(readonly_slice<T>& memory, bool aligned) {
    memory.data = aligned ? static_cast<const T*>(__builtin_assume_aligned(memory.data, 16)) : memory.data;
}
template <class T>
__device__ __forceinline__ void assume(slice_mut<T>& memory, bool aligned) {
    memory.data = aligned ? static_cast<T*>(__builtin_assume_aligned(memory.data, 16)) : memory.data;
}
// Masks, because the compiler forgets what it is told by an assumption sooner than what it can compute.
template <class Raw>
__device__ __forceinline__ void assume(integer<Raw>& number, bool multiple) {
#ifdef PHALANX_SHORT_INTEGERS
    if constexpr (sizeof(Raw) == 8) {
        number.value &= static_cast<Raw>(0xffffffffull);
    }
#endif
    number.value &= multiple ? ~static_cast<Raw>(15) : ~static_cast<Raw>(0);
}
// An alias of the name of an integer may be another type.
template <class Other>
__device__ __forceinline__ void assume(Other&, bool) {}

} // namespace detail

template <class... Parameters>
__device__ __forceinline__ void assume_arguments(Parameters&... parameters) {
    unsigned index = 0;
    (detail::assume(parameters, PHALANX_MULTIPLES >> index++ & 1), ...);
}

} // namespace phalanx
