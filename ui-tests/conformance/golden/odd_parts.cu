#define PHALANX_LAUNCH "odd_parts_param_1"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/option.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

template <class Then = whole<option<u32>>>
__device__ __forceinline__ typename Then::result phalanx_conformance_kernels_guide_half(u32 n, const Then& then = {}) {
#line 185 "ui-tests/conformance/src/kernels/guide.rs"
    return n > 0 && n % 2 == 0 ? then.some(n / 2) : then.none();
}

extern "C" __global__ void __launch_bounds__(64)
odd_parts(slice_mut<u32> numbers, const __grid_constant__ launch_block phalanx_launch) {

    auto i = this_grid().thread_rank();
    auto n = numbers[at_launch<0>(i)];
    while (true) {
        auto value = phalanx_conformance_kernels_guide_half(n);
        if (!value.is_some()) {
            break;
        }
        auto halved = value.value;
#line 194 "ui-tests/conformance/src/kernels/guide.rs"
        n = halved;
    }
    numbers[at_launch<0>(i)] = n;
}
