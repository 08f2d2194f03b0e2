// The largest values of rows of C * PART columns, one for each cluster, by radix selection.
constexpr u32 BLOCK = 512, WARPS = BLOCK / 32, BINS = 2048, OWN = BINS / BLOCK;

__device__ inline u32 ordered(float x) {
    u32 bits = __float_as_uint(x);
    return bits ^ (u32(int(bits) >> 31) | 0x80000000u);
}
__device__ inline float value(u32 key) {
    return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
}
template <u32 WIDTH> __device__ inline u32 scanned(u32 v) {
#pragma unroll
    for (u32 delta = 1; delta < WIDTH; delta *= 2) {
        u32 below = __shfl_up_sync(~0u, v, delta, WIDTH);
        if (threadIdx.x % WIDTH >= delta) v += below;
    }
    return v;
}
__device__ inline u32 take_remote(u32 address) {
    u32 before;
    asm volatile("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(before) : "r"(address) : "memory");
    return before;
}

KERNEL __launch_bounds__(BLOCK) top_k(const float4* __restrict__ in, float* __restrict__ out, u32 k) {
    extern __shared__ uint4 keys[];
    __shared__ u32 bins[BINS], of_warps[WARPS], found[2], taken;
    __shared__ uint4 totals[BINS / 4];
    const u32 i = threadIdx.x, warp = i / 32, row = blockIdx.x / C;
    const u32 first_totals = map_shared(shared_address(totals), 0), first_taken = map_shared(shared_address(&taken), 0);
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(row) * k;
#pragma unroll 4
    for (u32 at = i; at < PART / 4; at += BLOCK) {
        float4 v = in[at];
        keys[at] = make_uint4(ordered(v.x), ordered(v.y), ordered(v.z), ordered(v.w));
    }
    if (i == 0) taken = 0;
    u32 prefix = 0, wanted = k;
#pragma unroll
    for (u32 pass = 0; pass < 3; pass++) {
        const u32 shift = pass == 0 ? 21 : pass == 1 ? 10 : 0, known = pass == 0 ? 0 : pass == 1 ? 0xffe00000u : 0xfffffc00u;
        for (u32 bin = i; bin < BINS; bin += BLOCK) bins[bin] = 0;
        totals[i] = make_uint4(0, 0, 0, 0);
        cluster_sync();
        auto count = [&](u32 key) {
            if ((key & known) == prefix) atomicAdd(bins + (key >> shift) % BINS, 1);
        };
#pragma unroll 4
        for (u32 at = i; at < PART / 4; at += BLOCK) {
            uint4 v = keys[at];
            count(v.x);
            count(v.y);
            count(v.z);
            count(v.w);
        }
        __syncthreads();
        for (u32 bin = i; bin < BINS; bin += BLOCK)
            if (bins[bin] > 0) add_remote(first_totals + bin * 4, bins[bin]);
        cluster_sync();
        const u32 top = BINS - OWN * (i + 1);
        u32 counts[OWN];
        asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(counts[0]), "=r"(counts[1]), "=r"(counts[2]), "=r"(counts[3]) : "r"(first_totals + top * 4) : "memory");
        const u32 own = counts[0] + counts[1] + counts[2] + counts[3];
        const u32 sums = scanned<32>(own);
        if (i % 32 == 31) of_warps[warp] = sums;
        __syncthreads();
        const u32 before = __shfl_sync(~0u, scanned<WARPS>(of_warps[i % WARPS]), (warp + WARPS - 1) % WARPS, WARPS);
        u32 above = sums - own + (warp > 0 ? before : 0);
        if (above < wanted && above + own >= wanted) {
#pragma unroll
            for (int bin = OWN - 1; bin >= 0; bin--) {
                if (above < wanted && above + counts[bin] >= wanted) {
                    found[0] = top + bin;
                    found[1] = wanted - above;
                }
                above += counts[bin];
            }
        }
        cluster_sync();
        prefix |= found[0] << shift;
        wanted = found[1];
    }
    auto take = [&](u32 key) {
        if (key > prefix) out[take_remote(first_taken)] = value(key);
    };
#pragma unroll 4
    for (u32 at = i; at < PART / 4; at += BLOCK) {
        uint4 v = keys[at];
        take(v.x);
        take(v.y);
        take(v.z);
        take(v.w);
    }
    if (cluster_rank() == 0)
        for (u32 place = k - wanted + i; place < k; place += BLOCK) out[place] = value(prefix);
    cluster_arrive_relaxed();
    cluster_wait();
}
