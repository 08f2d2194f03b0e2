// Attention of one query for each head over keys and values that the C blocks of a cluster share.
constexpr u32 BLOCK = 512, WIDTH = 128, LANES = 16, GROUPS = BLOCK / LANES, KEYS = 4;

__device__ inline float exp2_approx(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline void unpacked(uint4 v, float (&x)[8]) {
    const u32 pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (u32 d = 0; d < 4; d++) {
        x[2 * d] = __uint_as_float(pairs[d] << 16);
        x[2 * d + 1] = __uint_as_float(pairs[d] & 0xffff0000u);
    }
}

KERNEL __launch_bounds__(BLOCK) decode(const uint4* __restrict__ query, const uint4* __restrict__ keys, const uint4* __restrict__ values, float* __restrict__ out, u32 count, float scale) {
    __shared__ float maxima[GROUPS], sums[GROUPS], of_block[WIDTH];
    __shared__ float4 results[GROUPS][WIDTH / 4];
    __shared__ float2 max_and_sum;
    const u32 i = threadIdx.x, lane = i % LANES, group = i / LANES, head = blockIdx.x / C;
    float q[8];
    unpacked(query[head * LANES + lane], q);
#pragma unroll
    for (u32 d = 0; d < 8; d++) q[d] *= scale;
    float max = -__int_as_float(0x7f800000), sum = 0, result[8] = {};
    const u32 rounds = count / (C * GROUPS * KEYS);
    u64 at = (u64(head) * count + cluster_rank() * rounds * GROUPS * KEYS + group) * LANES + lane;
    for (u32 round = 0; round < rounds; round++, at += GROUPS * KEYS * LANES) {
        uint4 k[KEYS], v[KEYS];
#pragma unroll
        for (u32 key = 0; key < KEYS; key++) {
            k[key] = keys[at + key * GROUPS * LANES];
            v[key] = values[at + key * GROUPS * LANES];
        }
        float scores[KEYS], largest = max;
#pragma unroll
        for (u32 key = 0; key < KEYS; key++) {
            float x[8], product = 0;
            unpacked(k[key], x);
#pragma unroll
            for (u32 d = 0; d < 8; d++) product = fmaf(q[d], x[d], product);
#pragma unroll
            for (u32 mask = LANES / 2; mask; mask /= 2) product += __shfl_xor_sync(~0u, product, mask);
            scores[key] = product;
            largest = fmaxf(largest, product);
        }
        const float correction = exp2_approx(max - largest);
        max = largest;
        sum *= correction;
#pragma unroll
        for (u32 d = 0; d < 8; d++) result[d] *= correction;
#pragma unroll
        for (u32 key = 0; key < KEYS; key++) {
            float x[8], weight = exp2_approx(scores[key] - max);
            unpacked(v[key], x);
            sum += weight;
#pragma unroll
            for (u32 d = 0; d < 8; d++) result[d] = fmaf(weight, x[d], result[d]);
        }
    }
    if (lane == 0) {
        maxima[group] = max;
        sums[group] = sum;
    }
    results[group][2 * lane] = make_float4(result[0], result[1], result[2], result[3]);
    results[group][2 * lane + 1] = make_float4(result[4], result[5], result[6], result[7]);
    __syncthreads();
    if (i < WIDTH) {
        float max = maxima[0], sum = 0, result = 0;
#pragma unroll 8
        for (u32 group = 1; group < GROUPS; group++) max = fmaxf(max, maxima[group]);
#pragma unroll 8
        for (u32 group = 0; group < GROUPS; group++) {
            float weight = exp2_approx(maxima[group] - max);
            sum = fmaf(weight, sums[group], sum);
            result = fmaf(weight, reinterpret_cast<float*>(results[group])[i], result);
        }
        of_block[i] = result;
        if (i == 0) max_and_sum = make_float2(max, sum);
    }
    cluster_sync();
    if (cluster_rank() == 0 && i < WIDTH) {
        float2 theirs[C];
        float max = -__int_as_float(0x7f800000), sum = 0, result = 0;
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) {
            theirs[rank] = load_remote2(map_shared(shared_address(&max_and_sum), rank));
            max = fmaxf(max, theirs[rank].x);
        }
#pragma unroll
        for (u32 rank = 0; rank < C; rank++) {
            float weight = exp2_approx(theirs[rank].x - max);
            sum = fmaf(weight, theirs[rank].y, sum);
            result = fmaf(weight, load_remote(map_shared(shared_address(of_block + i), rank)), result);
        }
        out[head * WIDTH + i] = result / sum;
    }
    cluster_arrive_relaxed();
    cluster_wait();
}
