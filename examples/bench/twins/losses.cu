// Losses, norms and optimizers of neural networks, with a row for each warp or block.

__device__ inline float largest_of_warp(float v) {
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, mask));
    return v;
}

KERNEL __launch_bounds__(256) cross_entropy(const float* __restrict__ logits, float* __restrict__ out, const int* __restrict__ labels, u32 columns) {
    const u32 row = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int label = labels[row];
    const float* values = logits + row * columns;
    float most = -__int_as_float(0x7f800000), sum = 0;
#pragma unroll 4
    for (u32 column = lane; column < columns; column += 32) most = fmaxf(most, values[column]);
    most = largest_of_warp(most);
#pragma unroll 4
    for (u32 column = lane; column < columns; column += 32) sum += __expf(values[column] - most);
    sum = reduced<32>(sum);
    if (lane == 0) out[row] = label >= 0 ? __logf(sum) + most - values[label] : 0;
}

KERNEL __launch_bounds__(256) cross_entropy_gradient(const float* __restrict__ logits, float* __restrict__ out, const int* __restrict__ labels, const float2* __restrict__ sums, u32 columns) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, row = i / columns, column = i % columns;
    const float2 s = sums[row];
    float p = __expf(logits[i] - s.x) / s.y;
    if (u32(labels[row]) == column) p -= 1;
    out[i] = p;
}

KERNEL __launch_bounds__(256) adam(const float4* __restrict__ gradients, float4* __restrict__ weights, float4* __restrict__ first, float4* __restrict__ second, u64 len, float rate) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= len / 4) return;
    const float4 g = gradients[i];
    float4 w = weights[i], m = first[i], v = second[i];
    auto step = [&](float g, float& w, float& m, float& v) {
        m = fmaf(0.9f, m - g, g);
        v = fmaf(0.999f, v - g * g, g * g);
        w -= rate * (m / (sqrtf(v) + 1e-8f) + 0.01f * w);
    };
    step(g.x, w.x, m.x, v.x), step(g.y, w.y, m.y, v.y), step(g.z, w.z, m.z, v.z), step(g.w, w.w, m.w, v.w);
    weights[i] = w, first[i] = m, second[i] = v;
}

__device__ inline float2 of_block(float a, float b, float2* of_warps) {
    a = reduced<32>(a), b = reduced<32>(b);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = {a, b};
    __syncthreads();
    float2 total = {};
#pragma unroll
    for (u32 k = 0; k < 8; k++) total.x += of_warps[k].x, total.y += of_warps[k].y;
    return total;
}

KERNEL __launch_bounds__(256) norm_gradient(const float4* __restrict__ input, float4* __restrict__ out, const float4* __restrict__ upstream, const float4* __restrict__ weight) {
    __shared__ float2 of_warps[8], more[8];
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    const float4 vx = input[i], vg = upstream[i], vw = weight[threadIdx.x];
    const float x[4] = {vx.x, vx.y, vx.z, vx.w}, g[4] = {vg.x * vw.x, vg.y * vw.y, vg.z * vw.z, vg.w * vw.w};
    float sum = 0, squares = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum += x[k], squares = fmaf(x[k], x[k], squares);
    const float2 s = of_block(sum, squares, of_warps);
    const float mean = s.x / 1024, scale = rsqrt_approx(s.y / 1024 - mean * mean + 1e-5f);
    float a = 0, b = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) a += g[k], b = fmaf(g[k], (x[k] - mean) * scale, b);
    const float2 t = of_block(a, b, more);
    auto result = [&](u32 k) { return scale * (g[k] - (t.x + (x[k] - mean) * scale * t.y) / 1024); };
    out[i] = {result(0), result(1), result(2), result(3)};
}

KERNEL __launch_bounds__(256) largest(const float* __restrict__ input, u32* __restrict__ out, u64 columns) {
    const u32 row = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float* values = input + row * columns;
    float best = -__int_as_float(0x7f800000);
    u32 at = 0;
#pragma unroll 4
    for (u32 column = lane; column < columns; column += 32) {
        const float v = values[column];
        if (v > best) best = v, at = column;
    }
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2) {
        const float v = __shfl_xor_sync(~0u, best, mask);
        const u32 there = __shfl_xor_sync(~0u, at, mask);
        if (v > best || (v == best && there < at)) best = v, at = there;
    }
    if (lane == 0) out[row] = at;
}
