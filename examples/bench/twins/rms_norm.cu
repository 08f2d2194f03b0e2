// RMS norm of rows of C * PART columns, one for each block (C == 1) or cluster.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32;

// The sum over the cluster. The caller waits for the cluster at its end, if there is one.
__device__ inline float row_sum(float v) {
    __shared__ float of_warps[WARPS], of_block;
    v = reduced<32>(v);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = reduced<WARPS>(of_warps[threadIdx.x % WARPS]);
    if constexpr (C > 1) {
        if (threadIdx.x == 0) of_block = v;
        cluster_sync();
        v = 0;
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) v += load_remote(map_shared(shared_address(&of_block), rank));
        cluster_arrive_relaxed();
    }
    return v;
}

KERNEL __launch_bounds__(BLOCK) rms_norm(const float4* __restrict__ in, const float4* __restrict__ weight, float4* __restrict__ out) {
    extern __shared__ float4 part[];
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(blockIdx.x) * (PART / 4);
    if (C > 1) weight += cluster_rank() * (PART / 4);
    float sum = 0;
#pragma unroll 4
    for (u32 k = threadIdx.x; k < PART / 4; k += BLOCK) {
        float4 x = in[k];
        part[k] = x;
        sum = fmaf(x.x, x.x, fmaf(x.y, x.y, fmaf(x.z, x.z, fmaf(x.w, x.w, sum))));
    }
    float scale = rsqrt_approx(row_sum(sum) / (C * PART) + 1e-6f);
#pragma unroll 4
    for (u32 k = threadIdx.x; k < PART / 4; k += BLOCK) {
        float4 x = part[k], w = weight[k];
        out[k] = make_float4(x.x * scale * w.x, x.y * scale * w.y, x.z * scale * w.z, x.w * scale * w.w);
    }
    if constexpr (C > 1) cluster_wait();
}

__device__ inline u32 scaled(u32 x, float scale, u32 w) {
    return packed(low(x) * scale * low(w), high(x) * scale * high(w));
}

KERNEL __launch_bounds__(BLOCK) rms_norm_bf16(const uint4* __restrict__ in, const uint4* __restrict__ weight, uint4* __restrict__ out) {
    extern __shared__ uint4 part16[];
    in += u64(blockIdx.x) * (PART / 8);
    out += u64(blockIdx.x) * (PART / 8);
    if (C > 1) weight += cluster_rank() * (PART / 8);
    float sum = 0;
#pragma unroll 4
    for (u32 k = threadIdx.x; k < PART / 8; k += BLOCK) {
        uint4 x = in[k];
        part16[k] = x;
        sum = square_sum(x.x, square_sum(x.y, square_sum(x.z, square_sum(x.w, sum))));
    }
    float scale = rsqrt_approx(row_sum(sum) / (C * PART) + 1e-6f);
#pragma unroll 4
    for (u32 k = threadIdx.x; k < PART / 8; k += BLOCK) {
        uint4 x = part16[k], w = weight[k];
        out[k] = make_uint4(scaled(x.x, scale, w.x), scaled(x.y, scale, w.y), scaled(x.z, scale, w.z), scaled(x.w, scale, w.w));
    }
    if constexpr (C > 1) cluster_wait();
}
