#define PHALANX_BLOCK 256, 1, 1
#include <phalanx/groups.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(256)
block_sum(readonly_slice<u32> input, slice_mut<u32> out) {
#line 49 "ui-tests/conformance/src/kernels/guide.rs"
    auto block = this_thread_block();
    __shared__ shared_array<u32, 256> sums;
    auto i = block.thread_rank();
    if (!(within(input, this_grid().thread_rank()) & within(sums, i))) {
        input[this_grid().thread_rank()];
        sums[i];
        __builtin_unreachable();
    }
#line 52 "ui-tests/conformance/src/kernels/guide.rs"
    sums.get_unchecked(i) = input.get_unchecked(this_grid().thread_rank());
    block.sync();
    auto half = block.num_threads() / 2;
    while (half > 0) {
        if (i < half) {
            if (!(within(sums, i + half) & within(sums, i))) {
                sums[i + half];
                sums[i];
                __builtin_unreachable();
            }
#line 57 "ui-tests/conformance/src/kernels/guide.rs"
            sums.get_unchecked(i) += sums.get_unchecked(i + half);
        }
        block.sync();
        half /= 2;
    }
    if (i == 0) {
        if (!(within(sums, 0) & within(out, this_grid().block_rank()))) {
            sums[0];
            out[this_grid().block_rank()];
            __builtin_unreachable();
        }
#line 63 "ui-tests/conformance/src/kernels/guide.rs"
        out.get_unchecked(this_grid().block_rank()) = sums.get_unchecked(0);
    }
}
