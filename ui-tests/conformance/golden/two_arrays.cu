#define PHALANX_LAUNCH "two_arrays_param_1"
#define PHALANX_PLACED_SHARED_BYTES 62848
#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

struct Wide {
    u128 a;
    __device__ __forceinline__ friend bool operator==(const Wide&, const Wide&) = default;
};
static_assert(sizeof(Wide) == 16 && alignof(Wide) == 16);
static_assert(PHALANX_OFFSET_OF(Wide, a) == 0);

extern "C" __global__ void __launch_bounds__(256)
two_arrays(slice_mut<u64> out, const __grid_constant__ launch_block phalanx_launch) {
#line 16 "ui-tests/conformance/src/kernels/large_shared.rs"
    auto block = this_thread_block();
    auto& bytes = placed_shared<shared_array<u8, 333>, 0>();
    auto& floats = placed_shared<shared_array<f64, 7680>, 336>();
    auto& wide = placed_shared<shared_array<Wide, 64>, 61776>();
    auto i = block.thread_rank();
    require_of_warp(at_launch<0>(within(bytes, i)));
#line 21 "ui-tests/conformance/src/kernels/large_shared.rs"
    bytes.get_unchecked(i) = as<u8>(i);
    const auto steps = range(i, 7680).step_by(256);
    if (all_of_warp((holds_at_launch<1> || covers(floats, values_of(steps))))) {
        for (auto k : unclamped(steps)) {
#line 23 "ui-tests/conformance/src/kernels/large_shared.rs"
            floats.get_unchecked(k) = as<f64>(k);
        }
    } else {
        for (auto k : steps) {
#line 23 "ui-tests/conformance/src/kernels/large_shared.rs"
            require_of_warp(at_launch<1>(within(floats, k)));
#line 23 "ui-tests/conformance/src/kernels/large_shared.rs"
            floats.get_unchecked(k) = as<f64>(k);
        }
    }
#line 25 "ui-tests/conformance/src/kernels/large_shared.rs"
    require_of_warp(at_launch<2>(within(wide, i % 64)) & at_launch<4>(within(bytes, 255 - i)) & at_launch<5>(within(floats, 7679 - i)) & at_launch<6>(within(wide, i / 4)) & at_launch<3>(within(out, i)));
#line 25 "ui-tests/conformance/src/kernels/large_shared.rs"
    wide.get_unchecked(i % 64) = Wide{.a = 5};
    block.sync();
    out.get_unchecked(i) = as<u64>(bytes.get_unchecked(255 - i)) + as<u64>(floats.get_unchecked(7679 - i)) * 1000 + as<u64>(wide.get_unchecked(i / 4).a) * 10000000;
}
