// Dense linear algebra in f32, without tensor cores.

__device__ inline void copy_16(u32 to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

KERNEL __launch_bounds__(256) product(const float* __restrict__ a, float* __restrict__ c, const float* __restrict__ b, u64 n, u64 k) {
    __shared__ alignas(16) float of_a[2][64][16];
    __shared__ alignas(16) float of_b[2][16][64];
    const u32 i = threadIdx.x, tiles = n / 64, top = blockIdx.x / tiles * 64, left = blockIdx.x % tiles * 64;
    const u32 row = i / 16 * 4, column = i % 16 * 4;
    const float* from_a = a + (top + i / 4) * k + i % 4 * 4;
    const float* from_b = b + i / 16 * n + left + i % 16 * 4;
    const u32 to_a = shared_address(&of_a[0][i / 4][i % 4 * 4]), to_b = shared_address(&of_b[0][i / 16][i % 16 * 4]);
    float sums[4][4] = {};
    auto fetch = [&](u32 stage, u32 start) {
        copy_16(to_a + stage * sizeof(of_a[0]), from_a + start);
        copy_16(to_b + stage * sizeof(of_b[0]), from_b + start * n);
    };
    fetch(0, 0);
    for (u32 start = 0; start < k; start += 16) {
        const u32 now = start / 16 % 2;
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (start + 16 < k) fetch(1 - now, start + 16);
#pragma unroll
        for (u32 d = 0; d < 16; d++) {
            const float4 y = *reinterpret_cast<const float4*>(&of_b[now][d][column]);
#pragma unroll
            for (u32 r = 0; r < 4; r++) {
                const float x = of_a[now][row + r][d];
                sums[r][0] = fmaf(x, y.x, sums[r][0]), sums[r][1] = fmaf(x, y.y, sums[r][1]);
                sums[r][2] = fmaf(x, y.z, sums[r][2]), sums[r][3] = fmaf(x, y.w, sums[r][3]);
            }
        }
    }
#pragma unroll
    for (u32 r = 0; r < 4; r++)
        *reinterpret_cast<float4*>(c + (top + row + r) * n + left + column) = {sums[r][0], sums[r][1], sums[r][2], sums[r][3]};
}

KERNEL __launch_bounds__(128) times_vector(const float* __restrict__ a, float* __restrict__ y, const float4* __restrict__ x, u64 columns) {
    __shared__ float of_warps[4];
    const float4* row = reinterpret_cast<const float4*>(a + blockIdx.x * columns);
    float sum = 0;
#pragma unroll 4
    for (u32 at = threadIdx.x; at < columns / 4; at += 128) {
        const float4 v = row[at], w = x[at];
        sum = fmaf(v.w, w.w, fmaf(v.z, w.z, fmaf(v.y, w.y, fmaf(v.x, w.x, sum))));
    }
    sum = reduced<32>(sum);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = of_warps[0] + of_warps[1] + of_warps[2] + of_warps[3];
}

KERNEL __launch_bounds__(256) transposed_times_vector(const float* __restrict__ a, float* __restrict__ y, const float* __restrict__ x, u32 columns) {
    const u32 parts = columns / 256, column = blockIdx.x % parts * 256 + threadIdx.x, first = blockIdx.x / parts * 256;
    float sum = 0;
#pragma unroll 8
    for (u32 row = first; row < first + 256; row++) sum = fmaf(a[row * columns + column], x[row], sum);
    atomicAdd(y + column, sum);
}

KERNEL __launch_bounds__(256) distances(const float* __restrict__ points, float* __restrict__ out, u64 count) {
    __shared__ float ours[16][33], theirs[16][33];
    const u32 i = threadIdx.x, tiles = count / 16, top = blockIdx.x / tiles * 16, left = blockIdx.x % tiles * 16;
#pragma unroll
    for (u32 at = i; at < 512; at += 256) {
        ours[at / 32][at % 32] = points[(top + at / 32) * 32 + at % 32];
        theirs[at / 32][at % 32] = points[(left + at / 32) * 32 + at % 32];
    }
    __syncthreads();
    const u32 x = i % 16, y = i / 16;
    float sum = 0;
#pragma unroll
    for (u32 axis = 0; axis < 32; axis++) {
        const float difference = ours[y][axis] - theirs[x][axis];
        sum = fmaf(difference, difference, sum);
    }
    out[(top + y) * count + left + x] = sum;
}

KERNEL __launch_bounds__(256) batched(const float* __restrict__ a, float* __restrict__ c, const float* __restrict__ b) {
    const u32 lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    const u64 first = (blockIdx.x * u64(256) + threadIdx.x) / 32 * 64;
    float2 sums = {};
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const float x = a[first + row * 8 + k];
        const float2 y = *reinterpret_cast<const float2*>(b + first + k * 8 + column);
        sums.x = fmaf(x, y.x, sums.x), sums.y = fmaf(x, y.y, sums.y);
    }
    *reinterpret_cast<float2*>(c + first + row * 8 + column) = sums;
}
