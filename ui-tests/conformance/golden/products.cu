#define PHALANX_LAUNCH "products_param_3"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

__device__ __forceinline__ u32 mul_hi(u32 x, u32 y) {
#line 15 "ui-tests/conformance/src/kernels/by_hand.rs"
    u32 high;
    {

        [](const auto x, const auto y, auto& high) -> void { asm("mul.hi.u32 %0, %1, %2;" : "=r"(high.value) : "r"(x.value), "r"(y.value));
        }(x, y, high);
    }


    return high;
}

extern "C" __global__ void __launch_bounds__(64)
products(readonly_slice<u32> a, readonly_slice<u32> b, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
    auto i = this_grid().thread_rank();
    require(at_launch<1>(within(a, i)) & at_launch<2>(within(b, i)));
#line 29 "ui-tests/conformance/src/kernels/by_hand.rs"
    out[at_launch<0>(i)] = mul_hi(a.get_unchecked(i), b.get_unchecked(i));
}
