#define PHALANX_LAUNCH "scatter_param_4"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/atomic.cuh>
#include <phalanx/float_math.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/half.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(64)
scatter(readonly_slice<f16x2> rows, readonly_slice<u32> targets, slice_mut<f16x2> sums, slice_mut<bf16> mean, const __grid_constant__ launch_block phalanx_launch) {
#line 156 "ui-tests/conformance/src/kernels/half_atomics.rs"
    auto i = this_grid().thread_rank();
    auto row = i / 32;
    auto lane = i % 32;
#line 158 "ui-tests/conformance/src/kernels/half_atomics.rs"
    require(at_launch<0>(within(rows, i)) & at_launch<1>(within(targets, row)));
#line 158 "ui-tests/conformance/src/kernels/half_atomics.rs"
    const auto pair = rows.get_unchecked(i);
    sums.atomic(as<usize>(targets.get_unchecked(row)) * 32 + lane).fetch_add(pair, relaxed);
    auto half = bf16::from_f32(to_f32(pair[0]) + to_f32(pair[1])) / bf16::from_f32(f32(2.0f));
    mean.atomic(targets[at_launch<1>(row)]).scope(system_scope).fetch_add(half, acq_rel);
}
