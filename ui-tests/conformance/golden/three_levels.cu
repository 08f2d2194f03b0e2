#define PHALANX_LAUNCH "three_levels_param_3"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_CLUSTER 4, 1, 1
#define PHALANX_PEERS
#define PHALANX_GRID_BARRIER
#define PHALANX_BLOCK_BARRIER
#include <phalanx/block_barrier.cuh>
#include <phalanx/grid_barrier.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/message.cuh>
#include <phalanx/option.cuh>
#include <phalanx/peer_reads.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

__device__ __forceinline__ void phalanx_conformance_kernels_grid_barriers_end(const grid_group& grid, grid_group::arrival_token token) {
#line 93 "ui-tests/conformance/src/kernels/grid_barriers.rs"
    grid.barrier_wait(token);
}

__device__ __forceinline__ grid_group::arrival_token phalanx_conformance_kernels_grid_barriers_begin(const grid_group& grid) {
#line 88 "ui-tests/conformance/src/kernels/grid_barriers.rs"
    return grid.barrier_arrive();
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64)
three_levels(slice_mut<u32> sums, slice_mut<u32> totals, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
    detail::init_block_barrier();
    reads_of_peers peer_reads;
#line 99 "ui-tests/conformance/src/kernels/grid_barriers.rs"
    auto grid = this_grid();
    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ shared_array<u32, 64> own; keep_address(own);
    __shared__ shared_array<u32, 64> rest; keep_address(rest);
    auto i = block.thread_rank();
    auto value = as<u32>(grid.thread_rank());
    const auto steps = range(0, rounds);
    const bool all_within = ((holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<3> && holds_at_launch<4> || covers(own, values_of(i)) && covers(sums, values_of(grid.thread_rank())) && covers(rest, values_of(i)) && covers(rest, values_of((i + 1) % 64)) && covers(sums, values_of(grid.thread_rank() + 256) % grid.num_threads())));
    for (auto round : steps) {
#line 107 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        if (!all_within) {
            require(at_launch<0>(within(own, i)));
        }
#line 107 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        own.get_unchecked(i) = value;
        cluster.sync(); // orders all memory: line 126 reads global memory
        auto peer = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % 4);
        require(at_launch<2>(within(peer, 63 - i)) & when(!all_within, at_launch<1>(within(sums, grid.thread_rank()))));
#line 110 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        sums.get_unchecked(grid.thread_rank()) = value ^ peer_reads.of(peer.get_unchecked(63 - i));
        option<grid_group::arrival_token> token;
        if (round % 2 == 0) {
#line 111 "ui-tests/conformance/src/kernels/grid_barriers.rs"
            token = some(grid.barrier_arrive());
        } else {
#line 111 "ui-tests/conformance/src/kernels/grid_barriers.rs"
            token = none;
        }
#line 112 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        if (!all_within) {
            require(at_launch<0>(within(rest, i)));
        }
#line 112 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        rest.get_unchecked(i) = value;
        auto inner = block.barrier_arrive();
        auto value_2 = rest[at_launch<0>(i)];
        if (!(value_2 == value)) {
            assertion_failed(here(), value_2, value);
        }
#line 115 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        block.barrier_wait(inner);
        if (!all_within) {
            require(at_launch<3>(within(rest, (i + 1) % 64)));
        }
#line 116 "ui-tests/conformance/src/kernels/grid_barriers.rs"
        value += rest.get_unchecked((i + 1) % 64);
        auto middle = cluster.barrier_arrive(peer_reads); // orders all memory: line 110 writes global memory
        value += 1;
        cluster.barrier_wait(middle);
        if (token.is_some()) {
            auto token_2 = token.value;
#line 121 "ui-tests/conformance/src/kernels/grid_barriers.rs"
            phalanx_conformance_kernels_grid_barriers_end(grid, token_2);
        } else {
            grid_group::arrival_token token_3 = phalanx_conformance_kernels_grid_barriers_begin(grid);
            phalanx_conformance_kernels_grid_barriers_end(grid, token_3);
        }
        value ^= sums[at_launch<4>(once_at_launch<7>(word_at_launch<6>((grid.thread_rank() + 256))) % grid.num_threads())];
        grid.sync();
    }
    require(at_launch<5>(within(totals, grid.thread_rank())));
#line 129 "ui-tests/conformance/src/kernels/grid_barriers.rs"
    totals.get_unchecked(grid.thread_rank()) = value;
    cluster.sync_relaxed(); // orders no memory
}
