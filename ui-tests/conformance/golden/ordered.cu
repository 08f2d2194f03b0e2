#define PHALANX_LAUNCH "phalanx_conformance_kernels_memory_ordered_param_2"
#define PHALANX_BLOCK 1, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/vector.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

__device__ __forceinline__ usize phalanx_conformance_kernels_memory_next(usize& counter) {
#line 293 "ui-tests/conformance/src/kernels/memory.rs"
    counter += 1;
    return counter;
}

template <template <class> class Slice0, template <class> class Slice1>
__device__ __forceinline__ u32 weigh(Slice0<u32> a, Slice1<u32> b, usize c) {
    require(at_launch<0>(within(a, 0)) & at_launch<1>(within(b, 0)));
#line 299 "ui-tests/conformance/src/kernels/memory.rs"
    return a.get_unchecked(0) + 100 * b.get_unchecked(0) + 10000 * as<u32>(c);
}

extern "C" __global__ void __launch_bounds__(1)
phalanx_conformance_kernels_memory_ordered(readonly_slice<u32> a, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(a, out);
    auto n = usize(0);
    auto value = subslice_from(a, phalanx_conformance_kernels_memory_next(n));
    auto value_2 = phalanx_conformance_kernels_memory_next(n);
    auto value_3 = subslice(a, value_2, phalanx_conformance_kernels_memory_next(n));
    out[at_launch<2>(0)] = weigh(value, value_3, phalanx_conformance_kernels_memory_next(n));
#line 307 "ui-tests/conformance/src/kernels/memory.rs"
    out[at_launch<3>(1)] = as<u32>(n);
    __shared__ shared_array<local_array<u32, 8>, 8> tile; keep_address(tile);
    n = 0;
    auto value_4 = as<u32>(phalanx_conformance_kernels_memory_next(n));
    auto value_5 = phalanx_conformance_kernels_memory_next(n);
    tile[value_5][phalanx_conformance_kernels_memory_next(n)] = value_4;
#line 311 "ui-tests/conformance/src/kernels/memory.rs"
    out[at_launch<4>(2)] = tile[2][3];
    auto value_6 = subslice_from(a, phalanx_conformance_kernels_memory_next(n));
    out[at_launch<5>(3)] = value_6[phalanx_conformance_kernels_memory_next(n)];
#line 313 "ui-tests/conformance/src/kernels/memory.rs"
    tile[phalanx_conformance_kernels_memory_next(n)][1] = 2;
    auto m = n;
    tile[m][1] += as<u32>(phalanx_conformance_kernels_memory_next(n));
    out[at_launch<6>(4)] = tile[6][1];
    auto value_7 = row_of(tile, n);
    auto value_8 = as<u32>(phalanx_conformance_kernels_memory_next(n));
    store_vec(value_7, at_launch<7>(0), u32x2{value_8, as<u32>(phalanx_conformance_kernels_memory_next(n))});
#line 318 "ui-tests/conformance/src/kernels/memory.rs"
    out[at_launch<8>(5)] = tile[7][0] + 10 * tile[7][1];
}
