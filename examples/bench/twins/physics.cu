// Simulations: bodies, grids, sets of points.
using u8 = unsigned char;

KERNEL __launch_bounds__(256) bodies(const float4* __restrict__ places, float4* __restrict__ out, u32 count) {
    __shared__ float4 tile[256];
    const u32 at = blockIdx.x * 256 + threadIdx.x;
    const float4 own = places[at];
    float3 sum = {};
    for (u32 first = 0; first < count; first += 256) {
        tile[threadIdx.x] = places[first + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (u32 k = 0; k < 256; k++) {
            const float4 other = tile[k];
            const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            const float inverse = rsqrt_approx(fmaf(x, x, fmaf(y, y, fmaf(z, z, 1e-3f))));
            const float force = other.w * inverse * inverse * inverse;
            sum.x = fmaf(force, x, sum.x), sum.y = fmaf(force, y, sum.y), sum.z = fmaf(force, z, sum.z);
        }
        __syncthreads();
    }
    out[at] = {sum.x, sum.y, sum.z, 0};
}

KERNEL __launch_bounds__(256) diffusion(const float* __restrict__ input, float* __restrict__ out, u32 nx, u32 ny, u32 nz) {
    const u32 across = nx / 32, down = ny / 8, plane = nx * ny;
    const u32 x = blockIdx.x % across * 32 + threadIdx.x % 32, y = blockIdx.x / across % down * 8 + threadIdx.x / 32;
    const u32 first = blockIdx.x / across / down * 16, last = min(first + 16, nz);
    const bool inside = x > 0 && x + 1 < nx && y > 0 && y + 1 < ny;
#pragma unroll 4
    for (u32 z = first; z < last; z++) {
        const u32 at = z * plane + y * nx + x;
        const float cell = input[at];
        float next = cell;
        if (inside && z > 0 && z + 1 < nz) {
            const float around = input[at - 1] + input[at + 1] + input[at - nx] + input[at + nx] + input[at - plane] + input[at + plane];
            next = fmaf(0.1f, around - 6 * cell, cell);
        }
        out[at] = next;
    }
}

KERNEL __launch_bounds__(256) escapes(const float* __restrict__ corner, u32* __restrict__ out, u32 width, u32 most) {
    const u32 tiles = width / 16, x = blockIdx.x % tiles * 16 + threadIdx.x % 16, y = blockIdx.x / tiles * 16 + threadIdx.x / 16;
    const float scale = corner[2] / width, cx = fmaf(x, scale, corner[0]), cy = fmaf(y, scale, corner[1]);
    float a = 0, b = 0;
    u32 steps = 0;
    while (steps < most && a * a + b * b <= 4) {
        const float next = a * a - b * b + cx;
        b = fmaf(2 * a, b, cy);
        a = next;
        steps++;
    }
    out[y * width + x] = steps;
}

KERNEL __launch_bounds__(256) nearest(const float4* __restrict__ points, u32* __restrict__ out, const float4* __restrict__ centres, u64 count) {
    __shared__ float4 shared[64];
    if (threadIdx.x < 64) shared[threadIdx.x] = centres[threadIdx.x];
    __syncthreads();
    const u32 at = blockIdx.x * 256 + threadIdx.x;
    if (at >= count) return;
    const float4 p = points[2 * at], q = points[2 * at + 1];
    u32 best = 0;
    float least = __int_as_float(0x7f800000);
#pragma unroll 4
    for (u32 k = 0; k < 32; k++) {
        const float4 c = shared[2 * k], d = shared[2 * k + 1];
        float distance = (p.x - c.x) * (p.x - c.x);
        distance = fmaf(p.y - c.y, p.y - c.y, distance), distance = fmaf(p.z - c.z, p.z - c.z, distance);
        distance = fmaf(p.w - c.w, p.w - c.w, distance), distance = fmaf(q.x - d.x, q.x - d.x, distance);
        distance = fmaf(q.y - d.y, q.y - d.y, distance), distance = fmaf(q.z - d.z, q.z - d.z, distance);
        distance = fmaf(q.w - d.w, q.w - d.w, distance);
        if (distance < least) best = k, least = distance;
    }
    out[at] = best;
}

KERNEL __launch_bounds__(256) life(const u8* __restrict__ cells, u8* __restrict__ out, u32 width, u32 height) {
    const u32 tiles = width / 64, x = blockIdx.x % tiles * 64 + threadIdx.x % 64, y = blockIdx.x / tiles * 4 + threadIdx.x / 64;
    const u32 rows[3] = {(y + height - 1) % height, y, (y + 1) % height}, columns[3] = {(x + width - 1) % width, x, (x + 1) % width};
    u32 alive = 0;
#pragma unroll
    for (u32 r = 0; r < 3; r++)
#pragma unroll
        for (u32 c = 0; c < 3; c++) alive += cells[rows[r] * width + columns[c]];
    out[y * width + x] = alive == 3 || (alive == 4 && cells[y * width + x]);
}
