// Indexes that come from memory: gathers, scatters by atomics, sparse matrices.

KERNEL __launch_bounds__(256) scatter(const float* __restrict__ gradients, float* __restrict__ table, const u32* __restrict__ ids, u64 len, u32 width) {
    for (u32 i = blockIdx.x * 256 + threadIdx.x; i < len; i += gridDim.x * 256) {
        const u32 row = i / width, column = i % width;
        atomicAdd(table + ids[row] * width + column, gradients[i]);
    }
}

KERNEL __launch_bounds__(256) coordinates(const float* __restrict__ values, float* __restrict__ y, const u32* __restrict__ rows, const u32* __restrict__ columns, const float* __restrict__ x, u64 len) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i < len) atomicAdd(y + rows[i], values[i] * x[columns[i]]);
}

KERNEL __launch_bounds__(64) bags(const float4* __restrict__ table, float4* __restrict__ out, const u32* __restrict__ offsets, const u32* __restrict__ ids) {
    const u32 start = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
    float4 sum = {};
#pragma unroll 4
    for (u32 at = start; at < end; at++) {
        const float4 row = table[u64(ids[at]) * 64 + threadIdx.x];
        sum.x += row.x, sum.y += row.y, sum.z += row.z, sum.w += row.w;
    }
    const float count = max(end - start, 1u);
    out[blockIdx.x * 64 + threadIdx.x] = {sum.x / count, sum.y / count, sum.z / count, sum.w / count};
}

KERNEL __launch_bounds__(256) ellpack(const float* __restrict__ values, float* __restrict__ y, const int* __restrict__ columns, const float* __restrict__ x, u32 rows, u32 places) {
    const u32 row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
#pragma unroll 4
    for (u32 place = 0; place < places; place++) {
        const int column = columns[place * rows + row];
        if (column >= 0) sum = fmaf(values[place * rows + row], x[column], sum);
    }
    y[row] = sum;
}

KERNEL __launch_bounds__(256) labels(const u32* __restrict__ before, u32* __restrict__ after, const u32* __restrict__ starts, const u32* __restrict__ neighbours, u64 vertices) {
    const u32 vertex = blockIdx.x * 256 + threadIdx.x;
    if (vertex >= vertices) return;
    u32 least = before[vertex];
    const u32 end = starts[vertex + 1];
#pragma unroll 4
    for (u32 edge = starts[vertex]; edge < end; edge++) least = min(least, before[neighbours[edge]]);
    after[vertex] = least;
}

KERNEL __launch_bounds__(256) permuted(const float* __restrict__ input, float* __restrict__ out, const u32* __restrict__ order, u32 width) {
    const u32 row = (blockIdx.x * 256 + threadIdx.x) / 32, from = order[row] * width;
#pragma unroll 8
    for (u32 column = threadIdx.x % 32; column < width; column += 32) out[row * width + column] = input[from + column];
}
