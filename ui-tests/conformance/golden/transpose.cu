#define PHALANX_LAUNCH "transpose_param_4"
#define PHALANX_BLOCK 16, 16, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(256)
transpose(readonly_slice<f64> input, slice_mut<f64> output, u32 width, u32 height, const __grid_constant__ launch_block phalanx_launch) {
#line 92 "ui-tests/conformance/src/kernels/guide.rs"
    auto block = this_thread_block();
    __shared__ shared_array<f64, 272> tile; keep_address(tile);
    auto thread = block.thread_index();
    auto corner = block.group_index();
    auto x = corner.x * 16 + thread.x;
    auto y = corner.y * 16 + thread.y;
    require_of_warp(when(x < width & y < height, at_launch<1>(within(input, y * width + x)) & at_launch<0>(within(tile, thread.y * 17 + thread.x))) & when(corner.y * 16 + thread.x < height & corner.x * 16 + thread.y < width, at_launch<3>(within(tile, thread.x * 17 + thread.y)) & at_launch<2>(within(output, (corner.x * 16 + thread.y) * height + (corner.y * 16 + thread.x)))));
#line 98 "ui-tests/conformance/src/kernels/guide.rs"
    if (x < width && y < height) {
        tile.get_unchecked(thread.y * 17 + thread.x) = input.get_unchecked(y * width + x);
    }
    block.sync();
    auto x_2 = corner.y * 16 + thread.x;
    auto y_2 = corner.x * 16 + thread.y;
    if (x_2 < height && y_2 < width) {
        output.get_unchecked(y_2 * height + x_2) = tile.get_unchecked(thread.x * 17 + thread.y);
    }
}
