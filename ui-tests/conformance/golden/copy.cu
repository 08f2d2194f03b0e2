#define PHALANX_FLAT_BLOCK
#include <phalanx/groups.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/vector.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(128)
copy(readonly_slice<f32> input, slice_mut<f32> output) {
#line 137 "ui-tests/conformance/src/kernels/vectors.rs"
    auto grid = this_grid();
    auto whole = input.len() / 4 * 4;
    for (auto i : range(grid.thread_rank() * 4, whole).step_by(grid.num_threads() * 4)) {
        store_vec(output, i, load_vec<4>(input, i));
    }
    for (auto i_2 : range(whole + grid.thread_rank(), input.len()).step_by(grid.num_threads())) {
        output[i_2] = input[i_2];
    }
}
