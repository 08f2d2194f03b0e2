// Tables and columns as databases have them: hash tables, packed integers, digits to sort by, checksums.

__device__ inline u32 hash(u32 x) {
    x = (x ^ x >> 16) * 0x85ebca6b;
    x = (x ^ x >> 13) * 0xc2b2ae35;
    return x ^ x >> 16;
}

KERNEL __launch_bounds__(256) probed(const u32* __restrict__ keys, u32* __restrict__ values, const uint2* __restrict__ table, u64 count, u64 places) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, mask = places - 1;
    if (i >= count) return;
    const u32 key = keys[i];
    u32 place = hash(key) & mask, value = ~0u;
    while (true) {
        const uint2 entry = table[place];
        if (entry.x == key) {
            value = entry.y;
            break;
        }
        if (entry.x == 0) break;
        place = (place + 1) & mask;
    }
    values[i] = value;
}

struct Header {
    u32 start;
    u16 bits, unused;
    int least;
};

KERNEL __launch_bounds__(256) unpacked(const u32* __restrict__ words, int4* __restrict__ out, const Header* __restrict__ headers) {
    const u32 i = blockIdx.x * 256 + threadIdx.x, first = i % 32 * 4;
    const Header header = headers[i / 32];
    const u32 bits = header.bits, mask = (1u << bits) - 1;
    const u32* from = words + header.start;
    int values[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const u32 bit = (first + k) * bits;
        values[k] = header.least + int(__funnelshift_r(from[bit / 32], from[bit / 32 + 1], bit) & mask);
    }
    out[i] = {values[0], values[1], values[2], values[3]};
}

KERNEL __launch_bounds__(256) digits(const u32* __restrict__ keys, u32* __restrict__ out, u32 shift) {
    __shared__ u32 counts[8][256], of_warps[8], sorted[2048];
    const u32 i = threadIdx.x, lane = i % 32, warp = i / 32, first = blockIdx.x * 2048;
#pragma unroll
    for (u32 k = 0; k < 8; k++) counts[k][i] = 0;
    __syncthreads();
    u32 mine[8], places[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) mine[k] = keys[first + warp * 256 + k * 32 + lane];
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const u32 digit = mine[k] >> shift & 255;
        const u32 same = __match_any_sync(~0u, digit), lower = __popc(same & ((1u << lane) - 1));
        const u32 before = counts[warp][digit];
        __syncwarp();
        if (lower == 0) counts[warp][digit] = before + __popc(same);
        __syncwarp();
        places[k] = before + lower;
    }
    __syncthreads();
    u32 total = 0, starts[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        starts[k] = total;
        total += counts[k][i];
    }
    u32 end = total;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 below = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += below;
    }
    if (lane == 31) of_warps[warp] = end;
    __syncthreads();
    u32 start = end - total;
    for (u32 k = 0; k < warp; k++) start += of_warps[k];
#pragma unroll
    for (u32 k = 0; k < 8; k++) counts[k][i] = starts[k] + start;
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < 8; k++) sorted[counts[warp][mine[k] >> shift & 255] + places[k]] = mine[k];
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < 8; k++) out[first + k * 256 + i] = sorted[k * 256 + i];
}

KERNEL __launch_bounds__(256) checksums(const uint4* __restrict__ bytes, u32* __restrict__ sums) {
    __shared__ u32 tables[4][256];
    u32 x = threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
#pragma unroll
        for (u32 bit = 0; bit < 8; bit++) x = x & 1 ? x >> 1 ^ 0xedb88320 : x >> 1;
        tables[k][threadIdx.x] = x;
    }
    __syncthreads();
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    const uint4* message = bytes + i * 32;
    u32 sum = ~0u;
#pragma unroll 2
    for (u32 k = 0; k < 32; k++) {
        const uint4 v = message[k];
        const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            sum ^= words[j];
            sum = tables[3][sum & 255] ^ tables[2][sum >> 8 & 255] ^ tables[1][sum >> 16 & 255] ^ tables[0][sum >> 24];
        }
    }
    sums[i] = ~sum;
}
