#define PHALANX_LAUNCH "through_memory_param_2"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
through_memory(readonly_slice<u32> input, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 68 "ui-tests/conformance/src/kernels/by_hand.rs"
    auto block = this_thread_block();
    __shared__ shared_array<u32, 32> array; keep_address(array);
    auto rank = block.thread_rank();
    {

        [](auto& array, auto& input, const auto rank) -> void { array.elements[rank.value] = input.data[rank.value] * 3;
        }(array, input, rank);
    }


    block.sync();
    auto next = (rank + 1) % 32;
    {

        [](auto& array, auto& out, const auto rank, const auto next) -> void { out[rank] = array[next];
        }(array, out, rank, next);
    }
}
