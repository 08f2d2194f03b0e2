// `wait_previous()`: the thread waits until the launches before this one have ended and what they wrote is visible. It returns at once in
// a launch that did not begin before that. failure.cuh has the wait of a thread that fails before it.
// PTX ISA: Parallel Synchronization and Communication Instructions, griddepcontrol.
#pragma once

namespace phalanx {

__device__ __forceinline__ void wait_previous() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

} // namespace phalanx
