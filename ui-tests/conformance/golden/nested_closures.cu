#define PHALANX_LAUNCH "nested_closures_param_1"
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

template <class Closure0>
__device__ __forceinline__ u32 apply(const Closure0& f, u32 x) {
#line 224 "ui-tests/conformance/src/kernels/calls.rs"
    return f(x);
}

template <class Closure0, class Closure1>
__device__ __forceinline__ u32 phalanx_conformance_kernels_calls_both(const Closure0& f, const Closure1& g, u32 x) {



    auto value = apply([&](auto y) __attribute__((always_inline)) { return f(g(y)); }, x);
    return value + apply(f, x) * 1000;
}

extern "C" __global__ void
nested_closures(slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 237 "ui-tests/conformance/src/kernels/calls.rs"
    auto i = this_thread_block().thread_rank();
    out[at_launch<0>(i)] = phalanx_conformance_kernels_calls_both([&](auto x) __attribute__((always_inline)) { return x + i; }, [&](auto x_2) __attribute__((always_inline)) { return apply([&](auto y) __attribute__((always_inline)) { return y * 2 + i; }, x_2); }, 5);
}
