// `cuda::clock64()` and `cuda::globaltimer()`. They order no accesses; they are volatile, so that none is moved before another, left out
// or read once for two. PTX ISA: Special Registers, %clock64 and %globaltimer.
#pragma once
#include <phalanx/scalar.cuh>

namespace phalanx::cuda {

__device__ __forceinline__ u64 clock64() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    return u64(now);
}

__device__ __forceinline__ u64 globaltimer() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return u64(now);
}

} // namespace phalanx::cuda
