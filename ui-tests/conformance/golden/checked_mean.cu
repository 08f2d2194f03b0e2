#define PHALANX_LAUNCH "checked_mean_param_3"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/message.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
checked_mean(readonly_slice<i64> values, readonly_slice<i32> counts, slice_mut<i64> out, const __grid_constant__ launch_block phalanx_launch) {
    constexpr auto MOST = i32(1048576);
    constexpr auto i64_MIN = i64(-9223372036854775807ll - 1);
#line 266 "ui-tests/conformance/src/kernels/guide.rs"
    auto i = this_thread_block().thread_rank();
    auto count = counts[at_launch<0>(i)];
    if (!(count >= i32(0))) {
        assertion_failed(here(), count, i32(0));
    }
#line 269 "ui-tests/conformance/src/kernels/guide.rs"
    if (!(count < MOST)) {
        assertion_failed(here(), MOST, count);
    }
#line 270 "ui-tests/conformance/src/kernels/guide.rs"
    auto sum = i64(0);
    const auto steps = range(0, count);
    if ((holds_at_launch<1> || covers(values, values_of(steps)))) {
        for (auto k : unclamped(steps)) {
#line 272 "ui-tests/conformance/src/kernels/guide.rs"
            sum += values.get_unchecked(k);
        }
    } else {
        for (auto k : steps) {
#line 272 "ui-tests/conformance/src/kernels/guide.rs"
            sum += values[at_launch<1>(k)];
        }
    }
#line 274 "ui-tests/conformance/src/kernels/guide.rs"
    if (sum == i64_MIN) {
        panicked(here(), count);
    }
    out[at_launch<2>(i)] = word_at_launch<3>(abs(sum)) / as<i64>(count);
}
