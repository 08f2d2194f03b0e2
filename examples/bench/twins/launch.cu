// As little as a kernel can do with a slice, a slice to write to, and a number.
KERNEL launch(const float* __restrict__ in, u64 in_len, float* __restrict__ out, u64 out_len, float scale) {
    u32 i = threadIdx.x;
    if (i < in_len && i < out_len) out[i] = in[i] * scale;
}
