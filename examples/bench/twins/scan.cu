// Running sums of rows of C * PART columns, one for each cluster.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32;

template <u32 WIDTH> __device__ inline u32 scanned(u32 v) {
#pragma unroll
    for (u32 delta = 1; delta < WIDTH; delta *= 2) {
        u32 below = __shfl_up_sync(~0u, v, delta, WIDTH);
        if (threadIdx.x % WIDTH >= delta) v += below;
    }
    return v;
}

KERNEL __launch_bounds__(BLOCK) scan(const uint4* __restrict__ in, uint4* __restrict__ out) {
    extern __shared__ uint4 part[];
    __shared__ u32 of_warps[2][WARPS], of_block;
    const u32 i = threadIdx.x, warp = i / 32;
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(blockIdx.x) * (PART / 4);
    u32 own = 0;
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) {
        uint4 v = in[k];
        part[k] = v;
        own += v.x + v.y + (v.z + v.w);
    }
    own = __reduce_add_sync(~0u, own);
    if (i % 32 == 0) of_warps[0][warp] = own;
    __syncthreads();
    if (i < 32) {
        u32 total = __reduce_add_sync(~0u, i < WARPS ? of_warps[0][i] : 0);
        if (i == 0) of_block = total;
    }
    cluster_sync();
    u32 before = 0;
#pragma unroll
    for (u32 rank = 0; rank < C; rank++) {
        u32 total = load_remote_u32(map_shared(shared_address(&of_block), rank));
        if (rank < cluster_rank()) before += total;
    }
    cluster_arrive_relaxed();
    u32 turn = 1;
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK, turn ^= 1) {
        uint4 v = part[k];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        u32 sums = scanned<32>(v.w);
        if (i % 32 == 31) of_warps[turn][warp] = sums;
        __syncthreads();
        u32 totals = scanned<WARPS>(of_warps[turn][i % WARPS]);
        u32 preceding = __shfl_sync(~0u, totals, (warp + WARPS - 1) % WARPS, WARPS);
        u32 offset = before + sums - v.w + (warp > 0 ? preceding : 0);
        out[k] = make_uint4(v.x + offset, v.y + offset, v.z + offset, v.w + offset);
        before += __shfl_sync(~0u, totals, WARPS - 1, WARPS);
    }
    cluster_wait();
}
