// Layer norm of rows of C * PART columns, one for each block (C == 1) or cluster.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32;

template <u32 WIDTH> __device__ inline float2 reduced(float2 v) {
#pragma unroll
    for (u32 mask = WIDTH / 2; mask; mask /= 2) {
        v.x += __shfl_xor_sync(~0u, v.x, mask);
        v.y += __shfl_xor_sync(~0u, v.y, mask);
    }
    return v;
}
__device__ inline void add(float2& sums, float x) {
    sums.x += x;
    sums.y = fmaf(x, x, sums.y);
}

KERNEL __launch_bounds__(BLOCK) layer_norm(const float4* __restrict__ in, const float4* __restrict__ weight, const float4* __restrict__ bias, float4* __restrict__ out) {
    extern __shared__ float4 part[];
    __shared__ float2 of_warps[WARPS], of_block;
    const u32 i = threadIdx.x;
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(blockIdx.x) * (PART / 4);
    if (C > 1) {
        weight += cluster_rank() * (PART / 4);
        bias += cluster_rank() * (PART / 4);
    }
    float2 v{0, 0};
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) {
        float4 x = in[k];
        part[k] = x;
        add(v, x.x);
        add(v, x.y);
        add(v, x.z);
        add(v, x.w);
    }
    v = reduced<32>(v);
    if (i % 32 == 0) of_warps[i / 32] = v;
    __syncthreads();
    v = reduced<WARPS>(of_warps[i % WARPS]);
    if constexpr (C > 1) {
        if (i == 0) of_block = v;
        cluster_sync();
        v = {0, 0};
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) {
            float2 other = load_remote2(map_shared(shared_address(&of_block), rank));
            v.x += other.x;
            v.y += other.y;
        }
        cluster_arrive_relaxed();
    }
    const float mean = v.x / (C * PART);
    float scale;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(scale) : "f"(v.y / (C * PART) - mean * mean + 1e-5f));
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) {
        float4 x = part[k], w = weight[k], b = bias[k];
        out[k] = make_float4(fmaf((x.x - mean) * scale, w.x, b.x), fmaf((x.y - mean) * scale, w.y, b.y), fmaf((x.z - mean) * scale, w.z, b.z), fmaf((x.w - mean) * scale, w.w, b.w));
    }
    if constexpr (C > 1) cluster_wait();
}
