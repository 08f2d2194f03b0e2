#define PHALANX_LAUNCH "product_param_5"
#define PHALANX_PLACED_SHARED_BYTES 107520
#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/half.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/limits.cuh>
#include <phalanx/matrix.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/spread.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/tuple.cuh>
#include <phalanx/vector.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

template <template <class> class Slice3, template <class> class Slice4>
__device__ __forceinline__ void fetch(const thread_block_tile<4>& quad, shared_slice<local_array<bf16, 72>> to_a, shared_slice<local_array<bf16, 136>> to_b, Slice3<bf16> a, Slice4<bf16> b, tuple<usize, usize, usize> parameter_0, tuple<usize, usize> parameter_1) {
    constexpr auto DEPTH = usize(64);
#line 28 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    auto top = parameter_0._0;
    auto left = parameter_0._1;
    auto start = parameter_0._2;
#line 29 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    auto n = parameter_1._0;
    auto k = parameter_1._1;
    auto rank = as<usize>(quad.meta_group_rank());
    const auto steps = range(usize(0), usize(2));
    if (covers_row<decltype(to_a.get_unchecked(0))>(values_of(DEPTH) - 1) && covers(to_a, rank + values_of(steps) * 64) && covers(a, spread_by((top + (rank + values_of(steps) * 64)) * k, up_by(start), up_by(start).up_by(DEPTH).down_by(1))) && is_natural(DEPTH)) {
        #pragma unroll
        for (auto i : unclamped(steps)) {
#line 34 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto row = rank + i * 64;
            auto from = (top + row) * k + start;
            memcpy_async(quad, copied_part_unchecked(row_of_unchecked(to_a, row), 0, DEPTH), copied_part_unchecked(a, from, from + DEPTH));
        }
    } else {
        #pragma unroll
        for (auto i : steps) {
#line 34 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto row = rank + i * 64;
            auto from = (top + row) * k + start;
            memcpy_async(quad, copied_part(row_of(to_a, row), 0, DEPTH), copied_part(a, from, from + DEPTH));
        }
    }
#line 38 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    const auto steps_2 = range(usize(0), usize(2));
    if ((holds_at_launch<0> && holds_at_launch<1> || covers(to_b, rank / 2 + values_of(steps_2) * 32) && covers(b, spread_by((start + (rank / 2 + values_of(steps_2) * 32)) * n, up_by(left).up_by(rank % 2 * DEPTH), up_by(left).up_by(rank % 2 * DEPTH).up_by(DEPTH).down_by(1))) && is_natural(DEPTH))) {
        #pragma unroll
        for (auto i_2 : unclamped(steps_2)) {
#line 40 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto row_2 = rank / 2 + i_2 * 32;
            auto column = rank % 2 * DEPTH;
#line 41 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto from_2 = (start + row_2) * n + left + column;
            memcpy_async(quad, copied_part(row_of_unchecked(to_b, row_2), column, column + DEPTH), copied_part_unchecked(b, from_2, from_2 + DEPTH));
        }
    } else {
        #pragma unroll
        for (auto i_2 : steps_2) {
#line 40 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto row_2 = rank / 2 + i_2 * 32;
            auto column = rank % 2 * DEPTH;
#line 41 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            auto from_2 = (start + row_2) * n + left + column;
            memcpy_async(quad, copied_part((holds_at_launch<0> ? row_of_unchecked(to_b, row_2) : row_of(to_b, row_2)), column, column + DEPTH), (holds_at_launch<1> ? copied_part_unchecked(b, from_2, from_2 + DEPTH) : copied_part(b, from_2, from_2 + DEPTH)));
        }
    }
}

__device__ __forceinline__ u32 Accumulator_row_f32_16_16(const accumulator<f32, 16, 16>& self, u32 lane, u32 i) {
#line "runtime/src/kernel/matrix/mod.rs"
    return lane / 32 * 16 + lane % 32 / 4 + i / 2 % 2 * 8;
}

__device__ __forceinline__ u32 Accumulator_column_f32_16_16(const accumulator<f32, 16, 16>& self, u32 lane, u32 i) {

    return lane % 4 * 2 + i % 2 + i / 4 * 8;
}

extern "C" __global__ void __launch_bounds__(256)
product(readonly_slice<bf16> a, readonly_slice<bf16> b, slice_mut<f32> c, usize n, usize k, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(a, b, c, n, k);
    constexpr auto EDGE = usize(128);
    constexpr auto DEPTH = usize(64);
    constexpr auto STAGES = usize(3);
#line 50 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    auto quad = tiled_partition<4>(block);
    auto& a_tiles = placed_shared<shared_array<local_array<local_array<bf16, 72>, 128>, 3>, 0>();
    auto& b_tiles = placed_shared<shared_array<local_array<local_array<bf16, 136>, 64>, 3>, 55296>();
    auto at = block.group_index();
    auto top = as<usize>(at.y) * EDGE;
    auto left = as<usize>(at.x) * EDGE;
#line 57 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    auto which = warp.meta_group_rank();
    auto row = which / 4 * 64;
    auto column = which % 4 * 32;
#line 59 "ui-tests/conformance/src/corpus/tensor_cores.rs"
    auto steps = k / DEPTH;
    fetch(quad, row_of(a_tiles, 0), row_of(b_tiles, 0), a, b, tuple<usize, usize, usize>{top, left, 0}, tuple<usize, usize>{n, k});
    if (steps > 1) {
        fetch(quad, row_of(a_tiles, 1), row_of(b_tiles, 1), a, b, tuple<usize, usize, usize>{top, left, DEPTH}, tuple<usize, usize>{n, k});
    }
    auto sums = local_array<local_array<accumulator<f32, 16, 16>, 2>, 4>::filled(local_array<accumulator<f32, 16, 16>, 2>::filled(accumulator<f32, 16, 16>::filled(f32(0.0f))));
    const auto steps_2 = range(0, steps);
    const bool all_within = (holds_at_launch<2> && holds_at_launch<3> || covers(a_tiles, confined(values_of(steps_2) + 2, less_than(steps)) % STAGES) && covers(b_tiles, confined(values_of(steps_2) + 2, less_than(steps)) % STAGES) && covers(a_tiles, values_of(steps_2) % STAGES) && covers(b_tiles, values_of(steps_2) % STAGES));
    keep_test(all_within);
    for (auto step : steps_2) {
#line 66 "ui-tests/conformance/src/corpus/tensor_cores.rs"
        if (word_at_launch<5>(step + 1) < steps) {
            wait_prior<4>(quad.whole_warp());
        } else {
            wait_async(quad.whole_warp());
        }
        block.sync();
        auto after = step + 2;
        if (word_at_launch<6>(after) < steps) {
            auto stage = after % STAGES;
            if (!all_within) {
                require(at_launch<2>(within(a_tiles, stage)) & at_launch<2>(within(b_tiles, stage)));
            }
#line 75 "ui-tests/conformance/src/corpus/tensor_cores.rs"
            fetch(quad, row_of_unchecked(a_tiles, stage), row_of_unchecked(b_tiles, stage), a, b, tuple<usize, usize, usize>{top, left, after * DEPTH}, tuple<usize, usize>{n, k});
        }
        if (!all_within) {
            require(at_launch<3>(within(a_tiles, constant_remainder(step, STAGES))) & at_launch<3>(within(b_tiles, constant_remainder(step, STAGES))));
        }
#line 77 "ui-tests/conformance/src/corpus/tensor_cores.rs"
        auto a_tile = row_of_unchecked(a_tiles, step % STAGES);
#line 77 "ui-tests/conformance/src/corpus/tensor_cores.rs"
        auto b_tile = row_of_unchecked(b_tiles, step  % STAGES);
        #pragma unroll
        for (auto part : range(0, DEPTH / 16)) {
            auto x = local_array<matrix_a<bf16, 16, 16>, 4>::filled(matrix_a<bf16, 16, 16>::filled(bf16::from_f32(f32(0.0f))));
            auto y = local_array<matrix_b<bf16, 16, 16>, 2>::filled(matrix_b<bf16, 16, 16>::filled(bf16::from_f32(f32(0.0f))));
            #pragma unroll
            for (auto i : range(i32(0), i32(4))) {
                x[i] = load_matrix<matrix_a<bf16, 16, 16>>(warp, a_tile, row + as<u32>(i) * 16, part * 16);
            }
            #pragma unroll
            for (auto j : range(i32(0), i32(2))) {
                y[j] = load_matrix<matrix_b<bf16, 16, 16>>(warp, b_tile, part * 16, column + as<u32>(j) * 16);
            }
            #pragma unroll
            for (auto i_2 : range(i32(0), i32(4))) {
                #pragma unroll
                for (auto j_2 : range(i32(0), i32(2))) {
                    sums[i_2][j_2] = warp.mma(x[i_2], y[j_2], sums[i_2][j_2]);
                }
            }
        }
    }
    auto lane = warp.thread_rank();
    #pragma unroll
    for (auto i_3 : range(i32(0), i32(4))) {
        #pragma unroll
        for (auto j_3 : range(i32(0), i32(2))) {
            const auto sum = sums[i_3][j_3];
            #pragma unroll
            for (auto pair : range(u32(0), u32(4))) {
                auto y_2 = row + as<u32>(i_3) * 16 + Accumulator_row_f32_16_16(sum, lane, pair * 2);
                auto x_2 = column + as<u32>(j_3) * 16 + Accumulator_column_f32_16_16(sum, lane, pair * 2);
                auto two = f32x2{sum[pair * 2], sum[pair * 2 + 1]};
                store_vec(c, at_launch<4>((top + as<usize>(y_2)) * n + left + as<usize>(x_2)), two);
            }
        }
    }
}
