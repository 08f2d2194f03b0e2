// RMS norm of rows of C * PART columns by resident clusters, with STAGES rows in flight in each block.
constexpr u32 BLOCK = 1024, WARPS = BLOCK / 32, STAGES = 3;

__device__ inline u32 scaled(u32 x, float scale, u32 w) {
    return packed(low(x) * scale * low(w), high(x) * scale * high(w));
}

// A vector of 16 bytes of f32 (float4) or bf16 (uint4).
__device__ inline float square_sum(float4 x, float sum) {
    return fmaf(x.x, x.x, fmaf(x.y, x.y, fmaf(x.z, x.z, fmaf(x.w, x.w, sum))));
}
__device__ inline float square_sum(uint4 x, float sum) {
    return square_sum(x.x, square_sum(x.y, square_sum(x.z, square_sum(x.w, sum))));
}
__device__ inline float4 scaled(float4 x, float scale, float4 w) {
    return make_float4(x.x * scale * w.x, x.y * scale * w.y, x.z * scale * w.z, x.w * scale * w.w);
}
__device__ inline uint4 scaled(uint4 x, float scale, uint4 w) {
    return make_uint4(scaled(x.x, scale, w.x), scaled(x.y, scale, w.y), scaled(x.z, scale, w.z), scaled(x.w, scale, w.w));
}

template <class V, u32 LANES> __device__ inline void norms(V* stages, const V* __restrict__ in, const V* __restrict__ weight, V* __restrict__ out, u32 rows, float epsilon) {
    constexpr u32 VECTORS = PART / LANES; // of a block's part of a row
    __shared__ float of_warps[WARPS], inboxes[2][C];
    __shared__ u64 full[STAGES], received[2];
    const u32 i = threadIdx.x, rank = C > 1 ? cluster_rank() : 0;
    const u32 first = blockIdx.x / C, clusters = gridDim.x / C, count = (rows - first + clusters - 1) / clusters;
    auto start = [=](u32 turn) { return (u64(first + turn * clusters) * C + rank) * VECTORS; };
    auto fetch = [=](u32 turn) {
        u32 stage = turn % STAGES, barrier = shared_address(full + stage);
        arrive_expect(barrier, VECTORS * 16);
        bulk_load(shared_address(stages + stage * VECTORS), in + start(turn), VECTORS * 16, barrier);
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
        V* part = stages + stage * VECTORS;
        wait_parity(shared_address(full + stage), turn / STAGES % 2);
        float v = 0;
#pragma unroll
        for (u32 k = i; k < VECTORS; k += BLOCK) v = square_sum(part[k], v);
        v = reduced<32>(v);
        if (i % 32 == 0) of_warps[i / 32] = v;
        __syncthreads();
        const u32 arrived = shared_address(received + inbox);
        if (i < 32) {
            if (i == 0) arrive_expect(arrived, C * 4);
            v = reduced<32>(of_warps[i]);
            if (i < C) store_async(map_shared(shared_address(&inboxes[inbox][rank]), i), v, map_shared(arrived, i));
        }
        wait_parity_cluster(arrived, turn / 2 % 2);
        float squares = 0;
#pragma unroll
        for (u32 from = 0; from < C; from++) squares += inboxes[inbox][from];
        const float scale = rsqrt_approx(squares / (C * PART) + epsilon);
        V* to = out + start(turn);
#pragma unroll
        for (u32 k = i; k < VECTORS; k += BLOCK) to[k] = scaled(part[k], scale, weight[rank * VECTORS + k]);
        __syncthreads();
        if (i == 0 && turn + STAGES < count) fetch(turn + STAGES);
    }
    cluster_sync();
}

KERNEL __launch_bounds__(BLOCK) rms_norm_bulk(const float4* __restrict__ in, const float4* __restrict__ weight, float4* __restrict__ out, u32 rows, float epsilon) {
    extern __shared__ __align__(128) float4 stages_f32[];
    norms<float4, 4>(stages_f32, in, weight, out, rows, epsilon);
}

KERNEL __launch_bounds__(BLOCK) rms_norm_bulk_bf16(const uint4* __restrict__ in, const uint4* __restrict__ weight, uint4* __restrict__ out, u32 rows, float epsilon) {
    extern __shared__ __align__(128) uint4 stages_bf16[];
    norms<uint4, 8>(stages_bf16, in, weight, out, rows, epsilon);
}
