#define PHALANX_LAUNCH "ring_param_2"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_CLUSTER 4, 1, 1
#define PHALANX_PEERS
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64)
ring(slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
    reads_of_peers peer_reads;
#line 112 "ui-tests/conformance/src/kernels/guide.rs"
    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<u32, 64> front; keep_address(front);
    __shared__ shared_array<u32, 64> back; keep_address(back);
    auto i = block.thread_rank();
    require_of_warp(at_launch<0>(within(front, i)));
#line 117 "ui-tests/conformance/src/kernels/guide.rs"
    front.get_unchecked(i) = cluster.thread_rank();
    auto token = cluster.barrier_arrive_shared(); // orders shared memory: line 117 accesses shared memory
    const auto steps = range(0, rounds);
    const bool all_within = all_of_warp((holds_at_launch<0> || covers(back, values_of(i)) && covers(front, values_of(i))));
    #pragma unroll 8
    for (auto round : steps) {
#line 120 "ui-tests/conformance/src/kernels/guide.rs"
        cluster.barrier_wait_shared(token);
        auto next = cluster.map_shared_rank(front, once_at_launch<2>((cluster.block_rank() + 1)) % cluster.num_blocks());
        require_of_warp(at_launch<0>(within(next, i)) & when(!all_within, at_launch<0>(within(back, i)) & at_launch<0>(within(front, i))));
#line 122 "ui-tests/conformance/src/kernels/guide.rs"
        back.get_unchecked(i) = peer_reads.of(next.get_unchecked(i)) + round;
        cluster.sync_shared(peer_reads); // orders shared memory: line 122 accesses shared memory
        front.get_unchecked(i) = back.get_unchecked(i);
        token = cluster.barrier_arrive_shared(); // orders shared memory: line 117 accesses shared memory
    }
    cluster.barrier_wait_shared(token);
    out[at_launch<1>(this_grid().thread_rank())] = front[at_launch<0>(i)];
}
