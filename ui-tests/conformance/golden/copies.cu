#define PHALANX_LAUNCH "copies_param_3"
#define PHALANX_TILES
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_PEERS
#include <phalanx/arguments.cuh>
#include <phalanx/atomic.cuh>
#include <phalanx/barrier.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/lanes.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/math.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/swizzled.cuh>
#include <phalanx/tensor.cuh>

using namespace phalanx;

__device__ __forceinline__ void load_once(const tensor_map<local_array<swizzled<u32, 32>, 8>>& input, shared_array<swizzled<u32, 32>, 8>& tile, const barrier& full, i32 row) {
#line 144 "ui-tests/conformance/src/kernels/by_hand.rs"
    {

        [](const auto& input, auto& tile, const auto& full, const auto row) -> void {
            unsigned long long policy;
            full.expect_tx(u32(sizeof(tile)));
            asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                         "[%0], [%1, {%2, %3}], [%4], %5;"
                         :
                         : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&tile))), "l"(&input), "r"(0), "r"(row.value),
                           "r"(full.address()), "l"(policy)
                         : "memory");
            
        }(input, tile, full, row);
    }
}

extern "C" __global__ void __launch_bounds__(64)
copies(const __grid_constant__ tensor_map<local_array<swizzled<u32, 32>, 8>> input, slice_mut<u32> out, u32 steps, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(out, steps);


    auto block = this_thread_block();
    auto i = block.thread_rank();
    __shared__ shared_array<swizzled<u32, 32>, 8> tile; keep_address(tile);
    __shared__ barriers<2> full; keep_address(full);
    __shared__ barrier read; keep_address(read);
    full.init_collective(block, 1);
    read.init_collective(block, 64);
    for (auto step : range(0, steps)) {
        if (i == 0) {
            load_once(input, tile, full[step % 2], as<i32>(step) * 8);
            full[step % 2].arrive();
        }
        full[step % 2].wait_parity(step / 2 % 2 == 1);
        const auto steps_2 = range(u32(0), u32(4));
        if ((holds_at_launch<0> && holds_at_launch<1> || covers(out, step * 256 + values_of(steps_2) * 64 + i) && covers(tile, values_of(steps_2) * 2 + i / 32)) && covers_row<decltype(tile.get_unchecked(0))>(values_of(i % 32))) {
            #pragma unroll
            for (auto k : unclamped(steps_2)) {
#line 181 "ui-tests/conformance/src/kernels/by_hand.rs"
                out.get_unchecked(step * 256 + k * 64 + i) = tile.get_unchecked(k * 2 + i / 32).get_unchecked(i % 32);
            }
        } else {
            for (auto k : steps_2) {
#line 181 "ui-tests/conformance/src/kernels/by_hand.rs"
                out[at_launch<0>(step * 256 + k * 64 + i)] = tile[at_launch<1>(k * 2 + i / 32)][i % 32];
            }
        }
#line 183 "ui-tests/conformance/src/kernels/by_hand.rs"
        if (i < 32) {
            read.arrive();
        } else {
            {

                [](const auto& read) -> void { asm volatile("{ .reg .b64 token; mbarrier.arrive.shared::cta.b64 token, [%0]; }" : : "r"(read.address()) : "memory");
                }(read);
            }
        }


        read.wait_parity(step % 2 == 1);
    }
}
