// Kernels that follow states, trees and tables: what is read next depends on what was read.

KERNEL __launch_bounds__(128) viterbi(const float* __restrict__ emissions, float* __restrict__ scores, const float* __restrict__ transitions, u64 steps, u64 sequences) {
    const u32 sequence = (blockIdx.x * 128 + threadIdx.x) / 32, state = threadIdx.x % 32;
    if (sequence >= sequences) return;
    float into[32];
#pragma unroll
    for (u32 k = 0; k < 8; k++) reinterpret_cast<float4*>(into)[k] = reinterpret_cast<const float4*>(transitions)[state * 8 + k];
    const float* values = emissions + sequence * steps * 32 + state;
    float score = values[0];
    for (u32 step = 1; step < steps; step++) {
        const float emission = values[step * 32];
        float best = -__int_as_float(0x7f800000);
#pragma unroll
        for (u32 from = 0; from < 32; from++) best = fmaxf(best, __shfl_sync(~0u, score, from) + into[from]);
        score = best + emission;
    }
    scores[sequence * 32 + state] = score;
}

KERNEL __launch_bounds__(256) ridges(const float* __restrict__ picture, float* __restrict__ out, u64 width, u64 height) {
    __shared__ float tile[10][34];
    const u32 across = u32(width) / 32;
    const int left = blockIdx.x % across * 32, top = blockIdx.x / across * 8;
    for (u32 k = threadIdx.x; k < 340; k += 256) {
        const int row = k / 34, column = k % 34;
        const int y = min(max(top + row - 1, 0), int(height) - 1), x = min(max(left + column - 1, 0), int(width) - 1);
        tile[row][column] = picture[y * int(width) + x];
    }
    __syncthreads();
    const int x = threadIdx.x % 32 + 1, y = threadIdx.x / 32 + 1;
    const float a = tile[y - 1][x - 1], b = tile[y - 1][x], c = tile[y - 1][x + 1], d = tile[y][x - 1], here = tile[y][x], e = tile[y][x + 1],
                f = tile[y + 1][x - 1], g = tile[y + 1][x], h = tile[y + 1][x + 1];
    const float gx = c + 2 * e + h - a - 2 * d - f, gy = f + 2 * g + h - a - 2 * b - c;
    const float steep = fabsf(gx) + fabsf(gy);
    const bool sideways = fabsf(gx) > fabsf(gy);
    const float along = fmaxf(fabsf((sideways ? e : g) - here), fabsf((sideways ? d : b) - here));
    const int column = left + x - 1, row = top + y - 1;
    if (column < width && row < height) out[row * int(width) + column] = along < steep ? steep : 0;
}

KERNEL __launch_bounds__(256) cells(const float* __restrict__ volume, float* __restrict__ out, u32 edge, float level) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, x = i % edge, y = i / edge % edge, z = i / (edge * edge);
    if (z >= edge) return;
    if (x + 1 >= edge || y + 1 >= edge || z + 1 >= edge) {
        out[i] = -1;
        return;
    }
    const float* at = volume + i;
    const u32 plane = edge * edge;
    const float corners[8] = {at[0], at[1], at[edge + 1], at[edge], at[plane], at[plane + 1], at[plane + edge + 1], at[plane + edge]};
    u32 kind = 0;
#pragma unroll
    for (u32 k = 0; k < 8; k++) kind |= u32(corners[k] > level) << k;
    float result = kind;
    bool found = false;
#pragma unroll
    for (u32 k = 1; k < 8; k++) {
        if (!found && (corners[k] > level) != (corners[0] > level)) {
            result = float(kind) + (level - corners[0]) / (corners[k] - corners[0]);
            found = true;
        }
    }
    out[i] = result;
}

struct Node {
    float low[3], high[3];
    u32 child;
};

KERNEL __launch_bounds__(128) within(const float4* __restrict__ queries, u32* __restrict__ counts, const Node* __restrict__ nodes, u64 asked, float radius) {
    const u32 i = blockIdx.x * 128 + threadIdx.x;
    if (i >= asked) return;
    const float4 q = queries[i];
    u32 stack[32];
    stack[0] = 0;
    u32 depth = 1, count = 0;
    while (depth) {
        const Node& node = nodes[stack[--depth]];
        const float dx = fmaxf(fmaxf(node.low[0] - q.x, q.x - node.high[0]), 0);
        const float dy = fmaxf(fmaxf(node.low[1] - q.y, q.y - node.high[1]), 0);
        const float dz = fmaxf(fmaxf(node.low[2] - q.z, q.z - node.high[2]), 0);
        if (dx * dx + dy * dy + dz * dz > radius * radius) continue;
        const u32 child = node.child;
        if (!child) {
            count++;
        } else {
            stack[depth] = child;
            stack[depth + 1] = child + 1;
            depth += 2;
        }
    }
    counts[i] = count;
}

KERNEL __launch_bounds__(128) decoded(const u32* __restrict__ pieces, u32* __restrict__ sums, const unsigned short* __restrict__ table, u32 symbols) {
    __shared__ unsigned short codes[256];
    for (u32 k = threadIdx.x; k < 256; k += 128) codes[k] = table[k];
    __syncthreads();
    const u32 piece = blockIdx.x * 128 + threadIdx.x;
    const u32* words = pieces + piece * 64;
    u64 window = words[0] | u64(words[1]) << 32;
    u32 bits = 64, next = 2, sum = 0;
    for (u32 k = 0; k < symbols; k++) {
        const u32 code = codes[window & 255];
        sum = sum * 31 + ((code & 255) ^ k);
        window >>= code >> 8;
        bits -= code >> 8;
        if (bits <= 32 && next < 64) {
            window |= u64(words[next++]) << bits;
            bits += 32;
        }
    }
    sums[piece] = sum & 0xffff;
}
