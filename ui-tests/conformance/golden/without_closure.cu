#define PHALANX_LAUNCH "without_closure_param_1"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
without_closure(slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 128 "ui-tests/conformance/src/kernels/by_hand.rs"
    u32 lane;
    {

        [](auto& lane) -> void { asm("mov.u32 %0, %%laneid;" : "=r"(lane.value));
        }(lane);
    }
#line 133 "ui-tests/conformance/src/kernels/by_hand.rs"
    out[at_launch<0>(this_grid().thread_rank())] = lane;
}
