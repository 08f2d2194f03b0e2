// Steps of models that answer requests: attention over pages of a cache, experts, norms of groups of channels, gates.

__device__ inline float2 halves(u32 pair) {
    float2 v;
    asm("{.reg .b16 l, h;\n mov.b32 {l, h}, %2;\n cvt.f32.f16 %0, l;\n cvt.f32.f16 %1, h;}" : "=f"(v.x), "=f"(v.y) : "r"(pair));
    return v;
}
__device__ inline u32 packed_halves(float low, float high) {
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
__device__ inline void spread(uint4 v, float (&to)[8]) {
    const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const float2 two = halves(words[k]);
        to[2 * k] = two.x, to[2 * k + 1] = two.y;
    }
}

KERNEL __launch_bounds__(128) paged(const float4* __restrict__ queries, float* __restrict__ out, const uint4* __restrict__ keys, const uint4* __restrict__ values, const u32* __restrict__ tables, const u32* __restrict__ lengths, u64 most_pages) {
    __shared__ float2 of_teams[8];
    __shared__ alignas(16) float parts[8][128];
    const u32 sequence = blockIdx.x, lane = threadIdx.x % 16, team = threadIdx.x / 16, length = lengths[sequence];
    const u32 half = 0xffffu << (threadIdx.x & 16);
    const u32* pages = tables + sequence * most_pages;
    const float4 low = queries[sequence * 32 + 2 * lane], high = queries[sequence * 32 + 2 * lane + 1];
    const float root = sqrtf(128);
    const float query[8] = {low.x / root, low.y / root, low.z / root, low.w / root, high.x / root, high.y / root, high.z / root, high.w / root};
    float most = -__int_as_float(0x7f800000), sum = 0, mixed[8] = {};
#pragma unroll 4
    for (u32 token = team; token < length; token += 8) {
        const u32 at = (pages[token / 16] * 16 + token % 16) * 16 + lane;
        float key[8], value[8];
        spread(keys[at], key), spread(values[at], value);
        float score = 0;
#pragma unroll
        for (u32 k = 0; k < 8; k++) score = fmaf(query[k], key[k], score);
#pragma unroll
        for (u32 mask = 8; mask; mask /= 2) score += __shfl_xor_sync(half, score, mask, 16);
        const float next = fmaxf(most, score), kept = __expf(most - next), weight = __expf(score - next);
        most = next, sum = fmaf(sum, kept, weight);
#pragma unroll
        for (u32 k = 0; k < 8; k++) mixed[k] = fmaf(mixed[k], kept, weight * value[k]);
    }
    float4* own = reinterpret_cast<float4*>(parts[team]) + 2 * lane;
    own[0] = {mixed[0], mixed[1], mixed[2], mixed[3]}, own[1] = {mixed[4], mixed[5], mixed[6], mixed[7]};
    if (lane == 0) of_teams[team] = {most, sum};
    __syncthreads();
    most = of_teams[0].x;
#pragma unroll
    for (u32 k = 1; k < 8; k++) most = fmaxf(most, of_teams[k].x);
    float total = 0;
    sum = 0;
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const float weight = __expf(of_teams[k].x - most);
        sum = fmaf(of_teams[k].y, weight, sum);
        total = fmaf(parts[k][threadIdx.x], weight, total);
    }
    out[sequence * 128 + threadIdx.x] = total / sum;
}

struct Choice {
    float score;
    u32 expert;
};
__device__ inline Choice better(Choice a, Choice b) { return b.score > a.score || (b.score == a.score && b.expert < a.expert) ? b : a; }
__device__ inline Choice best(const float (&scores)[4], u32 first, u32 but) {
    Choice choice = {-__int_as_float(0x7f800000), ~0u};
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        if (first + k != but) choice = better(choice, {scores[k], first + k});
#pragma unroll
    for (u32 mask = 16; mask; mask /= 2)
        choice = better(choice, {__shfl_xor_sync(~0u, choice.score, mask), __shfl_xor_sync(~0u, choice.expert, mask)});
    return choice;
}

KERNEL __launch_bounds__(256) experts(const float4* __restrict__ logits, float2* __restrict__ weights, uint2* __restrict__ chosen) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, token = i / 32;
    const float4 v = logits[i];
    const float scores[4] = {v.x, v.y, v.z, v.w};
    const Choice one = best(scores, 4 * lane, ~0u), two = best(scores, 4 * lane, one.expert);
    float sum = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum += __expf(scores[k] - one.score);
    sum = reduced<32>(sum);
    if (lane == 0) {
        chosen[token] = {one.expert, two.expert};
        weights[token] = {1 / sum, __expf(two.score - one.score) / sum};
    }
}

KERNEL __launch_bounds__(256) group_norm(const uint4* __restrict__ pictures, uint4* __restrict__ out, const float4* __restrict__ weights, const float4* __restrict__ biases, u64 channels) {
    __shared__ float2 of_warps[8];
    __shared__ float2 of_block;
    const u32 i = threadIdx.x, cluster = blockIdx.x / 4, groups = channels / 32, stride = channels / 8;
    const u32 column = cluster % groups * 4 + i % 4;
    const u32 first = cluster / groups * 4096 + cluster_rank() * 1024 + i / 4;
    const uint4* from = pictures + first * stride + column;
    uint4 own[16];
#pragma unroll
    for (u32 k = 0; k < 16; k++) own[k] = from[64 * k * stride];
    float sum = 0, squares = 0;
#pragma unroll
    for (u32 k = 0; k < 16; k++) {
        float x[8];
        spread(own[k], x);
#pragma unroll
        for (u32 j = 0; j < 8; j++) sum += x[j], squares = fmaf(x[j], x[j], squares);
    }
    sum = reduced<32>(sum), squares = reduced<32>(squares);
    if (i % 32 == 0) of_warps[i / 32] = {sum, squares};
    __syncthreads();
    if (i == 0) {
        float2 total = {};
#pragma unroll
        for (u32 k = 0; k < 8; k++) total.x += of_warps[k].x, total.y += of_warps[k].y;
        of_block = total;
    }
    cluster_sync();
    sum = squares = 0;
#pragma unroll
    for (u32 peer = 0; peer < 4; peer++) {
        const float2 part = load_remote2(map_shared(shared_address(&of_block), peer));
        sum += part.x, squares += part.y;
    }
    const float mean = sum / 131072, scale = rsqrtf(squares / 131072 - mean * mean + 1e-5f);
    const float4 w0 = weights[2 * column], w1 = weights[2 * column + 1], b0 = biases[2 * column], b1 = biases[2 * column + 1];
    const float weight[8] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w};
    const float bias[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
    uint4* to = out + first * stride + column;
#pragma unroll
    for (u32 k = 0; k < 16; k++) {
        float x[8];
        spread(own[k], x);
#pragma unroll
        for (u32 j = 0; j < 8; j++) x[j] = fmaf((x[j] - mean) * scale, weight[j], bias[j]);
        to[64 * k * stride] = {packed_halves(x[0], x[1]), packed_halves(x[2], x[3]), packed_halves(x[4], x[5]), packed_halves(x[6], x[7])};
    }
    cluster_sync();
}

__device__ inline float sigmoid(float x) { return 1 / (1 + __expf(-x)); }

KERNEL __launch_bounds__(256) gates(const float* __restrict__ sums, float* __restrict__ out, const float* __restrict__ biases, const float* __restrict__ cells, float* __restrict__ next, u32 width) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, row = i / width, column = i % width;
    float sum[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) sum[k] = sums[row * 4 * width + k * width + column] + biases[k * width + column];
    const float cell = sigmoid(sum[1]) * cells[i] + sigmoid(sum[0]) * tanhf(sum[2]);
    next[i] = cell;
    out[i] = sigmoid(sum[3]) * tanhf(cell);
}
