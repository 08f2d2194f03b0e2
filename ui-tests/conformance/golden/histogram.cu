#define PHALANX_LAUNCH "histogram_param_2"
#define PHALANX_BLOCK 128, 1, 1
#define PHALANX_CLUSTER 4, 1, 1
#define PHALANX_PEERS
#include <phalanx/atomic.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
histogram(readonly_slice<u32> input, slice_mut<u32> bins, const __grid_constant__ launch_block phalanx_launch) {
#line 70 "ui-tests/conformance/src/kernels/guide.rs"
    auto cluster = this_cluster();
    auto block = this_thread_block();
    auto own = dynamic_shared<u32>();
    auto width = as<u32>(own.len());
    const auto steps = range(block.thread_rank(), width).step_by(128);
    if (covers(own, values_of(steps))) {
        for (auto bin : unclamped(steps)) {
#line 75 "ui-tests/conformance/src/kernels/guide.rs"
            own.get_unchecked(bin) = 0;
        }
    } else {
        for (auto bin : steps) {
#line 75 "ui-tests/conformance/src/kernels/guide.rs"
            own[bin] = 0;
        }
    }
#line 77 "ui-tests/conformance/src/kernels/guide.rs"
    cluster.sync_shared(); // orders shared memory: line 75 accesses shared memory
    auto grid = this_grid();
    const auto steps_2 = range(grid.thread_rank(), input.len()).step_by(grid.num_threads());
    const auto rounds = unclamped(steps_2);
    const auto values = values_of(steps_2, rounds);
    if ((holds_at_launch<0> || covers(input, values))) {
        for (auto i : rounds) {
#line 80 "ui-tests/conformance/src/kernels/guide.rs"
            auto bin_2 = input.get_unchecked(i) % (width * cluster.num_blocks());
            cluster.map_shared_rank(own, bin_2 / width).atomic(bin_2 % width).fetch_add(1, relaxed);
        }
    } else {
        for (auto i : steps_2) {
#line 80 "ui-tests/conformance/src/kernels/guide.rs"
            auto bin_2 = input[at_launch<0>(i)] % (width * cluster.num_blocks());
            cluster.map_shared_rank(own, bin_2 / width).atomic(bin_2 % width).fetch_add(1, relaxed);
        }
    }
#line 83 "ui-tests/conformance/src/kernels/guide.rs"
    cluster.sync(); // orders all memory: line 81 writes to a peer's shared memory
    const auto steps_3 = range(block.thread_rank(), width).step_by(128);
    if (covers(own, values_of(steps_3))) {
        for (auto bin_3 : unclamped(steps_3)) {
#line 85 "ui-tests/conformance/src/kernels/guide.rs"
            bins.atomic(cluster.block_rank() * width + bin_3).fetch_add(own.get_unchecked(bin_3), relaxed);
        }
    } else {
        for (auto bin_3 : steps_3) {
#line 85 "ui-tests/conformance/src/kernels/guide.rs"
            bins.atomic(cluster.block_rank() * width + bin_3).fetch_add(own[bin_3], relaxed);
        }
    }
}
