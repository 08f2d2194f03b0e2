// Pictures and shapes: filters that keep edges, colours, vertices that bones move, and the maxima of windows.

KERNEL __launch_bounds__(256) bilateral(const float* __restrict__ picture, float* __restrict__ out, u64 columns, u64 rows, float near, float alike) {
    __shared__ float tile[14][38];
    const u32 width = columns, height = rows, i = threadIdx.x, x = i % 32, y = i / 32;
    const u32 left = blockIdx.x % (width / 32) * 32, top = blockIdx.x / (width / 32) * 8;
    for (u32 k = i; k < 14 * 38; k += 256) {
        const u32 row = min(max(top + k / 38, 3) - 3, height - 1), column = min(max(left + k % 38, 3) - 3, width - 1);
        tile[k / 38][k % 38] = picture[row * width + column];
    }
    __syncthreads();
    const float own = tile[y + 3][x + 3];
    float sum = 0, weights = 0;
#pragma unroll
    for (int dy = -3; dy <= 3; dy++) {
#pragma unroll
        for (int dx = -3; dx <= 3; dx++) {
            const float other = tile[y + 3 + dy][x + 3 + dx], difference = other - own;
            const float weight = __expf(-(float(dx * dx + dy * dy) * near + difference * difference * alike));
            sum += weight * other;
            weights += weight;
        }
    }
    out[(top + y) * width + left + x] = sum / weights;
}

__device__ inline u32 byte_of(int x) { return min(max(x, 0), 255); }

KERNEL __launch_bounds__(256) planes(const u32* __restrict__ pixels, u32* __restrict__ out, u64 count) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, quads = count / 4;
    if (i >= quads) return;
    const u32 words[3] = {pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]};
    u32 luma = 0, bluish = 0, reddish = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        int c[3];
#pragma unroll
        for (u32 j = 0; j < 3; j++) c[j] = words[(3 * k + j) / 4] >> (3 * k + j) % 4 * 8 & 255;
        luma |= byte_of((77 * c[0] + 150 * c[1] + 29 * c[2] + 128) >> 8) << 8 * k;
        bluish |= byte_of(((128 * c[2] - 43 * c[0] - 85 * c[1] + 128) >> 8) + 128) << 8 * k;
        reddish |= byte_of(((128 * c[0] - 107 * c[1] - 21 * c[2] + 128) >> 8) + 128) << 8 * k;
    }
    out[i] = luma;
    out[quads + i] = bluish;
    out[2 * quads + i] = reddish;
}

__device__ inline float3 cross(float3 a, float3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ inline float3 turned(float4 q, float3 v) {
    const float3 axis = {q.x, q.y, q.z}, c = cross(axis, v), twice = {2 * c.x, 2 * c.y, 2 * c.z}, along = cross(axis, twice);
    return {v.x + q.w * twice.x + along.x, v.y + q.w * twice.y + along.y, v.z + q.w * twice.z + along.z};
}

KERNEL __launch_bounds__(256) skinned(const float4* __restrict__ vertices, float2* __restrict__ out, const float4* __restrict__ bones, u64 count) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    const float4 first = vertices[2 * i], second = vertices[2 * i + 1];
    const float3 place = {first.x, first.y, first.z}, normal = {second.x, second.y, second.z};
    const u32 chosen = __float_as_uint(first.w), weights = __float_as_uint(second.w);
    float3 p = {}, n = {};
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const u32 bone = chosen >> 8 * k & 255;
        const float weight = float(weights >> 8 * k & 255) / 255;
        const float4 turn = bones[2 * bone], shift = bones[2 * bone + 1];
        const float3 a = turned(turn, place), b = turned(turn, normal);
        p.x += weight * (a.x + shift.x), p.y += weight * (a.y + shift.y), p.z += weight * (a.z + shift.z);
        n.x += weight * b.x, n.y += weight * b.y, n.z += weight * b.z;
    }
    const float scale = rsqrtf(fmaxf(n.x * n.x + n.y * n.y + n.z * n.z, 1e-12f));
    out[3 * i] = {p.x, p.y};
    out[3 * i + 1] = {p.z, n.x * scale};
    out[3 * i + 2] = {n.y * scale, n.z * scale};
}

__device__ inline u32 larger_halves(u32 a, u32 b) {
    u32 c;
    asm("max.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
    return c;
}

KERNEL __launch_bounds__(128) pooled(const uint4* __restrict__ pictures, uint4* __restrict__ out, u64 rows, u64 columns, u64 channels) {
    const u32 i = blockIdx.x * 128 + threadIdx.x, height = rows, width = columns;
    const u32 groups = channels / 8, across = width / 2, down = height / 2;
    const u32 group = i % groups, x = i / groups % across, y = i / groups / across % down, picture = i / groups / across / down;
    uint4 most = {0xfc00fc00, 0xfc00fc00, 0xfc00fc00, 0xfc00fc00};
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const u32 row = 2 * y + dy, column = 2 * x + dx;
            if (row < height && column < width) {
                const uint4 v = pictures[((picture * height + row) * width + column) * groups + group];
                most.x = larger_halves(most.x, v.x), most.y = larger_halves(most.y, v.y);
                most.z = larger_halves(most.z, v.z), most.w = larger_halves(most.w, v.w);
            }
        }
    }
    out[i] = most;
}
