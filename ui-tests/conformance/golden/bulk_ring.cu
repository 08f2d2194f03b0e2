#define PHALANX_LAUNCH "bulk_ring_param_3"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_CLUSTER 4, 1, 1
#define PHALANX_PEERS
#include <phalanx/arguments.cuh>
#include <phalanx/barrier.cuh>
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/subslice.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64)
bulk_ring(readonly_slice<u32> input, slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(input, out, rounds);
#line 13 "ui-tests/conformance/src/kernels/async_peers.rs"
    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<u32, 64> own; keep_address(own);
    __shared__ shared_array<local_array<u32, 64>, 2> got; keep_address(got);
    __shared__ cluster_barriers<2> full; keep_address(full);
    __shared__ cluster_barriers<2> empty; keep_address(empty);
    full.init_collective(cluster, 1);
    empty.init_collective(cluster, 1);
    auto i = block.thread_rank();
    auto rank = cluster.block_rank();
#line 22 "ui-tests/conformance/src/kernels/async_peers.rs"
    auto next = once_at_launch<4>((rank + 1)) % cluster.num_blocks();
    auto before = once_at_launch<5>((rank + cluster.num_blocks() - 1)) % cluster.num_blocks();
    own[at_launch<0>(i)] = input[at_launch<1>(cluster.thread_rank())];
    const auto steps = range(0, rounds);
    const bool all_within = (holds_at_launch<0> && holds_at_launch<2> || covers(got, values_of(steps) % 2) && covers_row<decltype(got.get_unchecked(0))>(values_of(i)) && covers(own, values_of(i)));
    keep_test(all_within);
    #pragma unroll 2
    for (auto round : steps) {
#line 26 "ui-tests/conformance/src/kernels/async_peers.rs"
        auto buffer = round % 2;
        block.sync();
        if (i == 0) {
            full[buffer].expect_tx(256);
            full[buffer].arrive();

            empty[buffer].wait_parity(round / 2 % 2 == 0);
            if (!all_within) {
                require(at_launch<2>(within(got, buffer)));
            }
#line 33 "ui-tests/conformance/src/kernels/async_peers.rs"
            auto there = cluster.map_shared_rank(row_of_unchecked(got, buffer), next);
            auto told = cluster.map_shared_rank(full[buffer], next);
            bulk_copy_async(there, own, told);
        }
        full[buffer].wait_parity(round / 2 % 2 == 1);
        if (!all_within) {
            require(at_launch<2>(within(got, buffer)) & at_launch<0>(within_row<decltype(got.get_unchecked(0))>(i)));
        }
#line 38 "ui-tests/conformance/src/kernels/async_peers.rs"
        auto value = got.get_unchecked(buffer).get_unchecked(i) * 3 + i;

        block.sync();
        if (i == 0) {
            cluster.map_shared_rank(empty[buffer], before).arrive_shared(); // orders shared memory: line 24 accesses shared memory
        }
        if (!all_within) {
            require(at_launch<0>(within(own, i)));
        }
#line 44 "ui-tests/conformance/src/kernels/async_peers.rs"
        cluster.sync(); // orders all memory: line 19 uses a phase barrier
        own.get_unchecked(i) = value;
    }
    out[at_launch<3>(cluster.thread_rank())] = own[at_launch<0>(i)];
    cluster.sync(); // orders all memory: line 19 uses a phase barrier
}
