// Transpose of a square matrix, in tiles of 32 by 32.
KERNEL __launch_bounds__(256) transpose(const float* __restrict__ in, float* __restrict__ out, u32 width) {
    __shared__ float tile[32][33];
    const u32 x = threadIdx.x % 32, y = threadIdx.x / 32;
    const u32 tiles = width / 32, left = blockIdx.x % tiles * 32, top = blockIdx.x / tiles * 32;
    in += u64(top + y) * width + left + x;
    out += u64(left + y) * width + top + x;
#pragma unroll
    for (u32 row = 0; row < 32; row += 8) tile[y + row][x] = in[u64(row) * width];
    __syncthreads();
#pragma unroll
    for (u32 row = 0; row < 32; row += 8) out[u64(row) * width] = tile[x][y + row];
}
