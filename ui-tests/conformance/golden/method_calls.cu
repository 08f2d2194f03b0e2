#define PHALANX_LAUNCH "method_calls_param_2"
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

__device__ __forceinline__ u32 u32_scaled(u32 self) {
    constexpr auto u32_FACTOR = u32(3);
#line 114 "ui-tests/conformance/src/kernels/calls.rs"
    return self * u32_FACTOR;
}

__device__ __forceinline__ u32 u32_scale_by(u32& self, u32 times) {
#line 117 "ui-tests/conformance/src/kernels/calls.rs"
    for ([[maybe_unused]] auto i : range(0, times)) {
        self = u32_scaled(self);
    }
    return times;
}

__device__ __forceinline__ u32 u32_zero() {
#line 123 "ui-tests/conformance/src/kernels/calls.rs"
    return u32(0);
}

__device__ __forceinline__ u32 twice_u32(u32 x) {
    constexpr auto T_FACTOR = u32(3);
#line 144 "ui-tests/conformance/src/kernels/calls.rs"
    auto once = u32_scaled(x);
    auto value = u32_scaled(once);
    return value + u32_zero() + T_FACTOR;
}

__device__ __forceinline__ f32 f32_zero() {
#line 138 "ui-tests/conformance/src/kernels/calls.rs"
    return f32(0.0f);
}

__device__ __forceinline__ u32 f32_scale_by(f32& self, u32 times) {
#line 134 "ui-tests/conformance/src/kernels/calls.rs"
    self *= as<f32>(times);
#line 128 "ui-tests/conformance/src/kernels/calls.rs"
    return as<u32>(f32_zero());
}

__device__ __forceinline__ f32 f32_scaled(f32 self) {
    constexpr auto f32_FACTOR = f32(0.5f);
#line 131 "ui-tests/conformance/src/kernels/calls.rs"
    return self * f32_FACTOR;
}

__device__ __forceinline__ f32 twice_f32(f32 x) {
    constexpr auto T_FACTOR = f32(0.5f);
#line 144 "ui-tests/conformance/src/kernels/calls.rs"
    auto once = f32_scaled(x);
    auto value = f32_scaled(once);
    return value + f32_zero() + T_FACTOR;
}

extern "C" __global__ void
method_calls(slice_mut<u32> out, slice_mut<f32> floats, const __grid_constant__ launch_block phalanx_launch) {
#line 150 "ui-tests/conformance/src/kernels/calls.rs"
    auto i = this_thread_block().thread_rank();
    auto x = i + 1;
    auto times = u32_scale_by(x, 2);
    auto value = twice_u32(x) + times;
    auto value_2 = value + u32_zero();
    out[at_launch<0>(i)] = value_2 + u32_scaled(1);
#line 154 "ui-tests/conformance/src/kernels/calls.rs"
    auto y = as<f32>(i);
    f32_scale_by(y, 3);
    floats[at_launch<1>(i)] = twice_f32(y);
}
