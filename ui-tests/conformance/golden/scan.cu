#define PHALANX_LAUNCH "scan_param_2"
#define PHALANX_CLUSTER 2, 1, 1
#define PHALANX_PEERS
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(2, 1, 1)
scan(readonly_slice<u32> input, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
    reads_of_peers peer_reads;
    constexpr auto N = usize(64);
#line 202 "ui-tests/conformance/src/kernels/guide.rs"
    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<u32, 64> sums; keep_address(sums);
    auto i = block.thread_rank();
    auto at = this_grid().thread_rank();
    require_of_warp(at_launch<1>(within(input, at)) & at_launch<0>(within(sums, i)));
#line 207 "ui-tests/conformance/src/kernels/guide.rs"
    sums.get_unchecked(i) = input.get_unchecked(at);
    block.sync();
    auto distance = u32(1);
    #pragma unroll
    while (distance < as<u32>(N)) {
        require_of_warp(at_launch<0>(within(sums, i)) & when(i >= distance, at_launch<2>(within(sums, i - distance))));
#line 212 "ui-tests/conformance/src/kernels/guide.rs"
        auto sum = sums.get_unchecked(i);
        if (i >= distance) {
            sum = sums.get_unchecked(i - distance) + sum;
        }
        block.sync();
        sums.get_unchecked(i) = sum;
        block.sync();
        distance *= 2;
    }
    require_of_warp(at_launch<0>(within(sums, i)));
#line 221 "ui-tests/conformance/src/kernels/guide.rs"
    cluster.sync_shared(); // orders shared memory: line 207 accesses shared memory
    auto sum_2 = sums.get_unchecked(i);
    if (cluster.block_rank() == 1) {
        auto before = cluster.map_shared_rank(sums, 0);
        require_of_warp(at_launch<3>(within(before, N - 1)));
#line 225 "ui-tests/conformance/src/kernels/guide.rs"
        sum_2 = peer_reads.of(before.get_unchecked(N - 1)) + sum_2;
    }
    require_of_warp(at_launch<4>(within(out, at)));
#line 227 "ui-tests/conformance/src/kernels/guide.rs"
    cluster.sync_shared(peer_reads); // orders shared memory: line 222 accesses shared memory
    out.get_unchecked(at) = sum_2;
}
