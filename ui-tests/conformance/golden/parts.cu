#define PHALANX_LAUNCH "parts_param_4"
#define PHALANX_BLOCK 1, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_within.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

template <template <class> class Slice0>
__device__ __forceinline__ u32 sum(Slice0<u32> values) {
#line 11 "ui-tests/conformance/src/kernels/memory.rs"
    auto total = u32(0);
    for (auto i : range(0, values.len())) {
        total += values[i] * (as<u32>(i) + 1);
    }
    return total;
}

__device__ __forceinline__ void fill(slice_mut<u32> values, u32 first) {

    for (auto i : range(0, values.len())) {
        values[at_launch<0>(i)] = first + as<u32>(i);
    }
}

extern "C" __global__ void __launch_bounds__(1)
parts(readonly_slice<u32> a, slice_mut<u32> out, u32 lo, usize hi, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(a, out, lo, hi);
    auto row = subslice(a, lo, hi);
    out[at_launch<1>(0)] = sum(row);
    out[at_launch<2>(1)] = sum((holds_at_launch<3> ? subslice_from_unchecked(a, lo) : subslice_from(a, lo)));
    out[at_launch<4>(2)] = sum((holds_at_launch<5> ? subslice_unchecked(a, 0, hi) : subslice(a, 0, hi)));
    out[at_launch<6>(3)] = sum((holds_at_launch<7> ? subslice_from_unchecked(a, 0) : subslice_from(a, 0)));
    out[at_launch<8>(4)] = sum(subslice_inclusive(a, lo, u32(9)));
    out[at_launch<9>(5)] = sum(subslice_inclusive(a, 0, hi));
    out[at_launch<10>(6)] = sum(subslice((holds_at_launch<11> ? subslice_from_unchecked(row, 1) : subslice_from(row, 1)), 1, 3));
    require(range_within(a, 3, 5) & at_launch<12>(within(out, 7)) & range_within(a, 4, 4) & at_launch<13>(within(out, 8)) & at_launch<15>(within(row, 0)) & at_launch<16>(within(row, row.len() - 1)) & at_launch<14>(within(out, 9)));
#line 36 "ui-tests/conformance/src/kernels/memory.rs"
    out.get_unchecked(7) = as<u32>(row.len()) + as<u32>(subslice_unchecked(a, 3, 5).len());
    out.get_unchecked(8) = as<u32>(row.is_empty()) + 2 * as<u32>(subslice_unchecked(a, 4, 4).is_empty());
    out.get_unchecked(9) = row.get_unchecked(0) + row.get_unchecked(row.len() - 1);
    out[at_launch<17>(10)] = as<u32>(subslice_inclusive(a, 3, 2).len());
    out[at_launch<18>(11)] = subslice(a, 2, 8)[at_launch<19>(3)];

    auto target = (holds_at_launch<20> ? subslice_from_unchecked(out, 16) : subslice_from(out, 16));
    fill(target, 100);
    fill(subslice(target, 4, 6), 500);
    auto [left, right] = split_at(target, 8);
    require(at_launch<22>(within(left, 7)) & at_launch<21>(within(right, 0)) & at_launch<23>(within(left, 1)) & at_launch<24>(from_within(target, 3)));
#line 46 "ui-tests/conformance/src/kernels/memory.rs"
    right.get_unchecked(0) = left.get_unchecked(7) + 1;
    left.get_unchecked(1) += 7;
    auto view = subslice_from_unchecked(target, 3);
    out[at_launch<25>(12)] = sum(view);
    auto [rest, end] = split_at(a, a.len() - 2);
    out[at_launch<26>(13)] = sum(end);
    auto tile = chunk_of(a, 7, u32(2));
    out[at_launch<27>(14)] = sum(tile) + as<u32>(tile.len()) * 1000;
    auto last = chunk_of(out, 9, 3);
    last[4] = as<u32>(last.len());
}
