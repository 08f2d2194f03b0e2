#define PHALANX_LAUNCH "all_to_all_param_3"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_PEERS
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
#include <phalanx/words.cuh>

using namespace phalanx;

__device__ __forceinline__ void arrive_there(remote_barrier peer, u32 threads) {
#line 42 "ui-tests/conformance/src/kernels/cluster_phases.rs"
    if (threads == 1) {
        peer.arrive(); // orders all memory: line 43 is in a device function
    } else {
        peer.arrive_n(threads); // orders all memory: line 45 is in a device function
    }
}

__device__ __forceinline__ void wait_here(const cluster_barriers<2>& bars, u32 round) {

    bars[round % 2].wait_parity(round / 2 % 2 == 1);
}

extern "C" __global__ void __launch_bounds__(64)
all_to_all(slice_mut<u32> values, slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {

    auto cluster = this_cluster();
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    __shared__ cluster_barriers<2> written; keep_address(written);
    __shared__ cluster_barrier own; keep_address(own);
    auto blocks = cluster.num_blocks();
    written.init_collective(cluster, blocks * 64);
    own.init_collective(cluster, 64);
    auto rank = cluster.thread_rank();
    auto threads = cluster.num_threads();
    auto sum = u32(0);
    const auto steps = range(0, rounds);
    const bool all_within = (holds_at_launch<0> && holds_at_launch<1> || covers(values, values_of(steps) * threads + rank) && covers(values, values_of(steps) * threads + values_of(rank + 77) % threads));
    keep_test(all_within);
    for (auto round : steps) {
#line 69 "ui-tests/conformance/src/kernels/cluster_phases.rs"
        if (!all_within) {
            require(at_launch<0>(within(values, round * threads + rank)));
        }
#line 69 "ui-tests/conformance/src/kernels/cluster_phases.rs"
        values.get_unchecked(round * threads + rank) = round + rank;
        own.arrive_and_wait();
        if (warp.meta_group_rank() == 0 && warp.thread_rank() < blocks) {
            auto peer = cluster.map_shared_rank(written[round % 2], warp.thread_rank());
            for ([[maybe_unused]] auto i : range(i32(0), i32(32))) {
                arrive_there(peer, 1);
            }
            arrive_there(peer, 32);
        }
        wait_here(written, round);
        sum = sum * 2 + values[at_launch<1>(round * threads + once_at_launch<3>((rank + 77)) % threads)];
    }
    out[at_launch<2>(rank)] = sum;
    cluster.sync(); // orders all memory: line 63 uses a phase barrier
}
