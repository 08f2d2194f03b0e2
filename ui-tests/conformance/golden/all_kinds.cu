#define PHALANX_LAUNCH "all_kinds_param_2"
#define PHALANX_BLOCK 96, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#define PHALANX_PEERS
#define PHALANX_BLOCK_BARRIER
#include <phalanx/block_barrier.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/option.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

__device__ __forceinline__ thread_block::arrival_token publish(const thread_block& block, shared_array<u32, 96>& array, u32 value) {
#line 78 "ui-tests/conformance/src/kernels/block_phases.rs"
    array[at_launch<0>(block.thread_rank())] = value;
    return block.barrier_arrive();
}

__device__ __forceinline__ u32 read_next(const thread_block& block, shared_array<u32, 96>& array, thread_block::arrival_token token) {

    block.barrier_wait(token);
    return array[at_launch<1>((block.thread_rank() + 1) % 96)];
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(96)
all_kinds(slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
    detail::init_block_barrier();
    reads_of_peers peer_reads;
    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<u32, 96> array; keep_address(array);
    auto i = block.thread_rank();
    thread_block::arrival_token token = publish(block, array, 1000 * cluster.block_rank() + i);
    for (auto round : range(0, rounds)) {
        auto value = read_next(block, array, token);
        cluster.sync_shared(); // orders shared memory: line 96 accesses shared memory
        auto peer = cluster.map_shared_rank(array, 1 - cluster.block_rank());
        require(at_launch<2>(within(peer, i)));
#line 101 "ui-tests/conformance/src/kernels/block_phases.rs"
        auto other = peer_reads.of(peer.get_unchecked(i));
        option<thread_block::arrival_token> read;
        if (round % 3 == 0) {
#line 102 "ui-tests/conformance/src/kernels/block_phases.rs"
            read = some(block.barrier_arrive());
        } else {
#line 102 "ui-tests/conformance/src/kernels/block_phases.rs"
            read = none;
        }
#line 103 "ui-tests/conformance/src/kernels/block_phases.rs"
        if (read.is_some()) {
            auto read_2 = read.value;
#line 104 "ui-tests/conformance/src/kernels/block_phases.rs"
            block.barrier_wait(read_2);
        }
        cluster.sync_shared(peer_reads); // orders shared memory: line 101 reads a peer's shared memory
        token = publish(block, array, value ^ other);
    }
    block.barrier_wait(token);
    require(at_launch<4>(within(array, 95 - i)) & at_launch<3>(within(out, cluster.thread_rank())));
#line 110 "ui-tests/conformance/src/kernels/block_phases.rs"
    block.sync();
    out.get_unchecked(cluster.thread_rank()) = array.get_unchecked(95 - i);
}
