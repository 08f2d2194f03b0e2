// RMS norm of rows of C * PART columns of bf16 by resident clusters, with STAGES rows in flight in each block.
constexpr u32 BLOCK = 1024, WARPS = BLOCK / 32, STAGES = 3;

__device__ inline float reduced(float v) {
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2) v += __shfl_xor_sync(~0u, v, mask);
    return v;
}
__device__ inline float rsqrt_approx(float x) {
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline float low(u32 pair) { return __uint_as_float(pair << 16); }
__device__ inline float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ inline float square_sum(u32 pair, float sum) {
    return fmaf(low(pair), low(pair), fmaf(high(pair), high(pair), sum));
}
__device__ inline u32 packed(float low, float high) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

__device__ inline u32 scaled(u32 x, float scale, u32 w) {
    return packed(low(x) * scale * low(w), high(x) * scale * high(w));
}

KERNEL __launch_bounds__(BLOCK) rms_norm_bulk(const u16* __restrict__ in, const uint4* __restrict__ weight, u16* __restrict__ out, u32 rows, float epsilon) {
    extern __shared__ __align__(128) uint4 stages[]; // [STAGES][PART / 8]
    __shared__ float of_warps[WARPS], inboxes[2][C];
    __shared__ u64 full[STAGES], received[2];
    const u32 i = threadIdx.x, rank = C > 1 ? cluster_rank() : 0;
    const u32 first = blockIdx.x / C, clusters = gridDim.x / C, count = (rows - first + clusters - 1) / clusters;
    auto start = [=](u32 turn) { return (u64(first + turn * clusters) * C + rank) * PART; };
    auto fetch = [=](u32 turn) {
        u32 stage = turn % STAGES, barrier = shared_address(full + stage);
        arrive_expect(barrier, PART * 2);
        bulk_load(shared_address(stages + stage * (PART / 8)), in + start(turn), PART * 2, barrier);
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
        uint4* part = stages + stage * (PART / 8);
        wait_parity(shared_address(full + stage), turn / STAGES % 2);
        float v = 0;
#pragma unroll
        for (u32 k = i; k < PART / 8; k += BLOCK) {
            uint4 x = part[k];
            v = square_sum(x.x, square_sum(x.y, square_sum(x.z, square_sum(x.w, v))));
        }
        v = reduced(v);
        if (i % 32 == 0) of_warps[i / 32] = v;
        __syncthreads();
        const u32 arrived = shared_address(received + inbox);
        if (i < 32) {
            if (i == 0) arrive_expect(arrived, C * 4);
            v = reduced(of_warps[i]);
            if (i < C) store_async(map_shared(shared_address(&inboxes[inbox][rank]), i), v, map_shared(arrived, i));
        }
        wait_parity_cluster(arrived, turn / 2 % 2);
        float squares = 0;
#pragma unroll
        for (u32 from = 0; from < C; from++) squares += inboxes[inbox][from];
        const float scale = rsqrt_approx(squares / (C * PART) + epsilon);
        uint4* to = reinterpret_cast<uint4*>(out + start(turn));
#pragma unroll
        for (u32 k = i; k < PART / 8; k += BLOCK) {
            uint4 x = part[k], w = weight[rank * (PART / 8) + k];
            to[k] = make_uint4(scaled(x.x, scale, w.x), scaled(x.y, scale, w.y), scaled(x.z, scale, w.z), scaled(x.w, scale, w.w));
        }
        __syncthreads();
        if (i == 0 && turn + STAGES < count) fetch(turn + STAGES);
    }
    cluster_sync();
}
