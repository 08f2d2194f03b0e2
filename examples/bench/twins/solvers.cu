// Numbers by the million: prices of options, random paths, factors of small matrices, ways through small graphs.

__device__ inline float normal(float x) {
    const float t = 1 / (1 + 0.2316419f * fabsf(x));
    float polynomial = fmaf(1.3302745f, t, -1.8212559f);
    polynomial = fmaf(polynomial, t, 1.7814779f);
    polynomial = fmaf(polynomial, t, -0.35656378f);
    polynomial = fmaf(polynomial, t, 0.31938153f);
    const float tail = 0.3989423f * __expf(-0.5f * x * x) * polynomial * t;
    return x > 0 ? 1 - tail : tail;
}

KERNEL __launch_bounds__(256) options(const float4* __restrict__ contracts, float2* __restrict__ prices, u64 count, float rate) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    const float4 c = contracts[i];
    const float spot = c.x, strike = c.y, years = c.z, volatility = c.w;
    const float spread = volatility * sqrtf(years);
    const float upper = (__logf(spot / strike) + (0.5f * volatility * volatility + rate) * years) / spread;
    const float owed = strike * __expf(-rate * years);
    const float call = spot * normal(upper) - owed * normal(upper - spread);
    prices[i] = {call, call - spot + owed};
}

__device__ inline uint4 philox(uint4 x, u32 key0, u32 key1) {
#pragma unroll
    for (u32 round = 0; round < 10; round++) {
        const u32 a = x.x * 0xd2511f53, b = x.z * 0xcd9e8d57;
        x = {__umulhi(x.z, 0xcd9e8d57) ^ x.y ^ key0, b, __umulhi(x.x, 0xd2511f53) ^ x.w ^ key1, a};
        key0 += 0x9e3779b9, key1 += 0xbb67ae85;
    }
    return x;
}
__device__ inline float unit(u32 bits) { return (float(bits >> 9) + 0.5f) * 0x1p-23f; }
__device__ inline float2 normals(u32 a, u32 b) {
    const float radius = sqrtf(-2 * __logf(unit(a))), angle = 6.2831853f * unit(b) - 3.1415927f;
    return {radius * __cosf(angle), radius * __sinf(angle)};
}

KERNEL __launch_bounds__(256) paths(const float4* __restrict__ contracts, float* __restrict__ prices, float rate, u32 seed) {
    __shared__ float of_warps[8];
    const float4 c = contracts[blockIdx.x];
    const float spot = c.x, strike = c.y, years = c.z, volatility = c.w;
    const float step = years / 32, drift = (rate - 0.5f * volatility * volatility) * step, spread = volatility * sqrtf(step);
    float paid = 0;
    for (u32 path = threadIdx.x; path < 4096; path += 256) {
        float logarithm = 0, total = 0;
#pragma unroll 2
        for (u32 k = 0; k < 8; k++) {
            const uint4 bits = philox({k, path, 0, 0}, seed, blockIdx.x);
            const float2 low = normals(bits.x, bits.y), high = normals(bits.z, bits.w);
            const float four[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
            for (u32 j = 0; j < 4; j++) {
                logarithm += fmaf(spread, four[j], drift);
                total += __expf(logarithm);
            }
        }
        paid += fmaxf(spot * total / 32 - strike, 0);
    }
    paid = reduced<32>(paid);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = paid;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) sum += of_warps[k];
        prices[blockIdx.x] = __expf(-rate * years) * (sum / 4096);
    }
}

KERNEL __launch_bounds__(128) cholesky(const float4* __restrict__ matrices, float4* __restrict__ factors) {
    const u32 at = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 16;
    float row[16];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const float4 v = matrices[at * 4 + k];
        row[4 * k] = v.x, row[4 * k + 1] = v.y, row[4 * k + 2] = v.z, row[4 * k + 3] = v.w;
    }
#pragma unroll
    for (u32 k = 0; k < 16; k++) {
        const float pivot = sqrtf(__shfl_sync(~0u, row[k], k, 16));
        row[k] = lane == k ? pivot : row[k] / pivot;
#pragma unroll
        for (u32 j = k + 1; j < 16; j++) row[j] -= row[k] * __shfl_sync(~0u, row[k], j, 16);
    }
#pragma unroll
    for (u32 k = 0; k < 16; k++)
        if (k > lane) row[k] = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) factors[at * 4 + k] = {row[4 * k], row[4 * k + 1], row[4 * k + 2], row[4 * k + 3]};
}

KERNEL __launch_bounds__(256) shortest(const float* __restrict__ edges, float* __restrict__ lengths) {
    __shared__ float ways[64][64];
    const u32 to = threadIdx.x % 64, top = threadIdx.x / 64;
    const float* in = edges + blockIdx.x * 4096;
    float* out = lengths + blockIdx.x * 4096;
#pragma unroll
    for (u32 k = 0; k < 16; k++) ways[top + 4 * k][to] = in[k * 256 + threadIdx.x];
    __syncthreads();
    for (u32 via = 0; via < 64; via++) {
        const float rest = ways[via][to];
#pragma unroll
        for (u32 k = 0; k < 16; k++) {
            const float detour = ways[top + 4 * k][via] + rest;
            if (detour < ways[top + 4 * k][to]) ways[top + 4 * k][to] = detour;
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 k = 0; k < 16; k++) out[k * 256 + threadIdx.x] = ways[top + 4 * k][to];
}
