// Meshes, particles and rays.

KERNEL __launch_bounds__(256) lattice(const float* __restrict__ before, float* __restrict__ after, u32 width, u32 height, float rate) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, cells = width * height;
    if (i >= cells) return;
    constexpr int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    constexpr float weights[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    const u32 x = i % width, y = i / width;
    const u32 columns[3] = {x == 0 ? width - 1 : x - 1, x, x + 1 == width ? 0 : x + 1};
    const u32 rows[3] = {(y == 0 ? height - 1 : y - 1) * width, y * width, (y + 1 == height ? 0 : y + 1) * width};
    float f[9], density = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        f[k] = before[k * cells + rows[1 - dy[k]] + columns[1 - dx[k]]];
        density += f[k];
        ux += f[k] * dx[k];
        uy += f[k] * dy[k];
    }
    ux /= density;
    uy /= density;
    const float square = ux * ux + uy * uy;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        const float along = ux * dx[k] + uy * dy[k];
        const float balanced = weights[k] * density * (1 + 3 * along + 4.5f * along * along - 1.5f * square);
        after[k * cells + i] = f[k] + rate * (balanced - f[k]);
    }
}

KERNEL __launch_bounds__(256) elements(const float* __restrict__ values, float* __restrict__ out, const uint4* __restrict__ cubes, const float* __restrict__ coefficients, u64 count) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    const uint4 low = cubes[i * 2], high = cubes[i * 2 + 1];
    const u32 nodes[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    const float coefficient = coefficients[i];
    float local[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) local[k] = values[nodes[k]];
#pragma unroll
    for (u32 a = 0; a < 8; a++) {
        float flux = 0;
#pragma unroll
        for (u32 b = 0; b < 8; b++) {
            const u32 apart = (a ^ b) & 1, further = apart + ((a ^ b) >> 1 & 1) + ((a ^ b) >> 2);
            const float k = further == 0 ? 1.f / 3 : further == 1 ? 0.f : -1.f / 12;
            flux += k * local[b];
        }
        atomicAdd(&out[nodes[a]], coefficient * flux);
    }
}

KERNEL __launch_bounds__(128) densities(const float4* __restrict__ particles, float* __restrict__ out, const u32* __restrict__ starts, u64 edge, u64 count) {
    const u32 i = blockIdx.x * 128 + threadIdx.x;
    if (i >= count) return;
    const float4 own = particles[i];
    const u32 e = edge, x = own.x, y = own.y, z = own.z;
    float density = 0;
    for (u32 plane = z - 1; plane <= z + 1; plane++) {
        for (u32 row = y - 1; row <= y + 1; row++) {
            const u32 cell = (plane * e + row) * e + x;
            const u32 end = starts[cell + 2];
            for (u32 k = starts[cell - 1]; k < end; k++) {
                const float4 other = particles[k];
                const float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
                const float inside = 1 - (dx * dx + dy * dy + dz * dz);
                if (inside > 0) density += other.w * (inside * inside * inside);
            }
        }
    }
    out[i] = density;
}

struct Vec {
    float x, y, z;
};
__device__ inline Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
__device__ inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

struct Ray {
    Vec origin, direction;
};
struct Triangle {
    Vec corner, first, second;
};

KERNEL __launch_bounds__(128) rays(const Ray* __restrict__ rays, float* __restrict__ out, const Triangle* __restrict__ triangles, u64 count) {
    __shared__ Triangle tile[128];
    const u32 i = blockIdx.x * 128 + threadIdx.x;
    const Ray ray = rays[i];
    const float far = __int_as_float(0x7f800000);
    float nearest = far;
    for (u32 begin = 0; begin < count; begin += 128) {
        const u32 size = min(128u, u32(count) - begin);
        if (threadIdx.x < size) tile[threadIdx.x] = triangles[begin + threadIdx.x];
        __syncthreads();
        for (u32 k = 0; k < size; k++) {
            const Triangle& t = tile[k];
            const Vec normal = cross(ray.direction, t.second);
            const float scale = dot(t.first, normal);
            if (fabsf(scale) < 1e-8f) continue;
            const Vec to = ray.origin - t.corner;
            const float u = dot(to, normal) / scale;
            const Vec across = cross(to, t.first);
            const float v = dot(ray.direction, across) / scale;
            const float distance = dot(t.second, across) / scale;
            if (u >= 0 && v >= 0 && u + v <= 1 && distance > 0) nearest = fminf(nearest, distance);
        }
        __syncthreads();
    }
    out[i] = nearest < far ? nearest : -1;
}
