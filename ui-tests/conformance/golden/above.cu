#define PHALANX_LAUNCH "above_param_4"
#include <phalanx/atomic.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>

using namespace phalanx;

__device__ __forceinline__ u32 places(const coalesced_group& group, slice_mut<u32> count) {
#line 33 "ui-tests/conformance/src/kernels/warp_guide.rs"
    auto first = u32(0);
    if (group.thread_rank() == 0) {
        first = count.atomic(0).fetch_add(group.num_threads(), relaxed);
    }
    return group.shfl(first, 0) + group.thread_rank();
}

extern "C" __global__ void
above(readonly_slice<i32> input, i32 limit, slice_mut<i32> kept, slice_mut<u32> count, const __grid_constant__ launch_block phalanx_launch) {

    auto i = this_grid().thread_rank();
    if (i < input.len() && input[at_launch<0>(i)] > limit) {
        auto group = coalesced_threads();
        auto value = input[at_launch<0>(i)];
        kept[places(group, count)] = value;
    }
}
