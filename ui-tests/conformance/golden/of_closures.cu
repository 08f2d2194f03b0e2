#define PHALANX_LAUNCH "of_closures_param_4"
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/tuple.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

template <class Closure0>
__device__ __forceinline__ void phalanx_conformance_kernels_folds_joined(const thread_block_tile<16>& tile, const coalesced_group& group, u32 x, const Closure0& join, slice_mut<u32> out, usize at) {
#line 88 "ui-tests/conformance/src/kernels/folds.rs"
    out[at_launch<0>(at)] = tile.reduce(x, join);
    out[at_launch<1>(at + 1)] = tile.inclusive_scan(x, join);
    out[at_launch<2>(at + 2)] = tile.exclusive_scan(x, join);
    out[at_launch<3>(at + 3)] = group.reduce(x, join);
    out[at_launch<4>(at + 4)] = group.inclusive_scan(x, join);
    out[at_launch<5>(at + 5)] = group.exclusive_scan(x, join);
}

extern "C" __global__ void
of_closures(readonly_slice<u32> input, readonly_slice<u8> labels, u32 factor, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
    constexpr auto RESULTS = usize(9);
#line 98 "ui-tests/conformance/src/kernels/folds.rs"
    auto block = this_thread_block();
    auto tile = tiled_partition<16>(block);
    auto i = this_grid().thread_rank();
    require(at_launch<6>(within(labels, i)));
#line 101 "ui-tests/conformance/src/kernels/folds.rs"
    auto group = labeled_partition(tile, labels.get_unchecked(i));
    auto at = i * RESULTS;
    require(at_launch<7>(within(input, i)));
#line 103 "ui-tests/conformance/src/kernels/folds.rs"
    phalanx_conformance_kernels_folds_joined(tile, group, input.get_unchecked(i), [&](auto a, auto b) __attribute__((always_inline)) { return a * factor - (b ^ 5); }, out, at);

    require(at_launch<7>(within(input, i)));
#line 105 "ui-tests/conformance/src/kernels/folds.rs"
    auto value_2 = group.reduce(tuple<u32, u32>{input.get_unchecked(i) % 50, as<u32>(i)}, detail::total([&](auto a_2, auto b_2) __attribute__((always_inline)) {
        auto value = tuple<tuple<u32, u32>, tuple<u32, u32>>{a_2, b_2};
        auto a_value = value._0._0;
        auto b_value = value._1._0;
#line 107 "ui-tests/conformance/src/kernels/folds.rs"
        return b_value > a_value ? b_2 : a_2;
    }));
    auto most = value_2._0;
    auto place = value_2._1;
#line 109 "ui-tests/conformance/src/kernels/folds.rs"
    require(at_launch<8>(within(out, at + 6)) & at_launch<9>(within(out, at + 7)) & at_launch<7>(within(input, i)) & at_launch<10>(within(out, at + 8)));
#line 109 "ui-tests/conformance/src/kernels/folds.rs"
    out.get_unchecked(at + 6) = most;
    out.get_unchecked(at + 7) = place;
    out.get_unchecked(at + 8) = as<u32>(tile.whole_warp().reduce(as<f32>(input.get_unchecked(i)), [&](auto a_3, auto b_3) __attribute__((always_inline)) { return a_3 / f32(2.0f) + b_3; }));
}
