// Pages of columns: lines that a query keeps, sums of groups, runs of codes, rows of two tables in one order.

KERNEL __launch_bounds__(256) kept(const float4* __restrict__ lines, float* __restrict__ out, u32* __restrict__ counts, u32 from, u32 until, float least, float most, u32 quantity) {
    __shared__ u32 of_warps[8], of_block;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = cluster_rank(), page = blockIdx.x / 4;
    const float4* own = lines + (blockIdx.x * 256ull + threadIdx.x) * 4;
    float revenue[4];
    bool wanted[4];
    u32 count = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const float4 line = own[k];
        const u32 day = __float_as_uint(line.w);
        wanted[k] = day >= from && day < until && line.y >= least && line.y <= most && __float_as_uint(line.z) < quantity;
        revenue[k] = line.x * line.y;
        count += wanted[k];
    }
    u32 end = count;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 below = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += below;
    }
    if (lane == 31) of_warps[warp] = end;
    __syncthreads();
    u32 before = 0, total = 0;
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        if (k == warp) before = total;
        total += of_warps[k];
    }
    if (threadIdx.x == 0) of_block = total;
    cluster_sync();
#pragma unroll
    for (u32 peer = 0; peer < 3; peer++)
        if (peer < part) before += load_remote_u32(map_shared(shared_address(&of_block), peer));
    cluster_arrive();
    u32 place = before + end - count;
    float* to = out + page * 4096ull;
#pragma unroll
    for (u32 k = 0; k < 4; k++)
        if (wanted[k]) to[place++] = revenue[k];
    if (part == 3 && threadIdx.x == 255) counts[page] = place;
    cluster_wait();
}

__device__ inline void max_remote(u32 address, u32 value) {
    asm volatile("red.relaxed.cluster.shared::cluster.max.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

KERNEL __launch_bounds__(512) grouped(const u16* __restrict__ keys, u32* __restrict__ out, const u32* __restrict__ amounts, u64 count) {
    __shared__ u32 groups[3][2048];
#pragma unroll
    for (u32 k = threadIdx.x; k < 3 * 2048; k += 512) groups[0][k] = 0;
    cluster_sync();
    const u32 base = shared_address(groups);
    u32 peers[4];
#pragma unroll
    for (u32 peer = 0; peer < 4; peer++) peers[peer] = map_shared(base, peer);
    auto add = [&](u32 key, u32 amount) {
        const u32 owner = key / 2048;
        const u32 peer = owner < 2 ? (owner ? peers[1] : peers[0]) : (owner == 2 ? peers[2] : peers[3]);
        const u32 address = peer + key % 2048 * 4;
        add_remote(address, amount);
        add_remote(address + 8192, 1);
        max_remote(address + 16384, amount);
    };
    const uint2* four_keys = reinterpret_cast<const uint2*>(keys);
    const uint4* four_amounts = reinterpret_cast<const uint4*>(amounts);
    for (u64 i = blockIdx.x * 512ull + threadIdx.x; i < count / 4; i += gridDim.x * 512ull) {
        const uint2 key = four_keys[i];
        const uint4 amount = four_amounts[i];
        add(key.x & 0xffff, amount.x);
        add(key.x >> 16, amount.y);
        add(key.y & 0xffff, amount.z);
        add(key.y >> 16, amount.w);
    }
    cluster_sync();
    u32* own = out + cluster_rank() * 2048 * 3;
#pragma unroll
    for (u32 k = threadIdx.x; k < 2048; k += 512) {
        if (groups[1][k] > 0) {
            atomicAdd(own + 3 * k, groups[0][k]);
            atomicAdd(own + 3 * k + 1, groups[1][k]);
            atomicMax(own + 3 * k + 2, groups[2][k]);
        }
    }
}

KERNEL __launch_bounds__(256) expanded(const u32* __restrict__ runs, float* __restrict__ out, const float* __restrict__ dictionary) {
    __shared__ u32 of_warps[8], ends[256];
    __shared__ float values[256];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u32 run = runs[blockIdx.x * 256ull + threadIdx.x];
    const float value = dictionary[run & 0xffff];
    u32 end = run >> 16;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 below = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += below;
    }
    if (lane == 31) of_warps[warp] = end;
    __syncthreads();
    u32 before = 0;
#pragma unroll
    for (u32 k = 0; k < 7; k++)
        if (k < warp) before += of_warps[k];
    ends[threadIdx.x] = before + end;
    values[threadIdx.x] = value;
    __syncthreads();
    float* page = out + blockIdx.x * 2048ull;
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const u32 place = k * 256 + threadIdx.x;
        // The last end is beyond all places, so 255 ends are searched.
        u32 low = 0;
#pragma unroll
        for (u32 step = 128; step; step /= 2)
            if (ends[low + step - 1] <= place) low += step;
        page[place] = values[low];
    }
}

template <class F> __device__ inline u32 from_left(u32 left, u32 right, u32 at, F precedes) {
    u32 low = at > right ? at - right : 0, high = min(at, left);
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (precedes(middle, at - 1 - middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}

KERNEL __launch_bounds__(256) merged(const uint2* __restrict__ left, float* __restrict__ out, const uint2* __restrict__ right, u64 rows) {
    __shared__ uint2 tile[2048];
    __shared__ u32 begins[2];
    const u32 first = blockIdx.x * 2048;
    if (threadIdx.x < 2)
        begins[threadIdx.x] = from_left(rows, rows, first + threadIdx.x * 2048, [&](u32 i, u32 j) { return left[i].x <= right[j].x; });
    __syncthreads();
    const u32 begin = begins[0], count = begins[1] - begin;
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const u32 place = k * 256 + threadIdx.x;
        tile[place] = place < count ? left[begin + place] : right[first - begin + place - count];
    }
    __syncthreads();
    const u32 at = threadIdx.x * 8;
    u32 i = from_left(count, 2048 - count, at, [&](u32 i, u32 j) { return tile[i].x <= tile[count + j].x; });
    u32 j = count + at - i;
    uint2 x = tile[min(i, 2047)], y = tile[min(j, 2047)];
    float values[8];
#pragma unroll
    for (u32 k = 0; k < 8; k++) {
        const bool takes_left = j >= 2048 || (i < count && x.x <= y.x);
        values[k] = __uint_as_float(takes_left ? x.y : y.y);
        if (takes_left) x = tile[min(++i, 2047)];
        else y = tile[min(++j, 2047)];
    }
    float4* to = reinterpret_cast<float4*>(out + first + at);
    to[0] = {values[0], values[1], values[2], values[3]};
    to[1] = {values[4], values[5], values[6], values[7]};
}
