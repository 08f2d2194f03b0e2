#define PHALANX_LAUNCH "saxpy_param_3"
#define PHALANX_BLOCK 128, 1, 1
#include <phalanx/float_math.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(128)
saxpy(f32 a, readonly_slice<f32> x, slice_mut<f32> y, const __grid_constant__ launch_block phalanx_launch) {
#line 40 "ui-tests/conformance/src/kernels/guide.rs"
    auto grid = this_grid();
    const auto steps = range(grid.thread_rank(), x.len()).step_by(grid.num_threads());
    const auto rounds = unclamped(steps);
    const auto values = values_of(steps, rounds);
    if ((holds_at_launch<0> && holds_at_launch<1> || covers(y, values) && covers(x, values))) {
        for (auto i : rounds) {
#line 42 "ui-tests/conformance/src/kernels/guide.rs"
            y.get_unchecked(i) = mul_add(x.get_unchecked(i), a, y.get_unchecked(i));
        }
    } else {
        for (auto i : steps) {
#line 42 "ui-tests/conformance/src/kernels/guide.rs"
            require(at_launch<1>(within(x, i)) & at_launch<0>(within(y, i)));
#line 42 "ui-tests/conformance/src/kernels/guide.rs"
            y.get_unchecked(i) = mul_add(x.get_unchecked(i), a, y.get_unchecked(i));
        }
    }
}
