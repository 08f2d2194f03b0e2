#define PHALANX_LAUNCH "copy_param_2"
#define PHALANX_BLOCK 128, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/vector.cuh>
#include <phalanx/vector_interval.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(128)
copy(readonly_slice<f32> input, slice_mut<f32> output, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(input, output);
#line 137 "ui-tests/conformance/src/kernels/vectors.rs"
    auto grid = this_grid();
    auto whole_2 = input.len() / 4 * 4;
    const auto steps = range(grid.thread_rank() * 4, whole_2).step_by(grid.num_threads() * 4);
    const auto rounds = unclamped(steps);
    const auto values = values_of(steps, rounds);
    if (covers_vectors<4>(output, values) && covers_vectors<4>(input, values)) {
        for (auto i : rounds) {
#line 140 "ui-tests/conformance/src/kernels/vectors.rs"
            store_vec_unchecked(output, i, load_vec_unchecked<4>(input, i));
        }
    } else {
        for (auto i : steps) {
#line 140 "ui-tests/conformance/src/kernels/vectors.rs"
            store_vec(output, i, load_vec<4>(input, i));
        }
    }
#line 142 "ui-tests/conformance/src/kernels/vectors.rs"
    const auto steps_2 = range(whole_2 + grid.thread_rank(), input.len()).step_by(grid.num_threads());
    const auto rounds_2 = unclamped(steps_2);
    const auto values_2 = values_of(steps_2, rounds_2);
    if ((holds_at_launch<0> && holds_at_launch<1> || covers(output, values_2) && covers(input, values_2))) {
        for (auto i_2 : rounds_2) {
#line 143 "ui-tests/conformance/src/kernels/vectors.rs"
            output.get_unchecked(i_2) = input.get_unchecked(i_2);
        }
    } else {
        for (auto i_2 : steps_2) {
#line 143 "ui-tests/conformance/src/kernels/vectors.rs"
            output[at_launch<0>(i_2)] = input[at_launch<1>(i_2)];
        }
    }
}
