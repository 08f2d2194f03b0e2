// A sparse matrix in compressed rows times a vector: eight threads for each row.
KERNEL __launch_bounds__(256) spmv(const float* __restrict__ values, const u32* __restrict__ columns, const u32* __restrict__ starts, const float* __restrict__ x, float* __restrict__ y) {
    const u32 row = (blockIdx.x * 256 + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const u32 end = starts[row + 1];
    float sum = 0;
#pragma unroll 4
    for (u32 at = starts[row] + lane; at < end; at += 8) sum = fmaf(__ldcs(values + at), x[__ldcs(columns + at)], sum);
#pragma unroll
    for (u32 mask = 4; mask; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
    if (lane == 0) y[row] = sum;
}
