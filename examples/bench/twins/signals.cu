// Signals: transforms of short pieces, filters with a state, and a change of the rate.
using u8 = unsigned char;

__device__ inline float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ inline float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ inline float2 operator*(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, fmaf(a.x, b.y, a.y * b.x)}; }

KERNEL __launch_bounds__(256) fourier(const float2* __restrict__ input, float* __restrict__ out, const float2* __restrict__ roots) {
    __shared__ float2 points[1024];
    const u32 i = threadIdx.x;
    const float2* signal = input + blockIdx.x * 1024ull;
    float* spectrum = out + blockIdx.x * 1024ull;
    float2 v[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) v[k] = signal[i + k * 256];
#pragma unroll
    for (u32 span = 1; span < 1024; span *= 4) {
        const u32 place = i % span;
#pragma unroll
        for (u32 k = 1; k < 4; k++) v[k] = v[k] * roots[k * place * (256 / span)];
        const float2 even = v[0] + v[2], odd = v[1] + v[3], evens = v[0] - v[2], odds = v[1] - v[3];
        const float2 turned = {odds.y, -odds.x};
        v[0] = even + odd, v[1] = evens + turned, v[2] = even - odd, v[3] = evens - turned;
        if (span < 256) {
            const u32 first = (i - place) * 4 + place;
#pragma unroll
            for (u32 k = 0; k < 4; k++) points[first + k * span] = v[k];
            __syncthreads();
#pragma unroll
            for (u32 k = 0; k < 4; k++) v[k] = points[i + k * 256];
            __syncthreads();
        }
    }
#pragma unroll
    for (u32 k = 0; k < 4; k++) spectrum[i + k * 256] = v[k].x * v[k].x + v[k].y * v[k].y;
}

__device__ inline void cosine_transform(float (&v)[8]) {
    constexpr float basis[8][8] = {
        {0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f, 0.3535534f},
        {0.4903926f, 0.4157348f, 0.2777851f, 0.0975452f, -0.0975452f, -0.2777851f, -0.4157348f, -0.4903926f},
        {0.4619398f, 0.1913417f, -0.1913417f, -0.4619398f, -0.4619398f, -0.1913417f, 0.1913417f, 0.4619398f},
        {0.4157348f, -0.0975452f, -0.4903926f, -0.2777851f, 0.2777851f, 0.4903926f, 0.0975452f, -0.4157348f},
        {0.3535534f, -0.3535534f, -0.3535534f, 0.3535534f, 0.3535534f, -0.3535534f, -0.3535534f, 0.3535534f},
        {0.2777851f, -0.4903926f, 0.0975452f, 0.4157348f, -0.4157348f, -0.0975452f, 0.4903926f, -0.2777851f},
        {0.1913417f, -0.4619398f, 0.4619398f, -0.1913417f, -0.1913417f, 0.4619398f, -0.4619398f, 0.1913417f},
        {0.0975452f, -0.2777851f, 0.4157348f, -0.4903926f, 0.4903926f, -0.4157348f, 0.2777851f, -0.0975452f}};
    float sums[8];
#pragma unroll
    for (u32 f = 0; f < 8; f++) {
        sums[f] = 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) sums[f] = fmaf(basis[f][k], v[k], sums[f]);
    }
#pragma unroll
    for (u32 f = 0; f < 8; f++) v[f] = sums[f];
}

KERNEL __launch_bounds__(256) cosines(const u8* __restrict__ pixels, short* __restrict__ out, const float* __restrict__ steps, u64 width) {
    __shared__ float tile[32][8][9];
    const u32 i = threadIdx.x % 8, square = threadIdx.x / 8;
    const u32 across = width / 8, rank = blockIdx.x * 32 + square;
    const u32 first = rank / across * 8 * u32(width) + rank % across * 8;
    const u8* row = pixels + first + i * width;
    const uint2 eight = *reinterpret_cast<const uint2*>(row);
    float v[8];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        v[k] = float(eight.x >> 8 * k & 255) - 128;
        v[k + 4] = float(eight.y >> 8 * k & 255) - 128;
    }
    cosine_transform(v);
#pragma unroll
    for (u32 k = 0; k < 8; k++) tile[square][i][k] = v[k];
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < 8; k++) v[k] = tile[square][k][i];
    cosine_transform(v);
#pragma unroll
    for (u32 k = 0; k < 8; k++) out[first + k * u32(width) + i] = short(roundf(v[k] / steps[8 * k + i]));
}

struct Biquad {
    float b[3], a[2], state[2];
};

KERNEL __launch_bounds__(64) cascade(const float* __restrict__ recording, float* __restrict__ out, const Biquad* __restrict__ filters, u64 channels, u64 times) {
    const u32 channel = blockIdx.x * 64 + threadIdx.x;
    if (channel >= channels) return;
    Biquad stages[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) stages[k] = filters[channel * 4 + k];
    const float* from = recording + channel;
    float* to = out + channel;
#pragma unroll 4
    for (u32 time = 0; time < times; time++) {
        float x = *from;
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            Biquad& s = stages[k];
            const float y = fmaf(s.b[0], x, s.state[0]);
            s.state[0] = fmaf(s.b[1], x, s.state[1]) - s.a[0] * y;
            s.state[1] = s.b[2] * x - s.a[1] * y;
            x = y;
        }
        *to = x;
        from += channels;
        to += channels;
    }
}

KERNEL __launch_bounds__(256) resampled(const float* __restrict__ signal, float* __restrict__ out, const float* __restrict__ phases, u64 len) {
    __shared__ float taps[3][16];
    if (threadIdx.x < 48) taps[threadIdx.x / 16][threadIdx.x % 16] = phases[threadIdx.x];
    __syncthreads();
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= len) return;
    const u32 newest = i * 2 / 3, phase = i * 2 % 3;
    float sum = 0;
    if (newest >= 15) {
        const float* x = signal + newest;
#pragma unroll
        for (int k = 0; k < 16; k++) sum = fmaf(taps[phase][k], x[-k], sum);
    } else {
        for (u32 k = 0; k <= newest; k++) sum = fmaf(taps[phase][k], signal[newest - k], sum);
    }
    out[i] = sum;
}
