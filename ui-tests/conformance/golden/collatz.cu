#define PHALANX_LAUNCH "collatz_param_2"
#define PHALANX_BLOCK 64, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/atomic.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/words.cuh>

using namespace phalanx;

__device__ __forceinline__ void raise(slice_mut<u64> places, u32 at, u64 value) {
#line 152 "ui-tests/conformance/src/kernels/guide.rs"
    auto seen = places.atomic(at).load(relaxed);
    while (seen < value) {
        auto value_2 = places.atomic(at).compare_exchange(seen, value, relaxed, relaxed);
        if (value_2.is_err()) {
            auto actual = value_2.error;
#line 155 "ui-tests/conformance/src/kernels/guide.rs"
            seen = actual;
        } else {
            break;
        }
    }
}

extern "C" __global__ void __launch_bounds__(64)
collatz(slice_mut<u64> longest, usize limit, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(longest, limit);
    auto grid = this_grid();
    for (auto start : range(grid.thread_rank(), limit).step_by(grid.num_threads())) {
        {
#line 167 "ui-tests/conformance/src/kernels/guide.rs"
            auto n = as<u64>(start) + 1;
            auto steps = u64(0);
            u64 length;
            while (true) {
#line 170 "ui-tests/conformance/src/kernels/guide.rs"
                if (n == 1) {
                    length = steps;
                    break;
                }
#line 173 "ui-tests/conformance/src/kernels/guide.rs"
                if (steps > 1000) {
                    goto numbers_continue;
                }
                n = word_at_launch<0>(n % 2) == 0 ? n / 2 : 3 * n + 1;
                steps += 1;
            }
            raise(longest, 0, length << 32 | as<u64>(start));
        }
        numbers_continue:;
    }
}
