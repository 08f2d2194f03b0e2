#define PHALANX_LAUNCH "summed_param_3"
#define PHALANX_TILES
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/array.cuh>
#include <phalanx/barrier.cuh>
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/tensor.cuh>

using namespace phalanx;

__device__ __forceinline__ void fetched(const tensor_map<local_array<local_array<f32, 8>, 4>>& input, shared_slice<local_array<f32, 8>> tile, const barrier& full, local_array<i32, 2> at) {
#line 281 "ui-tests/conformance/src/kernels/tensor_maps.rs"
    load_async(input, at, tile, full);
    full.arrive();
}

extern "C" __global__ void __launch_bounds__(64)
summed(const __grid_constant__ tensor_map<local_array<local_array<f32, 8>, 4>> input, slice_mut<f32> out, u32 steps, const __grid_constant__ launch_block phalanx_launch) {

    auto block = this_thread_block();
    __shared__ shared_array<local_array<local_array<f32, 8>, 4>, 2> tiles;
    __shared__ barriers<2> full;
    __shared__ barriers<2> empty;
    full.init_collective(block, 1);
    empty.init_collective(block, 32);
    auto i = block.thread_rank();
    if (i == 32) {
        for (auto step : range(0, steps)) {
            auto stage = step % 2;
            empty[stage].wait_parity(step / 2 % 2 == 0);
            fetched(input, row_of(tiles, stage), full[stage], local_array<i32, 2>{as<i32>(step) * 4, 2});
        }
    } else if (i < 32) {
        auto sum = f32(0.0f);
        for (auto step_2 : range(0, steps)) {
            auto stage_2 = step_2 % 2;
            full[stage_2].wait_parity(step_2 / 2 % 2 == 1);
            sum = sum * f32(0.5f) + tiles[stage_2][i / 8][i % 8];
            empty[stage_2].arrive();
        }
        out[i] = sum;
    }
}
