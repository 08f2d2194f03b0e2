#define PHALANX_LAUNCH "share_param_2"
#define PHALANX_BLOCK 256, 1, 1
#define PHALANX_CLUSTER 4, 1, 1
#define PHALANX_PEERS
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

__device__ __forceinline__ i32 local_processing(i32 x) {
#line 10 "ui-tests/conformance/src/kernels/guide.rs"
    auto sum = i32(0);
    for (auto i : range(i32(0), i32(8))) {
        sum += x * i;
    }
    return sum;
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256)
share(readonly_slice<i32> input, slice_mut<i32> output, const __grid_constant__ launch_block phalanx_launch) {
    reads_of_peers peer_reads;

    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<i32, 256> array; keep_address(array);
    auto i = cluster.thread_rank();

    require_of_warp(at_launch<1>(within(input, i)) & at_launch<0>(within(array, block.thread_rank())));
#line 26 "ui-tests/conformance/src/kernels/guide.rs"
    array.get_unchecked(block.thread_rank()) = input.get_unchecked(i);
    auto token = cluster.barrier_arrive_shared(); // orders shared memory: line 26 accesses shared memory
    require_of_warp(at_launch<1>(within(input, i)));
#line 28 "ui-tests/conformance/src/kernels/guide.rs"
    auto local = local_processing(input.get_unchecked(i));
    auto next = once_at_launch<3>((cluster.block_rank() + 1)) % cluster.num_blocks();
    auto dsmem = cluster.map_shared_rank(array, next);
    cluster.barrier_wait_shared(token);

    require_of_warp(at_launch<0>(within(dsmem, block.thread_rank())) & at_launch<2>(within(output, i)));
#line 33 "ui-tests/conformance/src/kernels/guide.rs"
    output.get_unchecked(i) = peer_reads.of(dsmem.get_unchecked(block.thread_rank())) + local;
    cluster.sync_shared(peer_reads); // orders shared memory: line 33 reads a peer's shared memory
}
