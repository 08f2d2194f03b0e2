#define PHALANX_LAUNCH "block_sum_param_2"
#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(256)
block_sum(readonly_slice<u32> input, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 49 "ui-tests/conformance/src/kernels/guide.rs"
    auto block = this_thread_block();
    __shared__ shared_array<u32, 256> sums; keep_address(sums);
    auto i = block.thread_rank();
    require_of_warp(at_launch<1>(within(input, this_grid().thread_rank())) & at_launch<0>(within(sums, i)));
#line 52 "ui-tests/conformance/src/kernels/guide.rs"
    sums.get_unchecked(i) = input.get_unchecked(this_grid().thread_rank());
    block.sync();
    auto half = block.num_threads() / 2;
    while (half > 0) {
        if (i < half) {
            require(at_launch<3>(within(sums, i + half)) & at_launch<2>(within(sums, i)));
#line 57 "ui-tests/conformance/src/kernels/guide.rs"
            sums.get_unchecked(i) += sums.get_unchecked(i + half);
        }
        block.sync();
        half /= 2;
    }
    if (i == 0) {
        out[at_launch<4>(this_grid().block_rank())] = sums[0];
    }
}
