// The sum of all elements, reduced over clusters of C blocks.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32;

KERNEL __launch_bounds__(BLOCK) reduce(const float4* __restrict__ in, float* __restrict__ out, u64 len) {
    __shared__ float of_warps[WARPS], of_block;
    const u64 step = u64(gridDim.x) * BLOCK;
    float4 sums{0, 0, 0, 0};
#pragma unroll 4
    for (u64 at = u64(blockIdx.x) * BLOCK + threadIdx.x; at < len / 4; at += step) {
        float4 v = in[at];
        sums.x += v.x;
        sums.y += v.y;
        sums.z += v.z;
        sums.w += v.w;
    }
    float v = reduced<32>((sums.x + sums.y) + (sums.z + sums.w));
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = reduced<WARPS>(of_warps[threadIdx.x % WARPS]);
    if (threadIdx.x == 0) of_block = v;
    cluster_sync();
    if (threadIdx.x == 0 && cluster_rank() == 0) {
        v = 0;
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) v += load_remote(map_shared(shared_address(&of_block), rank));
        atomicAdd(out, v);
    }
    cluster_arrive_relaxed();
    cluster_wait();
}
