// A copy of 16 bytes a thread, whose bandwidth is the floor of the table.
KERNEL __launch_bounds__(256) copy(const float4* __restrict__ in, float4* __restrict__ out) {
    u32 i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i];
}
