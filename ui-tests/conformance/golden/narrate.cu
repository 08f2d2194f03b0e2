#define PHALANX_LAUNCH "narrate_param_2"
#define PHALANX_BLOCK 4, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/message.cuh>
#include <phalanx/print.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(4)
narrate(readonly_slice<f32> values, slice_mut<f32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 297 "ui-tests/conformance/src/kernels/guide.rs"
    auto cluster = this_cluster();
    auto i = this_grid().thread_rank();
    auto x = values[at_launch<0>(i)];
    if (!(x != f32(0.0f))) {
        assertion_failed(here(), x, f32(0.0f), i);
    }
#line 301 "ui-tests/conformance/src/kernels/guide.rs"
    if (x < f32(0.0f)) {
        print(here(), cluster.block_rank(), cluster.num_blocks(), x, i);
    }
    out[at_launch<1>(i)] = f32(1.0f) / x;
}
