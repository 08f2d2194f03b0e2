// Sequences: operations along the time, with the channels side by side.

KERNEL __launch_bounds__(128) causal(const float* __restrict__ input, float* __restrict__ out, const float4* __restrict__ weights, u64 channels, u64 steps) {
    const u32 parts = channels / 128, channel = blockIdx.x % parts * 128 + threadIdx.x, first = blockIdx.x / parts * 64;
    const float4 w = weights[channel];
    const float* in = input + channel;
    float* to = out + channel;
    float a = first >= 3 ? in[(first - 3) * channels] : 0, b = first >= 2 ? in[(first - 2) * channels] : 0;
    float c = first >= 1 ? in[(first - 1) * channels] : 0;
    const u32 end = min(u64(first + 64), steps);
#pragma unroll 16
    for (u32 step = first; step < end; step++) {
        const float x = in[step * channels];
        to[step * channels] = fmaf(w.z, c, fmaf(w.y, b, fmaf(w.x, a, w.w * x)));
        a = b, b = c, c = x;
    }
}

KERNEL __launch_bounds__(256) rotary(const float* __restrict__ input, float* __restrict__ out, const float* __restrict__ cosines, const float* __restrict__ sines, u32 heads, u32 half) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, pair = i % half, row = i / half, step = row / heads;
    const float c = cosines[step * half + pair], s = sines[step * half + pair];
    const u32 at = row * (2 * half) + pair;
    const float a = input[at], b = input[at + half];
    out[at] = a * c - b * s;
    out[at + half] = fmaf(b, c, a * s);
}

KERNEL __launch_bounds__(64) averages(const float* __restrict__ input, float* __restrict__ out, u32 channels, u32 steps, float decay) {
    const u32 channel = blockIdx.x * 64 + threadIdx.x;
    if (channel >= channels) return;
    float state = 0;
#pragma unroll 8
    for (u32 step = 0; step < steps; step++) {
        const float x = input[step * channels + channel];
        state = fmaf(decay, state - x, x);
        out[step * channels + channel] = state;
    }
}

KERNEL __launch_bounds__(256) quantized(const float* __restrict__ input, char4* __restrict__ out, float* __restrict__ scales, u64 columns) {
    const u32 lane = threadIdx.x % 32;
    const u64 row = (blockIdx.x * 256 + threadIdx.x) / 32;
    const float4* values = reinterpret_cast<const float4*>(input + row * columns);
    float most = 0;
    for (u32 at = lane; at < columns / 4; at += 32) {
        const float4 v = values[at];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, mask));
    const float scale = most > 0 ? 127 / most : 0;
    if (lane == 0) scales[row] = most / 127;
    auto rounded = [&](float x) { return static_cast<signed char>(__float2int_rn(x * scale)); };
    for (u32 at = lane; at < columns / 4; at += 32) {
        const float4 v = values[at];
        out[row * (columns / 4) + at] = {rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w)};
    }
}

KERNEL __launch_bounds__(256) gated(const float* __restrict__ input, float* __restrict__ out, u64 len, u64 width) {
    for (u32 i = blockIdx.x * 256 + threadIdx.x; i < len; i += gridDim.x * 256) {
        const u32 row = i / u32(width), column = i % u32(width);
        const float a = input[row * 2 * width + column], b = input[row * 2 * width + width + column];
        out[i] = a / (1 + __expf(-a)) * b;
    }
}
