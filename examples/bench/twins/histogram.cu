// Histogram: bins in a block's shared memory, or in that of a cluster.
constexpr u32 BLOCK = 1024;

KERNEL __launch_bounds__(BLOCK) histogram_of_blocks(const uint4* __restrict__ keys, u32* __restrict__ counts, u64 len) {
    extern __shared__ u32 bins[];
    for (u32 bin = threadIdx.x; bin < PART; bin += BLOCK) bins[bin] = 0;
    __syncthreads();
    const u64 step = u64(gridDim.x) * BLOCK;
#pragma unroll 4
    for (u64 at = u64(blockIdx.x) * BLOCK + threadIdx.x; at < len / 4; at += step) {
        uint4 v = keys[at];
        atomicAdd(bins + v.x, 1);
        atomicAdd(bins + v.y, 1);
        atomicAdd(bins + v.z, 1);
        atomicAdd(bins + v.w, 1);
    }
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < PART; bin += BLOCK) atomicAdd(counts + bin, bins[bin]);
}

KERNEL __launch_bounds__(BLOCK) histogram_of_clusters(const uint4* __restrict__ keys, u32* __restrict__ counts, u64 len) {
    extern __shared__ u32 bins[];
    for (u32 bin = threadIdx.x; bin < PART; bin += BLOCK) bins[bin] = 0;
    cluster_sync();
    const u32 own = shared_address(bins);
    auto count = [=](u32 key) { add_remote(map_shared(own, key / PART) + key % PART * 4, 1); };
    const u64 step = u64(gridDim.x) * BLOCK;
#pragma unroll 4
    for (u64 at = u64(blockIdx.x) * BLOCK + threadIdx.x; at < len / 4; at += step) {
        uint4 v = keys[at];
        count(v.x);
        count(v.y);
        count(v.z);
        count(v.w);
    }
    cluster_sync();
    const u32 first = cluster_rank() * PART;
    for (u32 bin = threadIdx.x; bin < PART; bin += BLOCK) atomicAdd(counts + first + bin, bins[bin]);
}
