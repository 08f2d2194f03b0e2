// One step of diffusion on a plane.
KERNEL __launch_bounds__(256) plane(const float* __restrict__ in, float* __restrict__ out, u32 width, float rate) {
    const u32 tiles = width / 32;
    const u32 x = blockIdx.x % tiles * 32 + threadIdx.x % 32, y = blockIdx.x / tiles * 8 + threadIdx.x / 32;
    const u32 at = y * width + x;
    const float cell = in[at];
    float next = cell;
    if (x > 0 && x < width - 1 && y > 0 && y < width - 1) {
        float around = in[at - 1] + in[at + 1] + (in[at - width] + in[at + width]);
        next = fmaf(rate, around - 4.0f * cell, cell);
    }
    out[at] = next;
}
