#define PHALANX_LAUNCH "sum_by_warps_param_2"
#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(256)
sum_by_warps(readonly_slice<f32> input, slice_mut<f32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 11 "ui-tests/conformance/src/kernels/warp_guide.rs"
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    __shared__ shared_array<f32, 8> sums; keep_address(sums);

    require_of_warp(at_launch<0>(within(input, this_grid().thread_rank())) & when(warp.thread_rank() == 0, at_launch<1>(within(sums, warp.meta_group_rank()))));
#line 15 "ui-tests/conformance/src/kernels/warp_guide.rs"
    auto sum = warp.reduce(input.get_unchecked(this_grid().thread_rank()), op::plus());
    if (warp.thread_rank() == 0) {
        sums.get_unchecked(warp.meta_group_rank()) = sum;
    }
    block.sync();

    if (warp.meta_group_rank() == 0) {
        auto tile = tiled_partition<8>(warp);
        require_of_warp(within(sums, tile.thread_rank()) & when(block.thread_rank() == 0, at_launch<2>(within(out, this_grid().block_rank()))));
#line 23 "ui-tests/conformance/src/kernels/warp_guide.rs"
        auto total = tile.whole_warp().reduce(sums.get_unchecked(tile.thread_rank()), op::plus());
        if (block.thread_rank() == 0) {
            out.get_unchecked(this_grid().block_rank()) = total;
        }
    }
}
