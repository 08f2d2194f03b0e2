// A bitonic sort of tiles in shared memory.
constexpr u32 BLOCK = 512;

KERNEL __launch_bounds__(BLOCK) tile_sort(const uint4* __restrict__ in, uint4* __restrict__ out) {
    __shared__ uint4 memory[TILE / 4];
    u32* keys = reinterpret_cast<u32*>(memory);
    const u32 i = threadIdx.x;
    memory[i] = in[u64(blockIdx.x) * (TILE / 4) + i];
#pragma unroll
    for (u32 size = 2; size <= TILE; size *= 2) {
#pragma unroll
        for (u32 stride = size / 2; stride; stride /= 2) {
            __syncthreads();
#pragma unroll
            for (u32 at = i; at < TILE / 2; at += BLOCK) {
                u32 low = 2 * at - (at & (stride - 1));
                u32 a = keys[low], b = keys[low + stride];
                bool swap = (a > b) == ((low & size) == 0);
                keys[low] = swap ? b : a;
                keys[low + stride] = swap ? a : b;
            }
        }
    }
    __syncthreads();
    out[u64(blockIdx.x) * (TILE / 4) + i] = memory[i];
}
