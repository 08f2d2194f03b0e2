#define PHALANX_BLOCK 1, 1, 1
#include <phalanx/array.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/vector.cuh>

using namespace phalanx;

__device__ usize next(usize& counter) {
#line 293 "ui-tests/conformance/src/kernels/memory.rs"
    counter += 1;
    return counter;
}

template <template <class> class Slice0, template <class> class Slice1>
__device__ u32 weigh(Slice0<u32> a, Slice1<u32> b, usize c) {
    if (!(within(a, 0) & within(b, 0))) {
        a[0];
        b[0];
        __builtin_unreachable();
    }
#line 299 "ui-tests/conformance/src/kernels/memory.rs"
    return a.get_unchecked(0) + 100 * b.get_unchecked(0) + 10000 * as<u32>(c);
}

extern "C" __global__ void __launch_bounds__(1)
phalanx_conformance_kernels_memory_ordered(readonly_slice<u32> a, slice_mut<u32> out) {

    auto n = usize(0);
    auto value = subslice_from(a, next(n));
    auto value_2 = next(n);
    auto value_3 = subslice(a, value_2, next(n));
    out[0] = weigh(value, value_3, next(n));
#line 307 "ui-tests/conformance/src/kernels/memory.rs"
    out[1] = as<u32>(n);
    __shared__ shared_array<local_array<u32, 8>, 8> tile;
    n = 0;
    auto value_4 = as<u32>(next(n));
    auto value_5 = next(n);
    tile[value_5][next(n)] = value_4;
#line 311 "ui-tests/conformance/src/kernels/memory.rs"
    if (!(within(tile, 2) & within_row<decltype(tile.get_unchecked(0))>(3) & within(out, 2))) {
        tile[2];
        tile.get_unchecked(2)[3];
        out[2];
        __builtin_unreachable();
    }
#line 311 "ui-tests/conformance/src/kernels/memory.rs"
    out.get_unchecked(2) = tile.get_unchecked(2).get_unchecked(3);
    auto value_6 = subslice_from(a, next(n));
    out[3] = value_6[next(n)];
#line 313 "ui-tests/conformance/src/kernels/memory.rs"
    tile [next(n)][1] = 2;
    auto m = n;
    tile[m][1] += as<u32>(next(n));
    if (!(within(tile, 6) & within_row<decltype(tile.get_unchecked(0))>(1) & within(out, 4))) {
        tile[6];
        tile.get_unchecked(6)[1];
        out[4];
        __builtin_unreachable();
    }
#line 316 "ui-tests/conformance/src/kernels/memory.rs"
    out.get_unchecked(4) = tile.get_unchecked(6).get_unchecked(1);
    auto value_7 = row_of(tile, n);
    auto value_8 = as<u32>(next(n));
    store_vec(value_7, 0, u32x2{value_8, as<u32>(next(n))});
#line 318 "ui-tests/conformance/src/kernels/memory.rs"
    if (!(within(tile, 7) & within_row<decltype(tile.get_unchecked(0))>(0) & within_row<decltype(tile.get_unchecked(0))>(1) & within(out, 5))) {
        tile[7];
        tile.get_unchecked(7)[0];
        tile.get_unchecked(7)[1];
        out[5];
        __builtin_unreachable();
    }
#line 318 "ui-tests/conformance/src/kernels/memory.rs"
    out.get_unchecked(5) = tile.get_unchecked(7).get_unchecked(0) + 10 * tile.get_unchecked(7).get_unchecked(1);
}
