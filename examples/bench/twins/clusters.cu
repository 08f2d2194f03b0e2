// Work that the blocks of a cluster share through distributed shared memory.
using u8 = unsigned char;

KERNEL __launch_bounds__(256) heat(const float* __restrict__ plates, float* __restrict__ out, u32 steps) {
    __shared__ float cells[2][32][128];
    const u32 part = cluster_rank(), column = threadIdx.x % 128, top = threadIdx.x / 128 * 16;
    const float* from = plates + blockIdx.x * 4096ull + column;
    float* to = out + blockIdx.x * 4096ull + column;
#pragma unroll
    for (u32 row = top; row < top + 16; row++) cells[0][row][column] = from[row * 128];
    cluster_sync();
    // The last row of the block above, and the first of the one below.
    const u32 above = map_shared(shared_address(&cells[0][31][column]), part == 0 ? 0 : part - 1);
    const u32 below = map_shared(shared_address(&cells[0][0][column]), part == 3 ? 3 : part + 1);
    const bool side = column == 0 || column == 127;
    const u32 left = max(column, 1) - 1, right = min(column + 1, 127);
    for (u32 step = 0; step < steps; step++) {
        const u32 now = step % 2;
        float up = top == 0 ? load_remote(above + now * 16384) : cells[now][top - 1][column];
        const float last = top == 0 ? cells[now][16][column] : load_remote(below + now * 16384);
        float here = cells[now][top][column];
#pragma unroll
        for (u32 k = 0; k < 16; k++) {
            const u32 row = top + k;
            const float down = k == 15 ? last : cells[now][row + 1][column];
            const bool border = side || (part == 0 && row == 0) || (part == 3 && row == 31);
            cells[1 - now][row][column] = border ? here : 0.25f * (up + down + cells[now][row][left] + cells[now][row][right]);
            up = here;
            here = down;
        }
        cluster_sync();
    }
#pragma unroll
    for (u32 row = top; row < top + 16; row++) to[row * 128] = cells[steps % 2][row][column];
}

struct Nearest {
    float distance;
    u32 centre;
};

KERNEL __launch_bounds__(128) nearest(const float4* __restrict__ points, u32* __restrict__ out, const float4* __restrict__ centres) {
    __shared__ float4 own[64][8];
    __shared__ float2 candidates[128];
    const u32 rank = cluster_rank(), i = threadIdx.x, cluster = blockIdx.x / 4;
#pragma unroll
    for (u32 k = i; k < 512; k += 128) own[k / 8][k % 8] = centres[rank * 512 + k];
    float4 point[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) point[k] = points[(cluster * 128 + i) * 8ull + k];
    __syncthreads();
    float best = __int_as_float(0x7f800000);
    u32 centre = 0;
    for (u32 c = 0; c < 64; c++) {
        float sum = 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) {
            const float4 p = point[k], q = own[c][k];
            sum += (p.x - q.x) * (p.x - q.x);
            sum += (p.y - q.y) * (p.y - q.y);
            sum += (p.z - q.z) * (p.z - q.z);
            sum += (p.w - q.w) * (p.w - q.w);
        }
        if (sum < best) best = sum, centre = rank * 64 + c;
    }
    candidates[i] = make_float2(best, __uint_as_float(centre));
    cluster_sync();
    if (i < 32) {
        const u32 decided = rank * 32 + i, address = shared_address(&candidates[decided]);
        float2 least = load_remote2(map_shared(address, 0));
#pragma unroll
        for (u32 peer = 1; peer < 4; peer++) {
            const float2 other = load_remote2(map_shared(address, peer));
            if (other.x < least.x) least = other;
        }
        out[cluster * 128 + decided] = __float_as_uint(least.y);
    }
    cluster_sync();
}

struct Run {
    float sum;
    u32 broken;
};
__device__ inline Run joined(Run a, Run b) { return {b.broken ? b.sum : a.sum + b.sum, a.broken | b.broken}; }

KERNEL __launch_bounds__(256) segments(const float4* __restrict__ values, float4* __restrict__ out, const uint2* __restrict__ heads) {
    __shared__ Run of_warps[8];
    __shared__ float2 of_block;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = cluster_rank();
    const u64 i = blockIdx.x * 256ull + threadIdx.x;
    const float4 low = values[i * 2], high = values[i * 2 + 1];
    const uint2 head = heads[i];
    const float v[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    Run items[8], all = {0, 0};
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        all = joined(all, {v[k], (k < 4 ? head.x : head.y) >> k % 4 * 8 & 255});
        items[k] = all;
    }
    Run scan = all;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const Run below = {__shfl_up_sync(~0u, scan.sum, by), __shfl_up_sync(~0u, scan.broken, by)};
        if (lane >= by) scan = joined(below, scan);
    }
    if (lane == 31) of_warps[warp] = scan;
    __syncthreads();
    if (threadIdx.x == 0) {
        Run total = {0, 0};
#pragma unroll
        for (u32 k = 0; k < 8; k++) total = joined(total, of_warps[k]);
        of_block = make_float2(total.sum, __uint_as_float(total.broken));
    }
    cluster_sync();
    Run before = {0, 0};
    for (u32 peer = 0; peer < part; peer++) {
        const float2 other = load_remote2(map_shared(shared_address(&of_block), peer));
        before = joined(before, {other.x, __float_as_uint(other.y)});
    }
    for (u32 k = 0; k < warp; k++) before = joined(before, of_warps[k]);
    const Run beside = {__shfl_up_sync(~0u, scan.sum, 1), __shfl_up_sync(~0u, scan.broken, 1)};
    if (lane > 0) before = joined(before, beside);
    float sums[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) sums[k] = joined(before, items[k]).sum;
    out[i * 2] = {sums[0], sums[1], sums[2], sums[3]};
    out[i * 2 + 1] = {sums[4], sums[5], sums[6], sums[7]};
    cluster_sync();
}

struct Choice {
    float score;
    u32 token;
};
__device__ inline Choice better(Choice a, Choice b) { return b.score > a.score || (b.score == a.score && b.token < a.token) ? b : a; }

__device__ inline float uniform(u32 seed, u32 row, u32 column) {
    u32 x = seed ^ row * 0x9e3779b9 ^ column * 0x85ebca6b;
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    x ^= x >> 16;
    return (float(x >> 9) + 0.5f) * 0x1p-23f;
}

KERNEL __launch_bounds__(256) sampled(const float4* __restrict__ logits, u32* __restrict__ tokens, u64 vocabulary, float temperature, u32 seed) {
    __shared__ Choice of_warps[8];
    __shared__ float2 of_block;
    const u32 part = cluster_rank(), row = blockIdx.x / 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float4* values = logits + row * (vocabulary / 4);
    Choice best = {-__int_as_float(0x7f800000), 0};
#pragma unroll 2
    for (u32 k = part * 256 + threadIdx.x; k < vocabulary / 4; k += 1024) {
        const float4 v = values[k];
        const float four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const float noise = -__logf(-__logf(uniform(seed, row, 4 * k + j)));
            best = better(best, {four[j] / temperature + noise, 4 * k + j});
        }
    }
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2)
        best = better(best, {__shfl_xor_sync(~0u, best.score, mask), __shfl_xor_sync(~0u, best.token, mask)});
    if (lane == 0) of_warps[warp] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (u32 k = 1; k < 8; k++) best = better(best, of_warps[k]);
        of_block = make_float2(best.score, __uint_as_float(best.token));
    }
    cluster_sync();
    if (part == 0 && threadIdx.x == 0) {
        for (u32 peer = 1; peer < 4; peer++) {
            const float2 other = load_remote2(map_shared(shared_address(&of_block), peer));
            best = better(best, {other.x, __float_as_uint(other.y)});
        }
        tokens[row] = best.token;
    }
    cluster_sync();
}
