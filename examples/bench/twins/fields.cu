// Fields on lines, planes and in space: tridiagonal systems, wavelets, relaxation in two colours, light through fog.

KERNEL __launch_bounds__(512) tridiagonal(const float4* __restrict__ systems, float* __restrict__ out) {
    __shared__ float4 equations[2][512];
    const u32 i = threadIdx.x;
    const u64 at = blockIdx.x * 512ull + i;
    float4 own = systems[at];
    // The arrays take turns, so that one barrier is enough for each step.
#pragma unroll
    for (u32 step = 0; step < 9; step++) {
        const u32 reach = 1u << step;
        float4* now = equations[step % 2];
        now[i] = own;
        __syncthreads();
        const float4 above = i >= reach ? now[i - reach] : make_float4(0, 1, 0, 0);
        const float4 below = i + reach < 512 ? now[i + reach] : make_float4(0, 1, 0, 0);
        const float a = -own.x / above.y, b = -own.z / below.y;
        own = make_float4(a * above.x, fmaf(b, below.x, fmaf(a, above.z, own.y)), b * below.z, fmaf(b, below.w, fmaf(a, above.w, own.w)));
    }
    out[at] = own.w / own.y;
}

template <bool ODD, u32 HALF> __device__ inline void lift(float* to, const float* from, float weight) {
#pragma unroll
    for (u32 i = threadIdx.x; i < HALF; i += 256) {
        const u32 beside = ODD ? min(i + 1, HALF - 1) : max(i, 1) - 1;
        to[i] += weight * (from[i] + from[beside]);
    }
    __syncthreads();
}
template <u32 HALF> __device__ inline void level(float* even, float* odd, float* smooth, float* out) {
#pragma unroll
    for (u32 i = threadIdx.x; i < HALF; i += 256) {
        const float2 pair = reinterpret_cast<const float2*>(smooth)[i];
        even[i] = pair.x;
        odd[i] = pair.y;
    }
    __syncthreads();
    lift<true, HALF>(odd, even, -1.5861343f);
    lift<false, HALF>(even, odd, -0.05298012f);
    lift<true, HALF>(odd, even, 0.8829111f);
    lift<false, HALF>(even, odd, 0.44350685f);
    const float norm = 1.2301741f;
#pragma unroll
    for (u32 i = threadIdx.x; i < HALF; i += 256) {
        smooth[i] = even[i] * (1 / norm);
        out[HALF + i] = odd[i] * norm;
    }
    __syncthreads();
}

KERNEL __launch_bounds__(256) wavelets(const float4* __restrict__ signals, float* __restrict__ out) {
    __shared__ __align__(16) float smooth[2048];
    __shared__ float even[1024], odd[1024];
#pragma unroll
    for (u32 k = 0; k < 2; k++) reinterpret_cast<float4*>(smooth)[k * 256 + threadIdx.x] = signals[blockIdx.x * 512ull + k * 256 + threadIdx.x];
    __syncthreads();
    float* to = out + blockIdx.x * 2048ull;
    level<1024>(even, odd, smooth, to);
    level<512>(even, odd, smooth, to);
    level<256>(even, odd, smooth, to);
    to[threadIdx.x] = smooth[threadIdx.x];
}

KERNEL __launch_bounds__(256) relaxed(const float2* __restrict__ plates, float2* __restrict__ out, u32 steps, float rate) {
    __shared__ float cells[2][32][64];
    const u32 part = cluster_rank(), x = threadIdx.x % 64, top = threadIdx.x / 64 * 8;
    const float2* from = plates + blockIdx.x * 2048ull + x;
    float2* to = out + blockIdx.x * 2048ull + x;
    // The cells of this thread stay in its registers as well.
    float own[2][8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const float2 pair = from[(top + k) * 64];
        own[0][k] = cells[0][top + k][x] = k % 2 ? pair.y : pair.x;
        own[1][k] = cells[1][top + k][x] = k % 2 ? pair.x : pair.y;
    }
    cluster_sync();
    const u32 above = map_shared(shared_address(&cells[0][31][x]), part == 0 ? 0 : part - 1);
    const u32 below = map_shared(shared_address(&cells[0][0][x]), part == 3 ? 3 : part + 1);
    const bool begins = part == 0 && top == 0, ends = part == 3 && top == 24;
    for (u32 step = 0; step < steps; step++) {
#pragma unroll
        for (u32 colour = 0; colour < 2; colour++) {
            const u32 other = 1 - colour;
            const float first = top == 0 ? load_remote(above + other * 8192) : cells[other][top - 1][x];
            const float last = top == 24 ? load_remote(below + other * 8192) : cells[other][top + 8][x];
#pragma unroll
            for (u32 k = 0; k < 8; k++) {
                const bool right = (k + colour) % 2;
                const bool border = (right ? x == 63 : x == 0) || (k == 0 && begins) || (k == 7 && ends);
                if (!border) {
                    const float up = k == 0 ? first : own[other][k - 1], down = k == 7 ? last : own[other][k + 1];
                    const float beside = cells[other][top + k][right ? x + 1 : x - 1];
                    const float mean = 0.25f * (up + down + own[other][k] + beside);
                    own[colour][k] += rate * (mean - own[colour][k]);
                    cells[colour][top + k][x] = own[colour][k];
                }
            }
            cluster_sync();
        }
    }
#pragma unroll
    for (u32 k = 0; k < 8; k++) to[(top + k) * 64] = k % 2 ? make_float2(own[1][k], own[0][k]) : make_float2(own[0][k], own[1][k]);
}

__device__ inline float mixed(float a, float b, float t) { return fmaf(b - a, t, a); }

KERNEL __launch_bounds__(256) fog(const float* __restrict__ volume, float2* __restrict__ out, u64 edge, u64 width, u32 steps) {
    const u32 wide = width, across = wide / 16, n = edge;
    const u32 x = blockIdx.x % across * 16 + threadIdx.x % 16, y = blockIdx.x / across * 16 + threadIdx.x / 16;
    const float size = n, most = n - 1;
    float dx = (x + 0.5f) / wide - 0.5f, dy = (y + 0.5f) / wide - 0.5f, dz = 1;
    const float length = sqrtf(dx * dx + dy * dy + dz * dz);
    dx /= length, dy /= length, dz /= length;
    const float px = fmaf(dx, size, 0.5f * size), py = fmaf(dy, size, 0.4f * size), pz = fmaf(dz, size, -size);
    float brought = 0, passed = 1;
    for (u32 step = 0; step < steps; step++) {
        const float t = step;
        const float ax = fminf(fmaxf(fmaf(dx, t, px), 0), most), ay = fminf(fmaxf(fmaf(dy, t, py), 0), most), az = fminf(fmaxf(fmaf(dz, t, pz), 0), most);
        const u32 ix = min(u32(ax), n - 2), iy = min(u32(ay), n - 2), iz = min(u32(az), n - 2);
        const float s = ax - ix, u = ay - iy, v = az - iz;
        const float* at = volume + (iz * n + iy) * n + ix;
        const float* behind = at + n * n;
        const float near_ = mixed(mixed(at[0], at[1], s), mixed(at[n], at[n + 1], s), u);
        const float far_ = mixed(mixed(behind[0], behind[1], s), mixed(behind[n], behind[n + 1], s), u);
        const float thickness = mixed(near_, far_, v);
        const float passes = __expf(-thickness);
        brought += passed * (1 - passes) * (1 - 0.5f * thickness);
        passed *= passes;
        if (passed < 1e-4f) break;
    }
    out[y * wide + x] = make_float2(brought, passed);
}
