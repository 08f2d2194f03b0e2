#define PHALANX_LAUNCH "claims_param_2"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
claims(slice_mut<u32> rounds, slice_mut<u32> out, const __grid_constant__ launch_block phalanx_launch) {
#line 282 "ui-tests/conformance/src/kernels/groups.rs"
    auto grid = this_grid();
    auto cluster = this_cluster();
    auto block = this_thread_block();
    auto tile = tiled_partition<16>(block);
    auto work = u32(0);
    require_of_warp(at_launch<0>(within(rounds, 0)));
#line 287 "ui-tests/conformance/src/kernels/groups.rs"
    for ([[maybe_unused]] auto i : range(0, grid.uniform(rounds.get_unchecked(0)))) {
        cluster.sync(); // orders all memory: line 287 reads global memory
        work += 1;
    }
    require_of_warp(at_launch<1>(within(rounds, 1 + grid.cluster_rank())));
#line 291 "ui-tests/conformance/src/kernels/groups.rs"
    auto left = cluster.uniform(rounds.get_unchecked(1 + grid.cluster_rank()));
    while (left > 0) {
        cluster.sync(); // orders all memory: line 287 reads global memory
        left -= 1;
        work += 10;
    }
    while (block.uniform(left < rounds[at_launch<2>(3 + grid.block_rank())])) {
        block.sync();
        left += 1;
        work += 100;
    }
    require_of_warp(at_launch<0>(within(rounds, 0)));
#line 302 "ui-tests/conformance/src/kernels/groups.rs"
    if (tile.uniform(block.thread_rank() / 16 % 2 == rounds.get_unchecked(0) % 2)) {
        work += tile.reduce(u32(1000), op::plus());
    }
    if (block.thread_rank() % 3 == 0) {
        auto group = coalesced_threads();
        work += group.uniform(rounds[at_launch<3>(1)]);
    }
    out[at_launch<4>(grid.thread_rank())] = work;
}
