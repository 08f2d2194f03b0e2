#define PHALANX_LAUNCH "summed_param_3"
#define PHALANX_TILES
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/barrier.cuh>
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/tensor.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

__device__ __forceinline__ void fetched(const tensor_map<local_array<local_array<f32, 8>, 4>>& input, shared_slice<local_array<f32, 8>> tile, const barrier& full, local_array<i32, 2> at) {
#line 267 "ui-tests/conformance/src/kernels/tensor_maps.rs"
    load_async(input, at, tile, full);
    full.arrive();
}

extern "C" __global__ void __launch_bounds__(64)
summed(const __grid_constant__ tensor_map<local_array<local_array<f32, 8>, 4>> input, slice_mut<f32> out, u32 steps, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(out, steps);
    auto block = this_thread_block();
    __shared__ shared_array<local_array<local_array<f32, 8>, 4>, 2> tiles; keep_address(tiles);
    __shared__ barriers<2> full; keep_address(full);
    __shared__ barriers<2> empty; keep_address(empty);
    full.init_collective(block, 1);
    empty.init_collective(block, 32);
    auto i = block.thread_rank();
    if (i == 32) {
        const auto steps_2 = range(0, steps);
        const bool all_within = (holds_at_launch<0> || covers(tiles, values_of(steps_2) % 2));
        keep_test(all_within);
        for (auto step : steps_2) {
#line 283 "ui-tests/conformance/src/kernels/tensor_maps.rs"
            auto stage = step % 2;
            empty[stage].wait_parity(step / 2 % 2 == 0);
            if (!all_within) {
                require(at_launch<0>(within(tiles, stage)));
            }
#line 285 "ui-tests/conformance/src/kernels/tensor_maps.rs"
            fetched(input, row_of_unchecked(tiles, stage), full[stage], local_array<i32, 2>{as<i32>(step) * 4, 4});
        }
    } else if (i < 32) {
        auto sum = f32(0.0f);
        const auto steps_3 = range(0, steps);
        const bool all_within_2 = (holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> || covers_row<decltype(tiles.get_unchecked(0).get_unchecked(0))>(values_of(i % 8)) && covers_row<decltype(tiles.get_unchecked(0))>(values_of(i / 8)) && covers(tiles, values_of(steps_3) % 2));
        keep_test(all_within_2);
        #pragma unroll 2
        for (auto step_2 : steps_3) {
#line 290 "ui-tests/conformance/src/kernels/tensor_maps.rs"
            auto stage_2 = step_2 % 2;
            full[stage_2].wait_parity(step_2 / 2 % 2 == 1);
            if (!all_within_2) {
                require(at_launch<0>(within(tiles, stage_2)) & at_launch<1>(within_row<decltype(tiles.get_unchecked(0))>(i / 8)) & at_launch<2>(within_row<decltype(tiles.get_unchecked(0).get_unchecked(0))>(i % 8)));
            }
#line 292 "ui-tests/conformance/src/kernels/tensor_maps.rs"
            sum = sum * f32(0.5f) + tiles.get_unchecked(stage_2).get_unchecked(i / 8).get_unchecked(i % 8);
            empty[stage_2].arrive();
        }
        out[at_launch<3>(i)] = sum;
    }
}
