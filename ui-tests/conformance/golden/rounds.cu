#define PHALANX_LAUNCH "phalanx_conformance_kernels_timelines_rounds_param_2"
#define PHALANX_BLOCK 64, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#define PHALANX_PEERS
#include <phalanx/barrier.cuh>
#include <phalanx/bits.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/profile.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

__device__ __forceinline__ u32 busy(u32 turns) {
#line 13 "ui-tests/conformance/src/kernels/timelines.rs"
    auto state = u32(1);
    for (auto i : range(0, turns)) {
        state = rotate_left(state, 5) ^ i;
    }
    return state;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64)
phalanx_conformance_kernels_timelines_rounds(slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {

    auto cluster = this_cluster();
    auto block = this_thread_block();
    __shared__ barrier filled; keep_address(filled);
    __shared__ shared_array<u32, 64> staged; keep_address(staged);
    auto i = block.thread_rank();
    if (i == 0) {
        filled.init(64);
    }
    profiled<3, 0>([&]() __attribute__((always_inline)) { return block.sync(); });
    auto sum = u32(0);
    const auto steps = range(0, rounds);
    const bool all_within = (holds_at_launch<0> && holds_at_launch<1> || covers(staged, values_of(i)) && covers(staged, values_of(63 - i)));
    keep_test(all_within);
    for (auto round : steps) {
#line 34 "ui-tests/conformance/src/kernels/timelines.rs"
        if (!all_within) {
            require(at_launch<0>(within(staged, i)));
        }
#line 34 "ui-tests/conformance/src/kernels/timelines.rs"
        staged.get_unchecked(i) = i + round;
        auto token = profiled<1, 1>([&]() __attribute__((always_inline)) { return cluster.barrier_arrive(); }); // orders all memory: line 29 uses a phase barrier
        sum += busy(i >= 32 ? u32(40) : u32(10)) & 1;

        profiled<2, 1>([&]() __attribute__((always_inline)) { return cluster.barrier_wait(token); });
        sum += cluster.map_shared_rank(staged, 1 - cluster.block_rank())[at_launch<1>(63 - i)];
        auto token_2 = profiled<1, 3>([&]() __attribute__((always_inline)) { return filled.arrive(); });
        profiled<2, 3>([&]() __attribute__((always_inline)) { return filled.wait(token_2); });
        profiled<3, 1>([&]() __attribute__((always_inline)) { return cluster.sync(); }); // orders all memory: line 40 uses a phase barrier
        if (round % 2 == 0) {
            profiled<3, 0>([&]() __attribute__((always_inline)) { return block.sync(); });
        }
    }
    out[at_launch<2>(this_grid().thread_rank())] = sum;
}
