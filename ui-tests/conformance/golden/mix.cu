#define PHALANX_LAUNCH "mix_param_2"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/array.cuh>
#include <phalanx/bits.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/wrapping.cuh>

using namespace phalanx;

extern "C" __global__ void __launch_bounds__(32)
mix(readonly_slice<u8> seeds, slice_mut<u128> out, const __grid_constant__ launch_block phalanx_launch) {
#line 283 "ui-tests/conformance/src/kernels/guide.rs"
    auto i = this_thread_block().thread_rank();
    auto state = local_array<u64, 2>{u64(0x9e3779b97f4a7c15ull), as<u64>(seeds[at_launch<0>(i)])};
    auto wide = u128(0);
    for (auto round : range(u32(0), u32(4)).rev()) {
        state[1] = wrapping_mul(state[1] ^ state[1] >> 30, u64(0xbf58476d1ce4e5b9ull));
        state[0] = rotate_left(state[0], round * 7 + 1) + state[1];
        wide = wide << 32 | as<u128>(as<u32>(as<i64>(as<f32>(as<i32>(state[0])))) & !u32(0xff));
    }
    out[at_launch<1>(i)] = wide ^ as<u128>(as<i8>(leading_zeros(state[1])) - 100);
}
