#define PHALANX_LAUNCH "option_values_param_2"
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/option.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tuple.cuh>

using namespace phalanx;

template <class Then = whole<option<u32>>>
__device__ __forceinline__ typename Then::result phalanx_conformance_kernels_patterns_half(u32 x, const Then& then = {}) {
#line 153 "ui-tests/conformance/src/kernels/patterns.rs"
    return x % 2 == 0 ? then.some(x / 2) : then.none();
}

extern "C" __global__ void
option_values(readonly_slice<u32> input, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
    auto i = this_thread_block().thread_rank();
    auto x = input[at_launch<0>(i)];
    u32 a;
    auto value = phalanx_conformance_kernels_patterns_half(x);
    if (value.is_some() && value.value == 0) {
#line 161 "ui-tests/conformance/src/kernels/patterns.rs"
        a = u32(1000);
    } else if (value.is_some() && (value.value >= 1 && value.value <= 4)) {
        auto n = value.value;
#line 162 "ui-tests/conformance/src/kernels/patterns.rs"
        a = n;
    } else if (value.is_some()) {
        auto n_2 = value.value;
#line 163 "ui-tests/conformance/src/kernels/patterns.rs"
        a = n_2 + 50;
    } else {
#line 164 "ui-tests/conformance/src/kernels/patterns.rs"
        a = u32(7);
    }
    u32 b;
    auto value_2 = phalanx_conformance_kernels_patterns_half(x / 2);
    if (value_2.is_some()) {
        auto n_3 = value_2.value;
#line 166 "ui-tests/conformance/src/kernels/patterns.rs"
        b = n_3;
    } else {
#line 166 "ui-tests/conformance/src/kernels/patterns.rs"
        b = u32(9);
    }
#line 167 "ui-tests/conformance/src/kernels/patterns.rs"
    auto c = phalanx_conformance_kernels_patterns_half(x).unwrap_or(u32(11));
    option<tuple<u32, bool>> d = x > 4 ? some(tuple<u32, bool>{x, true}) : option<tuple<u32, bool>>(none);
    u32 e;
    if (d.is_some() && d.value._1) {
        auto n_4 = d.value._0;
#line 170 "ui-tests/conformance/src/kernels/patterns.rs"
        e = n_4;
    } else {
#line 171 "ui-tests/conformance/src/kernels/patterns.rs"
        e = u32(13);
    }
    u32 f;
    if (phalanx_conformance_kernels_patterns_half(x).is_some() && d.is_none()) {
#line 173 "ui-tests/conformance/src/kernels/patterns.rs"
        f = u32(1);
    } else {
#line 173 "ui-tests/conformance/src/kernels/patterns.rs"
        f = u32(0);
    }
#line 174 "ui-tests/conformance/src/kernels/patterns.rs"
    u32 g;
    if (phalanx_conformance_kernels_patterns_half(x) == some(u32(3))) {
#line 174 "ui-tests/conformance/src/kernels/patterns.rs"
        g = u32(1);
    } else {
#line 174 "ui-tests/conformance/src/kernels/patterns.rs"
        g = u32(0);
    }
#line 175 "ui-tests/conformance/src/kernels/patterns.rs"
    out[at_launch<1>(i)] = a + b * 100 + c * 10000 + e * 1000000 + f * 100000000 + g * 200000000;
}
