#define PHALANX_LAUNCH "operands_param_3"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/array.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
operands(readonly_slice<i32> input, slice_mut<i32> out, f32 scale, const __grid_constant__ launch_block phalanx_launch) {
#line 35 "ui-tests/conformance/src/kernels/by_hand.rs"
    auto i = this_grid().thread_rank();
    auto float_2 = input[at_launch<0>(i)];
    auto value = float_2 + 1;
    auto value_2 = value * 2;
    i64 sum = 5;
    auto flag = false;
    f32 scaled;
    auto pair = local_array<i32, 2>{float_2, value_2};
    {

        [](const auto pair, const auto twice, const auto bound, const auto even, const auto scale, auto& sum, auto& flag, auto& scaled) -> void {
            // A comment with a } in it, and one at the end of the text.
            sum = sum + i64(pair[0].value) + i64(twice.value);
            if (sum > bound) {
                flag = even;
                scaled = scale * scale;
                return; // leaves the text, not the kernel
            }
            scaled = -scale; // }
        }(pair, value_2, i64(40), float_2 % 2 == 0, scale, sum, flag, scaled);
    }
#line 62 "ui-tests/conformance/src/kernels/by_hand.rs"
    out[at_launch<1>(i)] = as<i32>(sum) + (flag ? i32(1000) : i32(0)) + as<i32>(scaled);
}
