#define PHALANX_LAUNCH "exchange_cells_param_2"
#define PHALANX_PLACED_SHARED_BYTES 65536
#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/limits.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

enum class Phase : unsigned char {
    Solid = 0,
    Liquid = 2,
    Gas = 3,
};

struct Cell {
    f32 heat;
    Phase phase;
    local_array<u8, 3> _padding;
    __device__ __forceinline__ friend bool operator==(const Cell&, const Cell&) = default;
};
static_assert(sizeof(Cell) == 8 && alignof(Cell) == 4);
static_assert(PHALANX_OFFSET_OF(Cell, heat) == 0);
static_assert(PHALANX_OFFSET_OF(Cell, phase) == 4);
static_assert(PHALANX_OFFSET_OF(Cell, _padding) == 5);

__device__ const local_array<local_array<f32, 2>, 4> KEPT{{{{0.9f, 0.8f}}, {{0.0f, 0.0f}}, {{0.75f, 0.5f}}, {{0.5f, 0.25f}}}};

__constant__ const Cell COLD{.heat = 0.0f, .phase = Phase::Solid, ._padding = {{0, 0, 0}}};

__device__ __forceinline__ Cell settled(Cell cell) {
#line 29 "ui-tests/conformance/src/kernels/phases.rs"
    auto phase = cell.heat < f32(1.0f) ? Phase::Solid : cell.heat < f32(4.0f) ? Phase::Liquid : Phase::Gas;
#line 36 "ui-tests/conformance/src/kernels/phases.rs"
    return Cell{.heat = cell.heat, .phase = phase, ._padding = cell._padding};
}

extern "C" __global__ void __launch_bounds__(256)
exchange_cells(slice_mut<Cell> cells, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(cells, rounds);
    auto block = this_thread_block();
    auto& tile = placed_shared<shared_array<Cell, 8192>, 0>();
    auto first = as<usize>(this_grid().block_rank()) * 8192;
    auto i = block.thread_rank();
    const auto steps = range(i, 8192).step_by(256);
    if (all_of_warp((holds_at_launch<0> && holds_at_launch<1> || covers(tile, values_of(steps)) && covers(cells, first + as<usize>(values_of(steps)))))) {
        for (auto k : unclamped(steps)) {
#line 47 "ui-tests/conformance/src/kernels/phases.rs"
            tile.get_unchecked(k) = cells.get_unchecked(first + as<usize>(k));
        }
    } else {
        for (auto k : steps) {
#line 47 "ui-tests/conformance/src/kernels/phases.rs"
            require_of_warp(at_launch<1>(within(cells, first + as<usize>(k))) & at_launch<0>(within(tile, k)));
#line 47 "ui-tests/conformance/src/kernels/phases.rs"
            tile.get_unchecked(k) = cells.get_unchecked(first + as<usize>(k));
        }
    }
#line 49 "ui-tests/conformance/src/kernels/phases.rs"
    block.sync();
    const auto steps_2 = range(0, rounds);
    const bool all_within = all_of_warp((holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> || covers(tile, values_of(range(i, 8192).step_by(256))) && covers(tile, limited(values_of(range(i, 8192).step_by(256)), other_than(0)) - 1) && covers(cells, first + as<usize>(values_of(range(i, 8192).step_by(256))))));
    for ([[maybe_unused]] auto i_2 : steps_2) {
#line 51 "ui-tests/conformance/src/kernels/phases.rs"
        const auto steps_3 = range(i, 8192).step_by(256);
        if (all_of_warp((holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> || all_within || covers(tile, values_of(steps_3)) && covers(tile, limited(values_of(steps_3), other_than(0)) - 1) && covers(cells, first + as<usize>(values_of(steps_3)))))) {
            for (auto k_2 : unclamped(steps_3)) {
#line 52 "ui-tests/conformance/src/kernels/phases.rs"
                auto is_rim = k_2 == 0 || k_2 == 8191;
                auto kept = KEPT[as<u32>(tile.get_unchecked(k_2).phase)][as<u32>(is_rim)];
                auto left = k_2 == 0 ? COLD : tile.get_unchecked(k_2 - 1);
                cells.get_unchecked(first + as<usize>(k_2)).heat = tile.get_unchecked(k_2).heat * kept + left.heat * (f32(1.0f) - kept);
            }
        } else {
            for (auto k_2 : steps_3) {
#line 52 "ui-tests/conformance/src/kernels/phases.rs"
                auto is_rim = k_2 == 0 || k_2 == 8191;
                require_of_warp(at_launch<0>(within(tile, k_2)));
#line 53 "ui-tests/conformance/src/kernels/phases.rs"
                auto kept = KEPT[as<u32>(tile.get_unchecked(k_2).phase)][as<u32>(is_rim)];
                require_of_warp(when(!(k_2 == 0), at_launch<2>(within(tile, k_2 - 1))) & (at_launch<0>(within(tile, k_2)) & at_launch<1>(within(cells, first + as<usize>(k_2)))));
#line 54 "ui-tests/conformance/src/kernels/phases.rs"
                auto left = k_2 == 0 ? COLD : tile.get_unchecked(k_2 - 1);
                cells.get_unchecked(first + as<usize>(k_2)).heat = tile.get_unchecked(k_2).heat * kept + left.heat * (f32(1.0f) - kept);
            }
        }
#line 57 "ui-tests/conformance/src/kernels/phases.rs"
        block.sync();
        const auto steps_4 = range(i, 8192).step_by(256);
        if (all_of_warp((holds_at_launch<0> && holds_at_launch<1> || all_within || covers(tile, values_of(steps_4)) && covers(cells, first + as<usize>(values_of(steps_4)))))) {
            for (auto k_3 : unclamped(steps_4)) {
#line 59 "ui-tests/conformance/src/kernels/phases.rs"
                tile.get_unchecked(k_3).heat = cells.get_unchecked(first + as<usize>(k_3)).heat;
                tile.get_unchecked(k_3) = settled(tile.get_unchecked(k_3));
            }
        } else {
            for (auto k_3 : steps_4) {
#line 59 "ui-tests/conformance/src/kernels/phases.rs"
                require_of_warp(at_launch<1>(within(cells, first + as<usize>(k_3))) & at_launch<0>(within(tile, k_3)));
#line 59 "ui-tests/conformance/src/kernels/phases.rs"
                tile.get_unchecked(k_3).heat = cells.get_unchecked(first + as<usize>(k_3)).heat;
                tile[at_launch<0>(k_3)] = settled(tile.get_unchecked(k_3));
            }
        }
#line 62 "ui-tests/conformance/src/kernels/phases.rs"
        block.sync();
    }
    const auto steps_5 = range(i, 8192).step_by(256);
    if ((holds_at_launch<0> && holds_at_launch<1> || covers(cells, first + as<usize>(values_of(steps_5))) && covers(tile, values_of(steps_5)))) {
        for (auto k_4 : unclamped(steps_5)) {
#line 65 "ui-tests/conformance/src/kernels/phases.rs"
            cells.get_unchecked(first + as<usize>(k_4)).phase = tile.get_unchecked(k_4).phase;
        }
    } else {
        for (auto k_4 : steps_5) {
#line 65 "ui-tests/conformance/src/kernels/phases.rs"
            require(at_launch<0>(within(tile, k_4)) & at_launch<1>(within(cells, first + as<usize>(k_4))));
#line 65 "ui-tests/conformance/src/kernels/phases.rs"
            cells.get_unchecked(first + as<usize>(k_4)).phase = tile.get_unchecked(k_4).phase;
        }
    }
}
