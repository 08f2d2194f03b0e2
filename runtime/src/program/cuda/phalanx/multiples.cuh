// What a launch's arguments are multiples of. PHALANX_MULTIPLES has a bit for each slice and each integer among a kernel's parameters, in
// their order: the slice begins at a multiple of 16 bytes, or the integer is a multiple of 16. The host knows both before it compiles.
// With a stride that is such a multiple, the compiler sees that all rows are aligned, and the tests of vectors and copies vanish.
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {
#ifdef PHALANX_MULTIPLES
namespace detail {

template <class T>
__device__ __forceinline__ void assume_multiple(readonly_slice<T>& memory) {
    memory.data = static_cast<const T*>(__builtin_assume_aligned(memory.data, 16));
}
template <class T>
__device__ __forceinline__ void assume_multiple(slice_mut<T>& memory) {
    memory.data = static_cast<T*>(__builtin_assume_aligned(memory.data, 16));
}
// A mask, because the compiler forgets what it is told by an assumption sooner than what it can compute.
template <class Raw>
__device__ __forceinline__ void assume_multiple(integer<Raw>& number) {
    number.value &= ~static_cast<Raw>(15);
}

// An alias of the name of an integer may be another type.
template <class Other>
__device__ __forceinline__ void assume_multiple(Other&) {}

} // namespace detail

template <class... Parameters>
__device__ __forceinline__ void assume_multiples(Parameters&... parameters) {
    unsigned index = 0;
    ((PHALANX_MULTIPLES >> index++ & 1 ? detail::assume_multiple(parameters) : void()), ...);
}
#else
template <class... Parameters>
__device__ __forceinline__ void assume_multiples(Parameters&...) {}
#endif

} // namespace phalanx
