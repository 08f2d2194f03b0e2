// Many steps of diffusion on rings of C * PART cells, one for each cluster, in shared memory.
constexpr u32 BLOCK = 512;

__device__ inline float relaxed(float west, float cell, float east, float rate) {
    return fmaf(rate, west + east - 2.0f * cell, cell);
}

KERNEL __launch_bounds__(BLOCK) rings(const float4* __restrict__ in, float4* __restrict__ out, u32 steps, float rate) {
    extern __shared__ float4 memory[]; // two times PART cells
    __shared__ float inboxes[2][2];    // from the left, and from the right
    __shared__ u64 received[2];
    float* cells = reinterpret_cast<float*>(memory);
    const u32 i = threadIdx.x, left = (cluster_rank() + C - 1) % C, right = (cluster_rank() + 1) % C;
    in += u64(blockIdx.x) * (PART / 4);
    out += u64(blockIdx.x) * (PART / 4);
    if (i == 0) {
        barrier_init(shared_address(received), 1);
        barrier_init(shared_address(received + 1), 1);
        barrier_init_fence();
    }
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) memory[k] = in[k];
    cluster_sync();
    for (u32 step = 0; step < steps; step++) {
        const u32 inbox = step % 2;
        const float* from = cells + inbox * PART;
        float* to = cells + (1 - inbox) * PART;
        const u32 signal = shared_address(received + inbox);
        if (i == 0) {
            arrive_expect(signal, 8);
            store_async(map_shared(shared_address(&inboxes[inbox][1]), left), from[0], map_shared(signal, left));
            store_async(map_shared(shared_address(&inboxes[inbox][0]), right), from[PART - 1], map_shared(signal, right));
        }
#pragma unroll 8
        for (u32 x = i + 1; x < PART - 1; x += BLOCK) to[x] = relaxed(from[x - 1], from[x], from[x + 1], rate);
        if (i == 0) {
            wait_parity_cluster(signal, step / 2 % 2);
            to[0] = relaxed(inboxes[inbox][0], from[0], from[1], rate);
            to[PART - 1] = relaxed(from[PART - 2], from[PART - 1], inboxes[inbox][1], rate);
        }
        __syncthreads();
    }
#pragma unroll 4
    for (u32 k = i; k < PART / 4; k += BLOCK) out[k] = memory[steps % 2 * (PART / 4) + k];
    cluster_arrive_relaxed();
    cluster_wait();
}
