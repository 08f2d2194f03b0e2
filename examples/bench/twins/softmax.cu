// Softmax of rows of C * PART columns, one for each block (C == 1) or cluster.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32;

KERNEL __launch_bounds__(BLOCK) softmax(const float4* __restrict__ in, float4* __restrict__ out) {
    extern __shared__ float4 part[];
    __shared__ float2 of_warps[WARPS], of_block;
    const u32 i = threadIdx.x;
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(blockIdx.x) * (PART / 4);
    Pair v{-__int_as_float(0x7f800000), 0};
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) {
        float4 x = in[k];
        part[k] = x;
        float max = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
        v = joined(v, {max, __expf(x.x - max) + __expf(x.y - max) + (__expf(x.z - max) + __expf(x.w - max))});
    }
    v = reduced<32>(v);
    if (i % 32 == 0) of_warps[i / 32] = make_float2(v.max, v.sum);
    __syncthreads();
    float2 w = of_warps[i % WARPS];
    v = reduced<WARPS>({w.x, w.y});
    if constexpr (C > 1) {
        if (i == 0) of_block = make_float2(v.max, v.sum);
        cluster_sync();
        Pair all{-__int_as_float(0x7f800000), 0};
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) {
            float2 other = load_remote2(map_shared(shared_address(&of_block), rank));
            all = joined(all, {other.x, other.y});
        }
        v = all;
        cluster_arrive_relaxed();
    }
    float scale = 1.0f / v.sum;
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) {
        float4 x = part[k];
        out[k] = make_float4(__expf(x.x - v.max) * scale, __expf(x.y - v.max) * scale, __expf(x.z - v.max) * scale, __expf(x.w - v.max) * scale);
    }
    if constexpr (C > 1) cluster_wait();
}
