// Elementwise: a product and a sum for each element.
KERNEL __launch_bounds__(256) one_a_thread(const float* __restrict__ in, float* __restrict__ out, u64 len, float scale, float shift) {
    u64 i = u64(blockIdx.x) * 256 + threadIdx.x;
    if (i < len) out[i] = fmaf(in[i], scale, shift);
}

KERNEL __launch_bounds__(256) vector_a_thread(const float4* __restrict__ in, float4* __restrict__ out, u64 len, float scale, float shift) {
    u64 i = u64(blockIdx.x) * 256 + threadIdx.x;
    if (i < len / 4) {
        float4 v = in[i];
        out[i] = make_float4(fmaf(v.x, scale, shift), fmaf(v.y, scale, shift), fmaf(v.z, scale, shift), fmaf(v.w, scale, shift));
    }
}

KERNEL __launch_bounds__(256) grid_stride(const float* __restrict__ in, float* __restrict__ out, u64 len, float scale, float shift) {
    u64 threads = u64(gridDim.x) * 256;
    for (u64 i = u64(blockIdx.x) * 256 + threadIdx.x; i < len; i += threads) out[i] = fmaf(in[i], scale, shift);
}
