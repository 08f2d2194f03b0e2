// The counterpart of src/bin/barrier_cycles.rs with the toolkit's own barriers:
//     nvcc -O3 -std=c++17 -arch=sm_90a twins/barrier_cycles.cu -o barrier_cycles_twin && ./barrier_cycles_twin
#include <algorithm>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <utility>
#include <vector>

namespace cg = cooperative_groups;

constexpr unsigned rounds = 100;

#define MEASURED(name, setup, body)                                                                                             \
    __global__ void __cluster_dims__(2) name(unsigned long long* ticks) {                                      \
        setup;                                                                                                                  \
        __syncthreads();                                                                                                        \
        const long long start = clock64();                                                                                      \
        for (unsigned round = 0; round < rounds; ++round) {                                                                     \
            body;                                                                                                               \
        }                                                                                                                       \
        const long long end = clock64();                                                                                        \
        if (blockIdx.x == 0 && threadIdx.x == 0) {                                                                              \
            *ticks = end - start;                                                                                               \
        }                                                                                                                       \
    }

using block_barrier = cuda::barrier<cuda::thread_scope_block>;
#define BARRIER                                                                                                                 \
    __shared__ block_barrier full;                                                                                              \
    if (threadIdx.x == 0) {                                                                                                     \
        init(&full, blockDim.x);                                                                                                \
    }

MEASURED(block_sync, auto block = cg::this_thread_block(), block.sync())
MEASURED(block_split, auto block = cg::this_thread_block(), block.barrier_wait(block.barrier_arrive()))
MEASURED(block_split_worked, auto block = cg::this_thread_block(); float x = 1.5f, auto token = block.barrier_arrive();
         if (threadIdx.x / 32 == round % 4) {
             for (int i = 0; i < 128; ++i) { x = __fadd_rn(__fmul_rn(x, 0.999f), 0.25f); }
             if (x == 0.0f) { *ticks = 0; }
         } block.barrier_wait(std::move(token)))
MEASURED(phase_barrier, BARRIER, full.wait(full.arrive()))
MEASURED(cluster_sync, auto cluster = cg::this_cluster(), cluster.sync())
MEASURED(cluster_split, auto cluster = cg::this_cluster(), cluster.barrier_wait(cluster.barrier_arrive()))
MEASURED(cluster_relaxed, , __cluster_barrier_arrive_relaxed(); __cluster_barrier_wait())
MEASURED(grid_sync, auto grid = cg::this_grid(), grid.sync())
MEASURED(grid_split, auto grid = cg::this_grid(), grid.barrier_wait(grid.barrier_arrive()))

static void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::printf("error: %s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

int main() {
    struct {
        const char* name;
        const void* kernel;
        unsigned blocks;
    } const kernels[] = {
        {"block_sync", (const void*)block_sync, 2},           {"block_split", (const void*)block_split, 2},
        {"block_split_worked", (const void*)block_split_worked, 2}, {"phase_barrier", (const void*)phase_barrier, 2},
        {"cluster_sync", (const void*)cluster_sync, 2},       {"cluster_split", (const void*)cluster_split, 2},
        {"cluster_relaxed", (const void*)cluster_relaxed, 2}, {"grid_sync", (const void*)grid_sync, 132},
        {"grid_split", (const void*)grid_split, 132},
    };
    unsigned long long* ticks;
    check(cudaMallocManaged(&ticks, sizeof *ticks));
    std::printf("cooperative groups\n| barrier | threads of a block | cycles: median (quartiles) |\n|---|---|---|\n");
    for (const auto& [name, kernel, blocks] : kernels) {
        for (unsigned threads : {128u, 1024u}) {
            std::vector<unsigned long long> cycles;
            for (int launch = 0; launch < 21; ++launch) {
                void* arguments[] = {&ticks};
                check(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments));
                check(cudaDeviceSynchronize());
                cycles.push_back(*ticks / rounds);
            }
            std::sort(cycles.begin(), cycles.end());
            std::printf("| %s | %u | %llu (%llu to %llu) |\n", name, threads, cycles[10], cycles[5], cycles[15]);
        }
    }
}
