#define PHALANX_LAUNCH "unrolled_param_2"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/array.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/spread.cuh>
#include <phalanx/subslice.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
unrolled(readonly_slice<u32> input, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 235 "ui-tests/conformance/src/kernels/guide.rs"
    auto i = this_thread_block().thread_rank();
    auto sums = local_array<u32, 4>::filled(0);
    {
        auto& items = sums;
#line 237 "ui-tests/conformance/src/kernels/guide.rs"
        const auto steps = range(0, items.len());
        if (covers(input, spread_by(values_of(steps) * 8, up_by(0), up_by(8).down_by(1))) && is_natural(8)) {
            #pragma unroll 4
            for (auto k : unclamped(steps)) {
#line 238 "ui-tests/conformance/src/kernels/guide.rs"
                auto& sum = items[k];
                {
                    auto items_2 = subslice_unchecked(input, k * 8, k * 8 + 8);
#line 239 "ui-tests/conformance/src/kernels/guide.rs"
                    #pragma unroll 3
                    for (auto position : range(0, items_2.len())) {
#line 240 "ui-tests/conformance/src/kernels/guide.rs"
                        auto x = items_2[at_launch<0>(position)];
                        if (x == i) {
                            continue;
                        }
                        sum += x;
                    }
                }
            }
        } else {
            #pragma unroll 4
            for (auto k : steps) {
#line 238 "ui-tests/conformance/src/kernels/guide.rs"
                auto& sum = items[k];
                {
                    auto items_2 = subslice(input, k * 8, k * 8 + 8);
#line 239 "ui-tests/conformance/src/kernels/guide.rs"
                    #pragma unroll 3
                    for (auto position : range(0, items_2.len())) {
#line 240 "ui-tests/conformance/src/kernels/guide.rs"
                        auto x = items_2[at_launch<0>(position)];
                        if (x == i) {
                            continue;
                        }
                        sum += x;
                    }
                }
            }
        }
    }
#line 247 "ui-tests/conformance/src/kernels/guide.rs"
    auto left = i32(5);
    #pragma unroll 1
    while (true) {
        #pragma unroll
        for (auto k_2 : range(i32(0), i32(4))) {
            sums[k_2] += sums[(k_2 + 1) % 4];
        }
        left -= 1;
        if (left == 0) {
            break;
        }
    }
    out[at_launch<1>(i)] = sums[i % 4];
}
