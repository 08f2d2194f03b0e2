// The kernels of ui-tests/conformance/src/kernels/stages.rs, written by hand with CUDA's own headers, as its documents do it.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/std/utility>

namespace cg = cooperative_groups;

// A slice as a launch passes it.
template <class T>
struct span {
    T* data;
    unsigned long long length;
};

extern "C" {

__global__ void __launch_bounds__(128) block_stages(span<const unsigned> input, span<unsigned> out, unsigned rounds) {
    const auto block = cg::this_thread_block();
    __shared__ unsigned own[128];
    const unsigned i = block.thread_rank();
    const auto at = cg::this_grid().thread_rank();
    unsigned value = input.data[at], work = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        own[i] = value;
        auto token = block.barrier_arrive();
        work = work * 3 + round;
        block.barrier_wait(cuda::std::move(token));
        value = own[(i + 1) % 128] * work;
        block.sync();
    }
    out.data[at] = value;
}

__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
cluster_stages(span<const unsigned> input, span<unsigned> out, unsigned rounds) {
    auto cluster = cg::this_cluster();
    __shared__ unsigned own[128];
    const unsigned i = cg::this_thread_block().thread_rank();
    const auto at = cg::this_grid().thread_rank();
    const unsigned peer = (cluster.block_rank() + 1) % cluster.num_blocks();
    unsigned value = input.data[at], work = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        own[i] = value;
        auto token = cluster.barrier_arrive();
        work = work * 3 + round;
        cluster.barrier_wait(cuda::std::move(token));
        value = cluster.map_shared_rank(own, peer)[127 - i] * work;
        cluster.sync();
    }
    out.data[at] = value;
}

__global__ void __launch_bounds__(128)
grid_stages(span<const unsigned> input, span<unsigned> passed, span<unsigned> out, unsigned rounds) {
    const auto grid = cg::this_grid();
    const auto i = grid.thread_rank();
    unsigned value = input.data[i], work = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        passed.data[i] = value;
        auto token = grid.barrier_arrive();
        work = work * 3 + round;
        grid.barrier_wait(cuda::std::move(token));
        value = passed.data[(i + 129) % grid.num_threads()] * work;
        grid.sync();
    }
    out.data[i] = value;
}

__global__ void __launch_bounds__(128) phase_stages(span<const unsigned> input, span<unsigned> out, unsigned rounds) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    const auto block = cg::this_thread_block();
    __shared__ unsigned own[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full, empty;
    if (block.thread_rank() == 0) {
        init(&full, block.size());
        init(&empty, block.size());
    }
    block.sync();
    const unsigned i = block.thread_rank();
    const auto at = cg::this_grid().thread_rank();
    unsigned value = input.data[at], work = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        if (i < 64) {
            own[i] = value;
        }
        barrier::arrival_token token = full.arrive();
        work = work * 3 + round;
        full.wait(cuda::std::move(token));
        if (i < 64) {
            value = value * 5 + work;
        } else {
            value += own[127 - i] * work;
        }
        empty.wait(empty.arrive());
    }
    out.data[at] = value;
}

// A `cuda::barrier` has the scope of the block: what peers do with it is <cuda/ptx>'s.
__global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128)
remote_stages(span<const unsigned> input, span<unsigned> passed, span<unsigned> out, unsigned rounds) {
    namespace ptx = cuda::ptx;
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    auto cluster = cg::this_cluster();
    const auto block = cg::this_thread_block();
    __shared__ barrier full, empty;
    if (block.thread_rank() == 0) {
        init(&full, block.size());
        init(&empty, block.size());
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    const unsigned blocks = cluster.num_blocks();
    const unsigned before = (cluster.block_rank() + blocks - 1) % blocks, next = (cluster.block_rank() + 1) % blocks;
    const auto arrive = [&](barrier& of, unsigned rank) {
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(cuda::device::barrier_native_handle(of), rank));
    };
    const auto wait = [&](barrier& own, bool parity) {
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster,
                                              cuda::device::barrier_native_handle(own), parity)) {
        }
    };
    const auto i = cg::this_grid().thread_rank();
    const auto other = (cg::this_grid().cluster_rank() * 4 + before) * 128 + 127 - block.thread_rank();
    unsigned value = input.data[i], work = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        passed.data[i] = value;
        arrive(full, next);
        work = work * 3 + round;
        wait(full, round % 2 == 1);
        value = passed.data[other] * work;
        arrive(empty, before);
        wait(empty, round % 2 == 1);
    }
    out.data[i] = value;
    cluster.sync();
}

} // extern "C"
