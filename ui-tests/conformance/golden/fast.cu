#define PHALANX_LAUNCH "phalanx_conformance_kernels_options_fast_param_2"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/float_math.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
phalanx_conformance_kernels_options_fast(readonly_slice<f32> input, slice_mut<f32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 71 "ui-tests/conformance/src/kernels/options.rs"
    auto i = this_grid().thread_rank();
    out[at_launch<0>(i)] = input[at_launch<1>(i)] / f32(3.0f) + sqrt(input[at_launch<1>(i)]);
}
