// Filters of images: a row of pixels for each warp, eight rows for each block.
using u8 = unsigned char;

__device__ inline uint2 pixel(u32 width) {
    const u32 tiles = width / 32;
    return {blockIdx.x % tiles * 32 + threadIdx.x % 32, blockIdx.x / tiles * 8 + threadIdx.x / 32};
}

KERNEL __launch_bounds__(256) blur(const float* __restrict__ input, float* __restrict__ out, const float* __restrict__ weights, int width, int height) {
    const auto [x, y] = pixel(width);
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 5; dy++) {
        const int row = min(max(int(y) + dy - 2, 0), height - 1);
#pragma unroll
        for (int dx = 0; dx < 5; dx++) {
            const int column = min(max(int(x) + dx - 2, 0), width - 1);
            sum = fmaf(weights[dy * 5 + dx], input[row * width + column], sum);
        }
    }
    out[y * width + x] = sum;
}

KERNEL __launch_bounds__(256) convolution(const float* __restrict__ input, float* __restrict__ out, const float* __restrict__ weights, int width, int height) {
    const auto [x, y] = pixel(width);
    float sum = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++)
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const int column = int(x) + dx, row = int(y) + dy;
            if (column >= 0 && column < width && row >= 0 && row < height)
                sum = fmaf(weights[(dy + 1) * 3 + dx + 1], input[row * width + column], sum);
        }
    out[y * width + x] = sum;
}

KERNEL __launch_bounds__(256) sobel(const u8* __restrict__ input, float* __restrict__ out, u32 width, u32 height) {
    const auto [x, y] = pixel(width);
    float length = 0;
    if (x > 0 && y > 0 && x + 1 < width && y + 1 < height) {
        const u8 *above = input + (y - 1) * width + x, *here = above + width, *below = here + width;
        const int across = above[1] + 2 * here[1] + below[1] - above[-1] - 2 * here[-1] - below[-1];
        const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
        length = sqrtf(float(across * across + down * down));
    }
    out[y * width + x] = length;
}

KERNEL __launch_bounds__(256) median(const float* __restrict__ input, float* __restrict__ out, u32 width, u32 height) {
    const auto [x, y] = pixel(width);
    const u32 columns[3] = {x ? x - 1 : 0, x, min(x + 1, width - 1)}, rows[3] = {y ? y - 1 : 0, y, min(y + 1, height - 1)};
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = input[rows[k / 3] * width + columns[k % 3]];
    auto order = [&](int a, int b) {
        const float low = fminf(v[a], v[b]);
        v[b] = fmaxf(v[a], v[b]);
        v[a] = low;
    };
    order(1, 2), order(4, 5), order(7, 8), order(0, 1), order(3, 4), order(6, 7), order(1, 2), order(4, 5), order(7, 8), order(0, 3);
    order(5, 8), order(4, 7), order(3, 6), order(1, 4), order(2, 5), order(4, 7), order(4, 2), order(6, 4), order(4, 2);
    out[y * width + x] = v[4];
}

KERNEL __launch_bounds__(256) resize(const float* __restrict__ input, float* __restrict__ out, u32 width, u32 height) {
    const auto [x, y] = pixel(2 * width);
    const float across = fmaxf((x + 0.5f) * 0.5f - 0.5f, 0), down = fmaxf((y + 0.5f) * 0.5f - 0.5f, 0);
    const u32 left = across, top = down, right = min(left + 1, width - 1), bottom = min(top + 1, height - 1);
    const float a = across - left, b = down - top;
    auto mix = [](float from, float to, float part) { return fmaf(part, to - from, from); };
    const float upper = mix(input[top * width + left], input[top * width + right], a);
    const float lower = mix(input[bottom * width + left], input[bottom * width + right], a);
    out[y * (2 * width) + x] = mix(upper, lower, b);
}

KERNEL __launch_bounds__(256) mean(const float* __restrict__ input, float* __restrict__ out, int width, int height) {
    __shared__ float tile[16][40];
    const int tiles = width / 32, i = threadIdx.x;
    const int left = blockIdx.x % tiles * 32 - 4, top = blockIdx.x / tiles * 8 - 4;
    for (int at = i; at < 40 * 16; at += 256) {
        const int x = left + at % 40, y = top + at / 40;
        tile[at / 40][at % 40] = x >= 0 && x < width && y >= 0 && y < height ? input[y * width + x] : 0;
    }
    __syncthreads();
    const int x = i % 32, y = i / 32;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 9; dy++)
#pragma unroll
        for (int dx = 0; dx < 9; dx++) sum += tile[y + dy][x + dx];
    out[(top + 4 + y) * width + left + 4 + x] = sum / 81;
}
