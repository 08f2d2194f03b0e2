#define PHALANX_LAUNCH "fetched_ahead_param_3"
#define PHALANX_BLOCK 160, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/barrier.cuh>
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/range_within.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(160)
fetched_ahead(readonly_slice<u32> input, slice_mut<u32> out, u32 chunks, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(input, out, chunks);
    constexpr auto STAGE = u32(256);
#line 98 "ui-tests/conformance/src/kernels/async_copies.rs"
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    __shared__ shared_array<local_array<u32, 256>, 3> stages; keep_address(stages);
    __shared__ barriers<3> full; keep_address(full);
    __shared__ barriers<3> empty; keep_address(empty);
    full.init_collective(block, 1);
    empty.init_collective(block, 4);
    if (warp.meta_group_rank() == 4) {
        if (warp.thread_rank() == 0) {
            const auto steps = range(0, chunks);
            const bool all_within = (holds_at_launch<0> && holds_at_launch<1> || covers(stages, values_of(steps) % 3) && covers(input, values_of(steps) * STAGE) && covers(input, (values_of(steps) + 1) * STAGE - 1));
            keep_test(all_within);
            #pragma unroll 3
            for (auto chunk : steps) {
#line 108 "ui-tests/conformance/src/kernels/async_copies.rs"
                auto stage = chunk % 3;
                empty[stage].wait_parity(chunk / 3 % 2 == 0);
                full[stage].expect_tx(STAGE * 4);
                if (!all_within) {
                    require(at_launch<0>(within(stages, stage)) & at_launch<1>(range_within(input, chunk * STAGE, (chunk + 1) * STAGE)));
                }
#line 111 "ui-tests/conformance/src/kernels/async_copies.rs"
                bulk_copy_async(row_of_unchecked(stages, stage), subslice_unchecked(input, chunk * STAGE, (chunk + 1) * STAGE), full[stage]);
                full[stage].arrive();
            }
        }
    } else {
        auto i = block.thread_rank();
        auto sum = u32(0);
        const auto steps_2 = range(0, chunks);
        const bool all_within_2 = (holds_at_launch<0> && holds_at_launch<2> && holds_at_launch<3> || covers_row<decltype(stages.get_unchecked(0))>(values_of(i)) && covers(stages, values_of(steps_2) % 3) && covers_row<decltype(stages.get_unchecked(0))>(values_of(STAGE - 1 - i)));
        keep_test(all_within_2);
        #pragma unroll 3
        for (auto chunk_2 : steps_2) {
#line 119 "ui-tests/conformance/src/kernels/async_copies.rs"
            auto stage_2 = chunk_2 % 3;
            full[stage_2].wait_parity(chunk_2 / 3 % 2 == 1);
            if (!all_within_2) {
                require(at_launch<0>(within(stages, stage_2)) & at_launch<2>(within_row<decltype(stages.get_unchecked(0))>(i)) & at_launch<3>(within_row<decltype(stages.get_unchecked(0))>(STAGE - 1 - i)));
            }
#line 121 "ui-tests/conformance/src/kernels/async_copies.rs"
            sum = sum * 3 + stages.get_unchecked(stage_2).get_unchecked(i) + stages.get_unchecked(stage_2).get_unchecked(STAGE - 1 - i);
            warp.sync();
            if (warp.thread_rank() == 0) {
                empty[stage_2].arrive();
            }
        }
        out[at_launch<4>(i)] = sum;
    }
}
