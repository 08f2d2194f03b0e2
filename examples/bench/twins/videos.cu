// What encoders and decoders of video do: motion, colours, edges of blocks, sums of rectangles.
using u8 = unsigned char;

__device__ inline u32 differences(u32 a, u32 b, u32 sum) {
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

KERNEL __launch_bounds__(256) motion(const u32* __restrict__ now, short2* __restrict__ vectors, const u32* __restrict__ before, u64 width) {
    __shared__ uint4 pixels[16];
    __shared__ u32 window[32][8];
    __shared__ u32 of_warps[8];
    const u32 i = threadIdx.x, x = i % 16, y = i / 16, blocks = width / 16;
    const u32 row = blockIdx.x / blocks * 16, column = blockIdx.x % blocks * 4;
    const u32 words = width / 4;
    if (i < 64) reinterpret_cast<u32*>(pixels)[i] = now[(row + i / 4) * words + column + i % 4];
    window[i / 8][i % 8] = before[(row + i / 8) * (words + 4) + column + i % 8];
    __syncthreads();
    const u32 word = x / 4, shift = x % 4 * 8;
    u32 cost = 0;
#pragma unroll
    for (u32 k = 0; k < 16; k++) {
        const uint4 four = pixels[k];
        const u32* beside = &window[y + k][word];
        const u32 a = beside[0], b = beside[1], c = beside[2], d = beside[3], e = beside[4];
        cost = differences(four.x, __funnelshift_r(a, b, shift), cost);
        cost = differences(four.y, __funnelshift_r(b, c, shift), cost);
        cost = differences(four.z, __funnelshift_r(c, d, shift), cost);
        cost = differences(four.w, __funnelshift_r(d, e, shift), cost);
    }
    const u32 best = __reduce_min_sync(~0u, cost << 8 | i);
    if (i % 32 == 0) of_warps[i / 32] = best;
    __syncthreads();
    if (i == 0) {
        u32 least = of_warps[0];
#pragma unroll
        for (u32 k = 1; k < 8; k++) least = min(least, of_warps[k]);
        vectors[blockIdx.x] = make_short2(short(least % 16) - 8, short(least / 16 % 16) - 8);
    }
}

__device__ inline u32 colour(int y, int b, int r) {
    auto part = [](int sum) { return u32(min(max((sum + 128) >> 8, 0), 255)); };
    return part(y + 409 * r) | part(y - 100 * b - 208 * r) << 8 | part(y + 516 * b) << 16 | 0xff000000u;
}

KERNEL __launch_bounds__(256) coloured(const u32* __restrict__ luma, uint4* __restrict__ out, const u32* __restrict__ chroma, u64 width) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, words = width / 4;
    const u32 row = i / words, column = i % words;
    const u32 four = luma[i], tints = chroma[row / 2 * words + column];
    const int b0 = int(tints & 255) - 128, r0 = int(tints >> 8 & 255) - 128;
    const int b1 = int(tints >> 16 & 255) - 128, r1 = int(tints >> 24) - 128;
    auto y = [&](u32 k) { return 298 * (int(four >> 8 * k & 255) - 16); };
    out[i] = make_uint4(colour(y(0), b0, r0), colour(y(1), b0, r0), colour(y(2), b1, r1), colour(y(3), b1, r1));
}

__device__ const u8 ALPHAS[52] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255};
__device__ const u8 BETAS[52] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18};

struct Three {
    int near, middle, far;
};
__device__ inline Three side(int a, int b, int c, int d, int e, int f, bool flat) {
    if (flat) return {(c + 2 * b + 2 * a + 2 * e + f + 4) >> 3, (c + b + a + e + 2) >> 2, (2 * d + 3 * c + b + a + e + 4) >> 3};
    return {(2 * b + a + f + 2) >> 2, b, c};
}

KERNEL __launch_bounds__(256) deblocked(const uint2* __restrict__ pixels, uint2* __restrict__ out, const u8* __restrict__ steps, u64 width) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, edges = width / 8;
    const u32 step = steps[i / edges / 8 * edges + i % edges];
    const uint2 eight = pixels[i];
    const int alpha = ALPHAS[step], beta = BETAS[step];
    const int p3 = eight.x & 255, p2 = eight.x >> 8 & 255, p1 = eight.x >> 16 & 255, p0 = eight.x >> 24;
    const int q0 = eight.y & 255, q1 = eight.y >> 8 & 255, q2 = eight.y >> 16 & 255, q3 = eight.y >> 24;
    const int edge = abs(p0 - q0);
    uint2 smooth = eight;
    if (edge < alpha && abs(p1 - p0) < beta && abs(q1 - q0) < beta) {
        const bool small = edge < (alpha >> 2) + 2;
        const Three p = side(p0, p1, p2, p3, q0, q1, small && abs(p2 - p0) < beta);
        const Three q = side(q0, q1, q2, q3, p0, p1, small && abs(q2 - q0) < beta);
        smooth = make_uint2(p3 | p.far << 8 | p.middle << 16 | p.near << 24, q.near | q.middle << 8 | q.far << 16 | q3 << 24);
    }
    out[i] = smooth;
}

KERNEL __launch_bounds__(256) integrals(const uint2* __restrict__ pictures, u32* __restrict__ out) {
    __shared__ u32 totals[256];
    // A thread keeps the sums of its column in registers; 32 rows pass through shared memory at a time.
    __shared__ u32 sums[32][256];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = cluster_rank(), column = threadIdx.x;
    const uint2* from = pictures + blockIdx.x * 64ull * 32 + lane;
    u32 own[64], total = 0;
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
        uint2 eight[4];
#pragma unroll
        for (u32 k = 0; k < 4; k++) eight[k] = from[(half * 32 + warp + 8 * k) * 32];
        if (half) __syncthreads();
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u32 v[8], sum = 0;
#pragma unroll
            for (u32 j = 0; j < 8; j++) v[j] = sum += (j < 4 ? eight[k].x : eight[k].y) >> j % 4 * 8 & 255;
            u32 end = sum;
#pragma unroll
            for (u32 by = 1; by < 32; by *= 2) {
                const u32 below = __shfl_up_sync(~0u, end, by);
                if (lane >= by) end += below;
            }
            const u32 start = end - sum;
            uint4* to = reinterpret_cast<uint4*>(&sums[warp + 8 * k][8 * lane]);
            to[0] = make_uint4(start + v[0], start + v[1], start + v[2], start + v[3]);
            to[1] = make_uint4(start + v[4], start + v[5], start + v[6], start + v[7]);
        }
        __syncthreads();
#pragma unroll
        for (u32 row = 0; row < 32; row++) own[half * 32 + row] = total += sums[row][column];
    }
    totals[column] = total;
    cluster_sync();
    u32 above = 0;
#pragma unroll
    for (u32 peer = 0; peer < 3; peer++)
        if (peer < part) above += load_remote_u32(map_shared(shared_address(&totals[column]), peer));
    cluster_arrive();
    u32* to = out + blockIdx.x * 64ull * 256 + column;
#pragma unroll
    for (u32 row = 0; row < 64; row++) to[row * 256] = above + own[row];
    cluster_wait();
}
