// `nanosleep(t)`: CUDA's `__nanosleep`. It orders no accesses, and has no memory clobber for that reason.
// PTX ISA: Miscellaneous Instructions, nanosleep.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx {

__device__ __forceinline__ void nanosleep(u32 nanoseconds) {
    asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds.value));
}

} // namespace phalanx
