#define PHALANX_LAUNCH "quantize_param_4"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/bits.cuh>
#include <phalanx/float_math.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/half.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/transcendental.cuh>
#include <phalanx/wrapping.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(64)
quantize(readonly_slice<f16> rows, usize width, slice_mut<i8> out, slice_mut<i32> exponents, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(rows, width, out, exponents);
    constexpr auto f16_MIN_POSITIVE = f16::from_bits(0x400);
#line 447 "ui-tests/conformance/src/kernels/guide.rs"
    auto row = this_grid().thread_rank();
    auto start = row * width;
    auto largest = f16_MIN_POSITIVE;
    const auto steps = range(start, start + width);
    if ((holds_at_launch<0> || covers(rows, values_of(steps)))) {
        for (auto i : unclamped(steps)) {
#line 451 "ui-tests/conformance/src/kernels/guide.rs"
            largest = max(largest, abs(rows.get_unchecked(i)));
        }
    } else {
        for (auto i : steps) {
#line 451 "ui-tests/conformance/src/kernels/guide.rs"
            largest = max(largest, abs(rows[at_launch<0>(i)]));
        }
    }
#line 453 "ui-tests/conformance/src/kernels/guide.rs"
    auto exponent = saturating_sub(as<i32>(ceil(log2(to_f32(largest)))), 7);
    auto scale = f32::from_bits(cast_unsigned(127 - exponent) << 23);
    exponents[at_launch<1>(row)] = exponent;
    const auto steps_2 = range(start, start + width);
    if ((holds_at_launch<0> && holds_at_launch<2> || covers(out, values_of(steps_2)) && covers(rows, values_of(steps_2)))) {
        for (auto i_2 : unclamped(steps_2)) {
#line 457 "ui-tests/conformance/src/kernels/guide.rs"
            out.get_unchecked(i_2) = as<i8>(clamp(round_ties_even(as<f32>(rows.get_unchecked(i_2)) * scale), -f32(128.0f), f32(127.0f)));
        }
    } else {
        for (auto i_2 : steps_2) {
#line 457 "ui-tests/conformance/src/kernels/guide.rs"
            out[at_launch<2>(i_2)] = as<i8>(clamp(round_ties_even(as<f32>(rows[at_launch<0>(i_2)]) * scale), -f32(128.0f), f32(127.0f)));
        }
    }
}
