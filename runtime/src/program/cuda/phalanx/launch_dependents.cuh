// `launch_dependents()`: later launches that may begin early begin once all blocks have come here or ended. It orders no accesses.
// PTX ISA: Parallel Synchronization and Communication Instructions, griddepcontrol.
#pragma once

namespace phalanx {

__device__ __forceinline__ void launch_dependents() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

} // namespace phalanx
