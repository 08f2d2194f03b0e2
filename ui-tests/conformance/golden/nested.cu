#define PHALANX_LAUNCH "nested_param_2"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

template <class Closure0>
__device__ __forceinline__ u32 apply(const Closure0& f, u32 x) {
#line 105 "ui-tests/conformance/src/kernels/by_hand.rs"
    return f(x);
}

__device__ __forceinline__ u32 doubled_u32(u32 x) {
#line 96 "ui-tests/conformance/src/kernels/by_hand.rs"
    auto y = x;
    {
        [](auto& y) -> void { y += y;
        }(y);
    }
#line 100 "ui-tests/conformance/src/kernels/by_hand.rs"
    return y;
}

__device__ __forceinline__ f32 doubled_f32(f32 x) {
#line 96 "ui-tests/conformance/src/kernels/by_hand.rs"
    auto y = x;
    {
        [](auto& y) -> void { y += y;
        }(y);
    }
#line 100 "ui-tests/conformance/src/kernels/by_hand.rs"
    return y;
}

extern "C" __global__ void __launch_bounds__(32)
nested(slice_mut<u32> out, u32 offset, const __grid_constant__ launch_block phalanx_launch) {
#line 111 "ui-tests/conformance/src/kernels/by_hand.rs"
    auto i = this_grid().thread_rank();
    auto tripled = apply([&](auto x) __attribute__((always_inline)) {

        u32 y;
        {
            [](const auto x, auto& y) -> void { y = x * 3;
            }(x, y);
        }
#line 118 "ui-tests/conformance/src/kernels/by_hand.rs"
        return y + offset;
    }, as<u32>(i));


    auto value = doubled_u32(tripled);
    out[at_launch<0>(i)] = value + as<u32>(doubled_f32(f32(0.5f)));
}
