// Tokens, their states, and other sequences: likely tokens, norms that quantize, alignments within a band, keyed hashes.

KERNEL __launch_bounds__(256) nucleus(const float4* __restrict__ probabilities, float4* __restrict__ out, float share) {
    __shared__ u32 of_warps[2][8];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = cluster_rank();
    const float one = 0x1p30f, wanted = share * one;
    const u64 first = (blockIdx.x / 4) * 8192ull + part * 256 + threadIdx.x;
    u32 own[32];
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const float4 four = probabilities[first + k * 1024];
        own[4 * k] = four.x * one, own[4 * k + 1] = four.y * one, own[4 * k + 2] = four.z * one, own[4 * k + 3] = four.w * one;
    }
    // A lane reads what one warp of one block has.
    const u32 peer = map_shared(shared_address(&of_warps[0][lane % 8]), lane / 8);
    u32 least = 0, kept = 0;
#pragma unroll 2
    for (int bit = 29; bit >= 0; bit--) {
        const u32 next = least | 1u << bit;
        u32 mass = 0;
#pragma unroll
        for (u32 k = 0; k < 32; k++) mass += own[k] >= next ? own[k] : 0;
        mass = __reduce_add_sync(~0u, mass);
        if (lane == 0) of_warps[bit % 2][warp] = mass;
        cluster_sync();
        const u32 all = __reduce_add_sync(~0u, load_remote_u32(peer + bit % 2 * 32));
        if (all >= wanted) least = next, kept = all;
    }
    cluster_arrive();
    const float inverse = 1.0f / kept;
    auto kept_log = [&](u32 mass) { return mass >= least ? __logf(mass * inverse) : -0x1.fffffep127f; };
#pragma unroll
    for (u32 k = 0; k < 8; k++)
        out[first + k * 1024] = make_float4(kept_log(own[4 * k]), kept_log(own[4 * k + 1]), kept_log(own[4 * k + 2]), kept_log(own[4 * k + 3]));
    cluster_wait();
}

__device__ inline u32 add_halves(u32 a, u32 b) {
    u32 sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ inline float2 floats(u32 halves) {
    float2 both;
    asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}" : "=f"(both.x), "=f"(both.y) : "r"(halves));
    return both;
}

KERNEL __launch_bounds__(256) normed(const uint4* __restrict__ states, uint2* __restrict__ out, const uint4* __restrict__ updates, const uint4* __restrict__ weights, uint4* __restrict__ sums, float* __restrict__ steps) {
    __shared__ float of_warps[2][8];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u64 first = blockIdx.x * 512ull + threadIdx.x;
    float own[2][8];
    float squares = 0;
#pragma unroll
    for (u32 k = 0; k < 2; k++) {
        const uint4 old = states[first + k * 256], update = updates[first + k * 256];
        const uint4 sum = make_uint4(add_halves(old.x, update.x), add_halves(old.y, update.y), add_halves(old.z, update.z), add_halves(old.w, update.w));
        sums[first + k * 256] = sum;
        const u32 pairs[4] = {sum.x, sum.y, sum.z, sum.w};
        float part = 0;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const float2 both = floats(pairs[j]);
            own[k][2 * j] = both.x, own[k][2 * j + 1] = both.y;
            part += both.x * both.x;
            part += both.y * both.y;
        }
        squares += part;
    }
    // Neighbours first, as our kernel adds, so that no number is rounded in another way.
#pragma unroll
    for (u32 mask = 1; mask < 32; mask *= 2) squares += __shfl_xor_sync(~0u, squares, mask);
    if (lane == 0) of_warps[0][warp] = squares;
    __syncthreads();
    float all = of_warps[0][0];
#pragma unroll
    for (u32 k = 1; k < 8; k++) all += of_warps[0][k];
    const float root = sqrtf(all / 4096 + 1e-6f);
    float most = 0;
#pragma unroll
    for (u32 k = 0; k < 2; k++) {
        const uint4 weight = weights[threadIdx.x + k * 256];
        const u32 pairs[4] = {weight.x, weight.y, weight.z, weight.w};
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const float2 both = floats(pairs[j]);
            own[k][2 * j] = own[k][2 * j] / root * both.x;
            own[k][2 * j + 1] = own[k][2 * j + 1] / root * both.y;
            most = fmaxf(most, fmaxf(fabsf(own[k][2 * j]), fabsf(own[k][2 * j + 1])));
        }
    }
    most = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(most)));
    if (lane == 0) of_warps[1][warp] = most;
    __syncthreads();
    most = of_warps[1][0];
#pragma unroll
    for (u32 k = 1; k < 8; k++) most = fmaxf(most, of_warps[1][k]);
    const float step = most / 127;
#pragma unroll
    for (u32 k = 0; k < 2; k++) {
        u32 words[2] = {0, 0};
#pragma unroll
        for (u32 j = 0; j < 8; j++) words[j / 4] |= u32(__float2int_rn(own[k][j] / step) & 255) << j % 4 * 8;
        out[first + k * 256] = make_uint2(words[0], words[1]);
    }
    if (threadIdx.x == 0) steps[blockIdx.x] = step;
}

KERNEL __launch_bounds__(128) aligned(const uint4* __restrict__ queries, int* __restrict__ out, const uint4* __restrict__ references) {
    const u32 i = blockIdx.x * 128 + threadIdx.x;
    const uint4 a = queries[2 * i], b = queries[2 * i + 1], c = references[2 * i], d = references[2 * i + 1];
    const u32 query[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, reference[9] = {c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w, 0};
    int scores[17];
#pragma unroll
    for (int k = 0; k < 16; k++) scores[k] = k < 8 ? -10000 : -4 * (k - 8);
    scores[16] = -10000;
    u32 beside = reference[0] << 16;
#pragma unroll
    for (u32 word = 0; word < 8; word++) {
        u32 bases = query[word], ahead = __funnelshift_r(reference[word], reference[word + 1], 16);
#pragma unroll 1
        for (u32 k = 0; k < 16; k++) {
            // Two bits of a place are zero if the bases are alike.
            const u32 unlike = beside ^ (bases & 3) * 0x55555555u;
            int left = -10000;
#pragma unroll
            for (u32 j = 0; j < 16; j++) {
                const int pair = (unlike & 3u << 2 * j) == 0 ? 2 : -3;
                left = max(scores[j] + pair, max(scores[j + 1], left) - 4);
                scores[j] = left;
            }
            beside = __funnelshift_r(beside, ahead, 2);
            bases >>= 2, ahead >>= 2;
        }
    }
    out[i] = scores[8];
}

__device__ inline u64 rotated(u64 x, u32 by) { return x << by | x >> (64 - by); }
struct Sip {
    u64 a, b, c, d;
    __device__ void round() {
        a += b, b = rotated(b, 13) ^ a, a = rotated(a, 32);
        c += d, d = rotated(d, 16) ^ c;
        a += d, d = rotated(d, 21) ^ a;
        c += b, b = rotated(b, 17) ^ c, c = rotated(c, 32);
    }
    __device__ void absorb(u64 word) {
        d ^= word;
        round();
        round();
        a ^= word;
    }
};

KERNEL __launch_bounds__(256) siphash(const ulonglong2* __restrict__ messages, uint2* __restrict__ out, u64 low, u64 high) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    Sip state = {low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261, high ^ 0x7465646279746573};
    ulonglong2 words[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) words[k] = messages[4ull * i + k];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        state.absorb(words[k].x);
        state.absorb(words[k].y);
    }
    state.absorb(64ull << 56);
    state.c ^= 0xff;
#pragma unroll
    for (u32 k = 0; k < 4; k++) state.round();
    const u64 hash = state.a ^ state.b ^ state.c ^ state.d;
    out[i] = make_uint2(hash, hash >> 32);
}
