// Steps of language models beside products and attention.
__device__ inline float softplus(float x) { return x > 20 ? x : __logf(1 + __expf(x)); }

KERNEL __launch_bounds__(128) selective(const float* __restrict__ input, float* __restrict__ out, const float* __restrict__ widths, const float4* __restrict__ rates, const float4* __restrict__ inward, const float4* __restrict__ outward, u64 channels, u64 times) {
    const u32 channel = blockIdx.x * 128 + threadIdx.x;
    if (channel >= channels) return;
    float rate[16], state[16] = {};
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const float4 v = rates[channel * 4 + k];
        rate[4 * k] = v.x, rate[4 * k + 1] = v.y, rate[4 * k + 2] = v.z, rate[4 * k + 3] = v.w;
    }
#pragma unroll 2
    for (u32 time = 0; time < times; time++) {
        const u64 at = time * channels + channel;
        const float x = input[at], width = softplus(widths[at]);
        float y = 0;
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            const float4 b = inward[time * 4 + k], c = outward[time * 4 + k];
            const float into[4] = {b.x, b.y, b.z, b.w}, from[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
            for (u32 j = 0; j < 4; j++) {
                float& s = state[4 * k + j];
                s = fmaf(s, __expf(width * rate[4 * k + j]), width * x * into[j]);
                y = fmaf(s, from[j], y);
            }
        }
        out[at] = y;
    }
}

__device__ inline float half_bits(u32 bits) {
    float value;
    asm("{.reg .b16 h;\n cvt.u16.u32 h, %1;\n cvt.f32.f16 %0, h;}" : "=f"(value) : "r"(bits));
    return value;
}

KERNEL __launch_bounds__(256) four_bits(const uint4* __restrict__ weights, float* __restrict__ out, const u32* __restrict__ scales, const float4* __restrict__ vector, u64 columns) {
    const u32 row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint4* words = weights + row * (columns / 32);
    const u32* of_groups = scales + row * (columns / 128);
    float sum = 0;
#pragma unroll 2
    for (u32 i = lane; i < columns / 32; i += 32) {
        const u32 group = of_groups[i / 4];
        const float scale = half_bits(group & 0xffff), zero = group >> 16;
        const uint4 v = words[i];
        const u32 four[4] = {v.x, v.y, v.z, v.w};
        float part = 0;
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            const float4 a = vector[i * 8 + 2 * k], b = vector[i * 8 + 2 * k + 1];
            const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
            for (u32 j = 0; j < 8; j++) part = fmaf(float(four[k] >> 4 * j & 15) - zero, x[j], part);
        }
        sum = fmaf(scale, part, sum);
    }
    sum = reduced<32>(sum);
    if (lane == 0) out[row] = sum;
}

KERNEL __launch_bounds__(128) heads(const u32* __restrict__ input, u32* __restrict__ out, const u32* __restrict__ weights, const float4* __restrict__ angles, u64 heads) {
    const u32 rank = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, position = rank / u32(heads);
    const u32 first = input[rank * 64 + lane], second = input[rank * 64 + 32 + lane];
    float squares = low(first) * low(first) + high(first) * high(first) + low(second) * low(second) + high(second) * high(second);
    // Neighbours first, as Phalanx does: a sum that differs in its last bit would round some results differently.
#pragma unroll
    for (u32 mask = 1; mask < 32; mask *= 2) squares += __shfl_xor_sync(~0u, squares, mask);
    const float scale = rsqrt_approx(squares / 128 + 1e-6f);
    const u32 wa = weights[lane], wb = weights[32 + lane];
    const float4 angle = angles[position * 32 + lane];
    const float a0 = low(first) * scale * low(wa), a1 = high(first) * scale * high(wa);
    const float b0 = low(second) * scale * low(wb), b1 = high(second) * scale * high(wb);
    out[rank * 64 + lane] = packed(a0 * angle.x - b0 * angle.y, a1 * angle.z - b1 * angle.w);
    out[rank * 64 + 32 + lane] = packed(b0 * angle.x + a0 * angle.y, b1 * angle.z + a1 * angle.w);
}

KERNEL __launch_bounds__(256) drafts(const float* __restrict__ wanted, float* __restrict__ out, const float* __restrict__ drafted, const u32* __restrict__ tokens, const float* __restrict__ chances, u64 vocabulary) {
    __shared__ float of_warps[8];
    const u32 draft = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 kept = 8;
#pragma unroll
    for (int place = 7; place >= 0; place--) {
        const u64 i = (draft * 8 + place) * vocabulary + tokens[draft * 8 + place];
        if (chances[draft * 8 + place] * drafted[i] > wanted[i]) kept = place;
    }
    float left = 0;
    if (kept < 8) {
        const float *p = wanted + (draft * 8 + kept) * vocabulary, *q = drafted + (draft * 8 + kept) * vocabulary;
#pragma unroll 4
        for (u32 token = threadIdx.x; token < vocabulary; token += 256) left += fmaxf(p[token] - q[token], 0);
    }
    left = reduced<32>(left);
    if (lane == 0) of_warps[warp] = left;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) sum += of_warps[k];
        out[2 * draft] = kept;
        out[2 * draft + 1] = sum;
    }
}
