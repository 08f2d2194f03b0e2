#define PHALANX_LAUNCH "split_or_whole_param_2"
#define PHALANX_BLOCK 32, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#define PHALANX_PEERS
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/option.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32)
split_or_whole(slice_mut<u32> out, bool split, const __grid_constant__ launch_block phalanx_launch) {
    reads_of_peers peer_reads;
#line 134 "ui-tests/conformance/src/kernels/guide.rs"
    auto cluster = this_cluster();
    __shared__ shared_array<u32, 32> array; keep_address(array);
    auto i = this_thread_block().thread_rank();
    require_of_warp(at_launch<0>(within(array, i)));
#line 137 "ui-tests/conformance/src/kernels/guide.rs"
    array.get_unchecked(i) = cluster.thread_rank() * 3;
    option<cluster_group::arrival_token> token;
    if (split) {
#line 138 "ui-tests/conformance/src/kernels/guide.rs"
        token = some(cluster.barrier_arrive_shared()); // orders shared memory: line 137 accesses shared memory
    } else {
#line 138 "ui-tests/conformance/src/kernels/guide.rs"
        token = none;
    }
#line 139 "ui-tests/conformance/src/kernels/guide.rs"
    auto work = i * i;
    if (token.is_some()) {
        auto token_2 = token.value;
#line 141 "ui-tests/conformance/src/kernels/guide.rs"
        cluster.barrier_wait_shared(token_2);
    } else {
        cluster.sync_shared(); // orders shared memory: line 137 accesses shared memory
    }
    auto peer = cluster.map_shared_rank(array, 1 - cluster.block_rank());
    require_of_warp(at_launch<0>(within(peer, i)) & at_launch<1>(within(out, cluster.thread_rank())));
#line 146 "ui-tests/conformance/src/kernels/guide.rs"
    out.get_unchecked(cluster.thread_rank()) = peer_reads.of(peer.get_unchecked(i)) + work;
    cluster.sync_shared(peer_reads); // orders shared memory: line 137 accesses shared memory
}
