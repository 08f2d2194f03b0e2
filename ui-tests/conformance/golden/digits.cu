#define PHALANX_LAUNCH "digits_param_2"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(64)
digits(readonly_slice<u32> input, slice_mut<u32> counts, const __grid_constant__ launch_block phalanx_launch) {
#line 53 "ui-tests/conformance/src/kernels/warp_guide.rs"
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    auto digit = input[at_launch<0>(this_grid().thread_rank())] % 10;
    auto peers = labeled_partition(warp, digit);
    if (peers.thread_rank() == 0) {
        counts[at_launch<1>(warp.meta_group_rank() * 10 + digit)] = peers.num_threads();
    }
}
