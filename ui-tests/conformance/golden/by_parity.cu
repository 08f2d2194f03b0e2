#define PHALANX_LAUNCH "by_parity_param_3"
#define PHALANX_BLOCK 128, 1, 1
#include <phalanx/barrier.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(128)
by_parity(readonly_slice<f32> input, slice_mut<f32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
#line 116 "ui-tests/conformance/src/kernels/phase_barriers.rs"
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    __shared__ barriers<4> full; keep_address(full);
    __shared__ barriers<4> empty; keep_address(empty);
    __shared__ shared_array<local_array<f32, 96>, 4> stages; keep_address(stages);
    full.init_collective(block, 32);
    empty.init_collective(block, 3);
    auto lane = warp.thread_rank();
    if (warp.meta_group_rank() == 0) {
        const auto steps = range(0, rounds);
        const bool all_within = (holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> || covers_row<decltype(stages.get_unchecked(0))>(values_of(range(u32(0), u32(3))) * 32 + lane) && covers(stages, values_of(steps) % 4) && covers(input, values_of(steps) * 96 + values_of(range(u32(0), u32(3))) * 32 + lane));
        keep_test(all_within);
        #pragma unroll 4
        for (auto round : steps) {
#line 126 "ui-tests/conformance/src/kernels/phase_barriers.rs"
            auto stage = round % 4;
            empty[stage].wait_parity(round / 4 % 2 == 0);
            const auto steps_2 = range(u32(0), u32(3));
            if ((holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> || all_within || covers_row<decltype(stages.get_unchecked(0))>(values_of(steps_2) * 32 + lane) && covers(stages, values_of(stage)) && covers(input, round * 96 + values_of(steps_2) * 32 + lane))) {
                #pragma unroll
                for (auto part : unclamped(steps_2)) {
#line 129 "ui-tests/conformance/src/kernels/phase_barriers.rs"
                    stages.get_unchecked(stage).get_unchecked(part * 32 + lane) = input.get_unchecked(round * 96 + part * 32 + lane);
                }
            } else {
                for (auto part : steps_2) {
#line 129 "ui-tests/conformance/src/kernels/phase_barriers.rs"
                    stages[at_launch<0>(stage)][at_launch<1>(part * 32 + lane)] = input[at_launch<2>(round * 96 + part * 32 + lane)];
                }
            }
#line 131 "ui-tests/conformance/src/kernels/phase_barriers.rs"
            full[stage].arrive();
        }
    } else {
        auto own = block.thread_rank() - 32;
        auto sum = f32(0.0f);
        const auto steps_3 = range(0, rounds);
        const bool all_within_2 = (holds_at_launch<0> && holds_at_launch<3> || covers_row<decltype(stages.get_unchecked(0))>((own + values_of(steps_3)) % 96) && covers(stages, values_of(steps_3) % 4));
        keep_test(all_within_2);
        for (auto round_2 : steps_3) {
#line 137 "ui-tests/conformance/src/kernels/phase_barriers.rs"
            auto stage_2 = round_2 % 4;
            while (!full[stage_2].try_wait_parity(round_2 / 4 % 2 == 1)) {
            }
#line 139 "ui-tests/conformance/src/kernels/phase_barriers.rs"
            if (!all_within_2) {
                require(at_launch<0>(within(stages, stage_2)) & at_launch<3>(within_row<decltype(stages.get_unchecked(0))>((own + round_2) % 96)));
            }
#line 139 "ui-tests/conformance/src/kernels/phase_barriers.rs"
            sum = sum * f32(0.5f) + stages.get_unchecked(stage_2).get_unchecked((own + round_2) % 96);
            warp.sync();
            if (lane == 0) {
                empty[stage_2].arrive();
            }
        }
        out[at_launch<4>(own)] = sum;
    }
}
