#define PHALANX_LAUNCH "through_shared_param_3"
#define PHALANX_BLOCK 32, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

struct Arrow {
    f32 x;
    f32 y;
    __device__ __forceinline__ friend bool operator==(const Arrow&, const Arrow&) = default;
};
static_assert(sizeof(Arrow) == 8 && alignof(Arrow) == 4);
static_assert(PHALANX_OFFSET_OF(Arrow, x) == 0);
static_assert(PHALANX_OFFSET_OF(Arrow, y) == 4);

enum class State : unsigned char {
    Free = 0,
    Bound = 7,
    Lost = 8,
};

struct Particle {
    Arrow pos;
    Arrow vel;
    f32 mass;
    State state;
    bool fixed;
    local_array<u8, 2> _pad;
    __device__ __forceinline__ friend bool operator==(const Particle&, const Particle&) = default;
};
static_assert(sizeof(Particle) == 24 && alignof(Particle) == 4);
static_assert(PHALANX_OFFSET_OF(Particle, pos) == 0);
static_assert(PHALANX_OFFSET_OF(Particle, vel) == 8);
static_assert(PHALANX_OFFSET_OF(Particle, mass) == 16);
static_assert(PHALANX_OFFSET_OF(Particle, state) == 20);
static_assert(PHALANX_OFFSET_OF(Particle, fixed) == 21);
static_assert(PHALANX_OFFSET_OF(Particle, _pad) == 22);

struct Pair_u32 {
    u32 first;
    u32 second;
    __device__ __forceinline__ friend bool operator==(const Pair_u32&, const Pair_u32&) = default;
};
static_assert(sizeof(Pair_u32) == 8 && alignof(Pair_u32) == 4);
static_assert(PHALANX_OFFSET_OF(Pair_u32, first) == 0);
static_assert(PHALANX_OFFSET_OF(Pair_u32, second) == 4);

struct Bin {
    f64 total;
    local_array<Pair_u32, 2> seen;
    __device__ __forceinline__ friend bool operator==(const Bin&, const Bin&) = default;
};
static_assert(sizeof(Bin) == 24 && alignof(Bin) == 8);
static_assert(PHALANX_OFFSET_OF(Bin, total) == 0);
static_assert(PHALANX_OFFSET_OF(Bin, seen) == 8);

extern "C" __global__ void __launch_bounds__(32)
through_shared(readonly_slice<Particle> particles, slice_mut<Particle> out, slice_mut<Bin> bins, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(particles, out, bins);
#line 198 "ui-tests/conformance/src/kernels/structs.rs"
    auto i = this_thread_block().thread_rank();
    __shared__ shared_array<Particle, 32> shared; keep_address(shared);
    __shared__ shared_array<local_array<Arrow, 2>, 32> rows; keep_address(rows);
    require_of_warp(at_launch<1>(within(particles, i)) & at_launch<0>(within(shared, i)) & at_launch<2>(within(particles, 31 - i)) & at_launch<0>(within(rows, i)) & within_row<decltype(rows.get_unchecked(0))>(1) & at_launch<3>(within(shared, (i + 1) % 32)));
#line 201 "ui-tests/conformance/src/kernels/structs.rs"
    shared.get_unchecked(i) = particles.get_unchecked(i);
    shared.get_unchecked(i).pos.x = particles.get_unchecked(31 - i).mass * f32(0.0f) + f32(2.0f) * shared.get_unchecked(i).pos.x;
    rows.get_unchecked(i).get_unchecked(1).x = f32(3.0f);
    rows.get_unchecked(i).get_unchecked(1).y = rows.get_unchecked(i).get_unchecked(1).x;
    this_thread_block().sync();
    auto local = local_array<Particle, 3>::filled(shared.get_unchecked((i + 1) % 32));
    local[i % 3].vel = rows.get_unchecked(i).get_unchecked(1);
    local[0]._pad[0] = local[2]._pad[0] + 1;
    out[at_launch<4>(i)] = local[i % 3];
    bins[at_launch<5>(i)].seen[1].first = i;
    bins[at_launch<5>(i)].seen[i % 2].second += 2;
    bins[at_launch<5>(i)].total = bins[at_launch<5>(i)].total + f64(0.5);
}
