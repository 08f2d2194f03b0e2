#define PHALANX_LAUNCH "chunked_param_3"
#define PHALANX_BLOCK 1, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/bits.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/limits.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/message.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/range_within.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/spread.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>
#include <phalanx/wrapping.cuh>

using namespace phalanx;

template <template <class> class Slice0>
__device__ __forceinline__ u32 sum(Slice0<u32> values) {
#line 18 "ui-tests/conformance/src/kernels/elements.rs"
    auto total = u32(0);
    for (auto position : range(0, values.len())) {
#line 19 "ui-tests/conformance/src/kernels/elements.rs"
        auto x = values[position];
        total = wrapping_mul(total, 31) + x;
    }
    return total;
}

__device__ __forceinline__ u32 largest(shared_slice<u32> values) {

    auto most = u32(0);
    for (auto position : range(0, values.len())) {
#line 28 "ui-tests/conformance/src/kernels/elements.rs"
        auto x = values[position];
        most = max(most, x);
    }
    return most;
}

__device__ __forceinline__ u32 phalanx_conformance_kernels_elements_sum_of(shared_slice<u32> values) {
#line 164 "ui-tests/conformance/src/kernels/elements.rs"
    u32 total = 0;
#line 164 "ui-tests/conformance/src/kernels/elements.rs"
    for (auto position : range(0, values.len())) {
#line 164 "ui-tests/conformance/src/kernels/elements.rs"
        auto item = values[position];
#line 164 "ui-tests/conformance/src/kernels/elements.rs"
        total += item;
    }
#line 164 "ui-tests/conformance/src/kernels/elements.rs"
    return total;
}

extern "C" __global__ void __launch_bounds__(1)
chunked(readonly_slice<u32> a, slice_mut<u32> out, usize size, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(a, out, size);
#line 122 "ui-tests/conformance/src/kernels/elements.rs"
    auto total = u32(0);
    {
#line 123 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_2 = size;
#line 123 "ui-tests/conformance/src/kernels/elements.rs"
        if (!(size_2 != 0)) {
            assertion_failed(here());
        }
#line 123 "ui-tests/conformance/src/kernels/elements.rs"
        for (auto position : range(0, div_ceil(a.len(), size_2))) {
#line 123 "ui-tests/conformance/src/kernels/elements.rs"
            auto chunk = chunk_of(a, size_2, position);
            auto value = wrapping_mul(total, 31);
            total = value + sum(chunk);
        }
    }
#line 126 "ui-tests/conformance/src/kernels/elements.rs"
    out[at_launch<0>(0)] = total;
    {
#line 127 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_3 = size;
#line 127 "ui-tests/conformance/src/kernels/elements.rs"
        if (!(size_3 != 0)) {
            assertion_failed(here());
        }
#line 127 "ui-tests/conformance/src/kernels/elements.rs"
        for (auto i : range(0, word_at_launch<18>(a.len()) / size_3)) {
#line 127 "ui-tests/conformance/src/kernels/elements.rs"
            auto chunk_2 = exact_chunk_of(a, size_3, i);
            total = wrapping_mul(total, 31) + chunk_2[0] * as<u32>(i) + as<u32>(chunk_2.len());
        }
    }
#line 130 "ui-tests/conformance/src/kernels/elements.rs"
    out[at_launch<1>(1)] = total;
    {
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_4 = size;
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
        if (!(size_4 != 0)) {
            assertion_failed(here());
        }
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
        auto length = saturating_sub(word_at_launch<19>(a.len() + 1), size_4);
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
        const auto steps = range(0, length);
        if ((holds_at_launch<2> || covers(a, spread_by(length - 1 - values_of(steps), up_by(0), up_by(size_4).down_by(1))) && is_natural(size_4))) {
            for (auto position_2 : unclamped(steps)) {
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
                auto window = subslice_unchecked(a, length - 1 - position_2, length - 1 - position_2 + size_4);
                require(at_launch<3>(within(window, 0)) & at_launch<4>(within(window, window.len() - 1)));
#line 132 "ui-tests/conformance/src/kernels/elements.rs"
                total = wrapping_mul(total, 31) + window.get_unchecked(0) * window.get_unchecked(window.len() - 1);
            }
        } else {
            for (auto position_2 : steps) {
#line 131 "ui-tests/conformance/src/kernels/elements.rs"
                auto window = (holds_at_launch<2> ? subslice_unchecked(a, length - 1 - position_2, length - 1 - position_2 + size_4) : subslice(a, length - 1 - position_2, length - 1 - position_2 + size_4));
                total = wrapping_mul(total, 31) + window[at_launch<3>(0)] * window[at_launch<4>(window.len() - 1)];
            }
        }
    }
#line 134 "ui-tests/conformance/src/kernels/elements.rs"
    out[at_launch<5>(2)] = total;
    __shared__ shared_array<u32, 20> shared; keep_address(shared);
    __shared__ shared_array<local_array<u32, 4>, 3> grid; keep_address(grid);
    {
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
        usize by = 20;
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
        const auto steps_2 = range(0, min(word_at_launch<20>(a.len()), by));
        if ((holds_at_launch<7> && holds_at_launch<8> && holds_at_launch<9> || covers(shared, values_of(steps_2)) && covers_row<decltype(grid.get_unchecked(0))>(confined(values_of(steps_2), less_than(12)) % 4) && covers(grid, confined(values_of(steps_2), less_than(12)) / 4))) {
            for (auto position_3 : unclamped(steps_2)) {
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
                auto i_2 = position_3;
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
                auto x = a.get_unchecked(position_3);
                shared.get_unchecked(i_2) = x;
                if (word_at_launch<21>(i_2) < 12) {
                    grid.get_unchecked(i_2 / 4).get_unchecked(i_2 % 4) = x + 1;
                }
            }
        } else {
            for (auto position_3 : steps_2) {
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
                auto i_2 = position_3;
#line 137 "ui-tests/conformance/src/kernels/elements.rs"
                auto x = a.get_unchecked(position_3);
                shared[at_launch<7>(i_2)] = x;
                if (word_at_launch<21>(i_2) < 12) {
                    grid[at_launch<8>(i_2 / 4)][at_launch<9>(i_2 % 4)] = x + 1;
                }
            }
        }
    }
#line 143 "ui-tests/conformance/src/kernels/elements.rs"
    {
#line 143 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_5 = 4;
#line 143 "ui-tests/conformance/src/kernels/elements.rs"
        for (auto position_4 : range(0, div_ceil(shared.len(), size_5))) {
#line 143 "ui-tests/conformance/src/kernels/elements.rs"
            auto chunk_3 = chunk_of(shared, size_5, position_4);
            auto value_2 = wrapping_mul(total, 31);
            total = value_2 + largest(chunk_3);
        }
    }
#line 146 "ui-tests/conformance/src/kernels/elements.rs"
    {
#line 146 "ui-tests/conformance/src/kernels/elements.rs"
        usize by_2 = size;
#line 146 "ui-tests/conformance/src/kernels/elements.rs"
        const auto steps_3 = range(0, saturating_sub(word_at_launch<22>(shared.len()), by_2));
        if ((holds_at_launch<10> || covers(shared, values_of(steps_3) + by_2))) {
            for (auto position_5 : unclamped(steps_3)) {
#line 146 "ui-tests/conformance/src/kernels/elements.rs"
                auto x_2 = shared.get_unchecked(position_5 + by_2);
                total ^= x_2;
            }
        } else {
            for (auto position_5 : steps_3) {
#line 146 "ui-tests/conformance/src/kernels/elements.rs"
                auto x_2 = shared[at_launch<10>(position_5 + by_2)];
                total ^= x_2;
            }
        }
    }
#line 149 "ui-tests/conformance/src/kernels/elements.rs"
    for (auto position_6 : range(0, grid.len())) {
#line 149 "ui-tests/conformance/src/kernels/elements.rs"
        auto row = grid[at_launch<11>(position_6)];
        {
#line 150 "ui-tests/conformance/src/kernels/elements.rs"
            const auto& items = row;
#line 150 "ui-tests/conformance/src/kernels/elements.rs"
            for (auto position_7 : range(0, items.len())) {
#line 150 "ui-tests/conformance/src/kernels/elements.rs"
                const auto& x_3 = items[position_7];
                total = wrapping_mul(total, 31) + x_3;
            }
        }
    }
#line 154 "ui-tests/conformance/src/kernels/elements.rs"
    {
#line 154 "ui-tests/conformance/src/kernels/elements.rs"
        auto items_2 = row_of(grid, 1);
#line 154 "ui-tests/conformance/src/kernels/elements.rs"
        for (auto position_8 : range(0, items_2.len())) {
#line 154 "ui-tests/conformance/src/kernels/elements.rs"
            auto x_4 = items_2[at_launch<12>(position_8)];
            total += x_4;
        }
    }
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
    auto total_2 = usize(0);
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
    {
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_6 = 2;
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
        usize by_3 = 1;
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
        const auto steps_4 = range(0, saturating_sub(word_at_launch<24>(saturating_sub(word_at_launch<23>(a.len() + 1), size_6)), by_3));
        if ((holds_at_launch<13> || covers(a, spread_by(values_of(steps_4), up_by(by_3), up_by(by_3).up_by(size_6).down_by(1))) && is_natural(size_6))) {
            for (auto position_9 : unclamped(steps_4)) {
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                auto item = subslice_unchecked(a, position_9 + by_3, position_9 + by_3 + size_6);
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                require(at_launch<14>(from_within(item, 0)) & at_launch<15>(within(subslice_from_unchecked(item, 0), 1)) & at_launch<16>(within(subslice_from_unchecked(item, 0), 0)));
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
#line 120 "ui-tests/conformance/src/kernels/elements.rs"
                auto w = subslice_from_unchecked(item, 0);
                if (w.get_unchecked(1) % 3 > w.get_unchecked(0) % 3) {
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                    total_2 += 1;
                }
            }
        } else {
            for (auto position_9 : steps_4) {
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                require(at_launch<13>( range_within(a, position_9 + by_3, position_9 + by_3 + size_6)) & at_launch<14>(from_within(subslice_unchecked(a, position_9 + by_3, position_9 + by_3 + size_6), 0)) & at_launch<15>(within(subslice_from_unchecked(subslice_unchecked(a, position_9 + by_3, position_9 + by_3 + size_6), 0), 1)) & at_launch<16>(within(subslice_from_unchecked(subslice_unchecked(a, position_9 + by_3, position_9 + by_3 + size_6), 0), 0)));
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                auto item = subslice_unchecked(a, position_9 + by_3, position_9 + by_3 + size_6);
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
#line 120 "ui-tests/conformance/src/kernels/elements.rs"
                auto w = subslice_from_unchecked(item, 0);
                if (w.get_unchecked(1) % 3 > w.get_unchecked(0) % 3) {
#line 157 "ui-tests/conformance/src/kernels/elements.rs"
                    total_2 += 1;
                }
            }
        }
    }
    total += as<u32>(total_2);
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
    auto total_3 = usize(0);
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
    {
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
        usize size_7 = size;
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
        if (!(size_7 != 0)) {
            assertion_failed(here());
        }
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
        for (auto position_10 : range(0, div_ceil(shared.len(), size_7))) {
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
            auto item_2 = chunk_of(shared, size_7, position_10);
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
#line 120 "ui-tests/conformance/src/kernels/elements.rs"
            auto part = item_2;
            if (part.len() == size && word_at_launch<25>(phalanx_conformance_kernels_elements_sum_of(part)) > 9) {
#line 158 "ui-tests/conformance/src/kernels/elements.rs"
                total_3 += 1;
            }
        }
    }
    total += as<u32>(total_3) * 100;
#line 159 "ui-tests/conformance/src/kernels/elements.rs"
    out[at_launch<17>(3)] = total;
}
