// block_barrier.cuh: cooperative groups' barrier of a block has no state of its own (groups.cuh).
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx::detail {

__device__ __forceinline__ void init_block_barrier() {}
__device__ __forceinline__ void leave_block_barrier() {}

} // namespace phalanx::detail
