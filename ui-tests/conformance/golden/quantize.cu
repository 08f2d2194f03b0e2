#define PHALANX_FLAT_BLOCK
#include <phalanx/bits.cuh>
#include <phalanx/float_math.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/half.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/transcendental.cuh>
#include <phalanx/wrapping.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(64)
quantize(readonly_slice<f16> rows, usize width, slice_mut<i8> out, slice_mut<i32> exponents) {
    constexpr auto f16_MIN_POSITIVE = f16::from_bits(0x400);
#line 399 "ui-tests/conformance/src/kernels/guide.rs"
    auto row = this_grid().thread_rank();
    auto start = row * width;
    auto largest = f16_MIN_POSITIVE;
    for (auto i : range(start, start + width)) {
        largest = max(largest, abs(rows[i]));
    }
    auto exponent = saturating_sub(as<i32>(ceil(log2(to_f32(largest)))), 7);
    auto scale = f32::from_bits(cast_unsigned(127 - exponent) << 23);
    exponents[row] = exponent;
    for (auto i_2 : range(start, start + width)) {
        out[i_2] = as<i8>(clamp(round_ties_even(as<f32>(rows[i_2]) * scale), -f32(128.0f), f32(127.0f)));
    }
}
