// The time of the GPU (PTX ISA, Special Registers, %globaltimer).
#pragma once

namespace phalanx {
namespace detail {

// Reads the global timer; the compiler does not move accesses to memory across it.
__device__ __forceinline__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

} // namespace detail
} // namespace phalanx
