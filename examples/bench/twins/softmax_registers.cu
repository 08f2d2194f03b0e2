// Softmax of rows of C * PART columns, one for each block (C == 1) or cluster, held in registers.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32, N = PART / BLOCK / 4;

KERNEL __launch_bounds__(BLOCK) softmax_registers(const float4* __restrict__ in, float4* __restrict__ out) {
    __shared__ float2 of_warps[WARPS], of_block;
    const u32 i = threadIdx.x;
    in += u64(blockIdx.x) * (PART / 4) + i;
    out += u64(blockIdx.x) * (PART / 4) + i;
    float4 v[N];
#pragma unroll
    for (u32 k = 0; k < N; k++) v[k] = in[k * BLOCK];
    float own = -__int_as_float(0x7f800000), sum = 0;
#pragma unroll
    for (u32 k = 0; k < N; k++) own = fmaxf(own, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
#pragma unroll
    for (u32 k = 0; k < N; k++) {
        v[k] = make_float4(__expf(v[k].x - own), __expf(v[k].y - own), __expf(v[k].z - own), __expf(v[k].w - own));
        sum += v[k].x + v[k].y + (v[k].z + v[k].w);
    }
    Pair all = reduced<32>({own, sum});
    if (i % 32 == 0) of_warps[i / 32] = make_float2(all.max, all.sum);
    __syncthreads();
    float2 w = of_warps[i % WARPS];
    all = reduced<WARPS>({w.x, w.y});
    if constexpr (C > 1) {
        if (i == 0) of_block = make_float2(all.max, all.sum);
        cluster_sync();
        all = {-__int_as_float(0x7f800000), 0};
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) {
            float2 other = load_remote2(map_shared(shared_address(&of_block), rank));
            all = joined(all, {other.x, other.y});
        }
        cluster_arrive_relaxed();
    }
    const float scale = __expf(own - all.max) / all.sum;
#pragma unroll
    for (u32 k = 0; k < N; k++) out[k * BLOCK] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
    if constexpr (C > 1) cluster_wait();
}
