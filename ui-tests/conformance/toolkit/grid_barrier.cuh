// grid_barrier.cuh: cooperative groups' barrier of the grid is in memory of the driver's (groups.cuh). The word that the
// launch passes is not used.
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx::detail {

__device__ __forceinline__ void leave_grid_barrier(const launch_block*) {}

} // namespace phalanx::detail
