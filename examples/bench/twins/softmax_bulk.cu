// Softmax of rows of C * PART columns by resident clusters, with STAGES rows in flight in each block.
constexpr u32 BLOCK = 1024, WARPS = BLOCK / 32, STAGES = 3;

KERNEL __launch_bounds__(BLOCK) softmax_bulk(const float* __restrict__ in, float* __restrict__ out, u32 rows) {
    extern __shared__ __align__(128) float4 stages[]; // [STAGES][PART / 4]
    __shared__ float2 of_warps[WARPS];
    __shared__ u64 inboxes[2][C], full[STAGES], received[2];
    const u32 i = threadIdx.x, rank = C > 1 ? cluster_rank() : 0;
    const u32 first = blockIdx.x / C, clusters = gridDim.x / C, count = (rows - first + clusters - 1) / clusters;
    auto start = [=](u32 turn) { return (u64(first + turn * clusters) * C + rank) * PART; };
    auto fetch = [=](u32 turn) {
        u32 stage = turn % STAGES, barrier = shared_address(full + stage);
        arrive_expect(barrier, PART * 4);
        bulk_load(shared_address(stages + stage * (PART / 4)), in + start(turn), PART * 4, barrier);
    };
    if (i == 0) {
        for (u32 stage = 0; stage < STAGES; stage++) barrier_init(shared_address(full + stage), 1);
        for (u32 inbox = 0; inbox < 2; inbox++) barrier_init(shared_address(received + inbox), 1);
        barrier_init_fence();
    }
    cluster_sync();
    if (i == 0)
        for (u32 turn = 0; turn < min(count, STAGES); turn++) fetch(turn);
    for (u32 turn = 0; turn < count; turn++) {
        const u32 stage = turn % STAGES, inbox = turn % 2;
        float4* part = stages + stage * (PART / 4);
        wait_parity(shared_address(full + stage), turn / STAGES % 2);
        Pair v{-__int_as_float(0x7f800000), 0};
#pragma unroll
        for (u32 k = i; k < PART / 4; k += BLOCK) {
            float4 x = part[k];
            float max = fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w));
            v = joined(v, {max, __expf(x.x - max) + __expf(x.y - max) + (__expf(x.z - max) + __expf(x.w - max))});
        }
        v = reduced<32>(v);
        if (i % 32 == 0) of_warps[i / 32] = make_float2(v.max, v.sum);
        __syncthreads();
        const u32 arrived = shared_address(received + inbox);
        if (i < 32) {
            if (i == 0) arrive_expect(arrived, C * 8);
            float2 w = of_warps[i];
            v = reduced<32>({w.x, w.y});
            if (i < C) {
                u64 pair = u64(__float_as_uint(v.max)) << 32 | __float_as_uint(v.sum);
                store_async(map_shared(shared_address(&inboxes[inbox][rank]), i), pair, map_shared(arrived, i));
            }
        }
        wait_parity_cluster(arrived, turn / 2 % 2);
        Pair all{-__int_as_float(0x7f800000), 0};
#pragma unroll
        for (u32 from = 0; from < C; from++) {
            u64 pair = inboxes[inbox][from];
            all = joined(all, {__uint_as_float(u32(pair >> 32)), __uint_as_float(u32(pair))});
        }
        const float scale = 1.0f / all.sum;
        float4* to = reinterpret_cast<float4*>(out + start(turn));
#pragma unroll
        for (u32 k = i; k < PART / 4; k += BLOCK) {
            float4 x = part[k];
            to[k] = make_float4(__expf(x.x - all.max) * scale, __expf(x.y - all.max) * scale, __expf(x.z - all.max) * scale, __expf(x.w - all.max) * scale);
        }
        __syncthreads();
        if (i == 0 && turn + STAGES < count) fetch(turn + STAGES);
    }
    cluster_sync();
}
