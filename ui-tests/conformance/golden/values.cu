#define PHALANX_LAUNCH "values_param_2"
#define PHALANX_BLOCK 2, 1, 1
#include <phalanx/arguments.cuh>
#include <phalanx/array.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/scalar.cuh>

using namespace phalanx;

enum class Kind : int {
    Near = 0,
    Far = -3,
};

struct Point {
    f32 x;
    f32 y;
    Kind kind;
    __device__ __forceinline__ friend bool operator==(const Point&, const Point&) = default;
};
static_assert(sizeof(Point) == 12 && alignof(Point) == 4);
static_assert(PHALANX_OFFSET_OF(Point, x) == 0);
static_assert(PHALANX_OFFSET_OF(Point, y) == 4);
static_assert(PHALANX_OFFSET_OF(Point, kind) == 8);

__device__ const local_array<Point, 2> POINTS{{{.x = 0.25f, .y = -1.5f, .kind = Kind::Far}, {.x = f32::from_bits(0x7fc00000u), .y = 3.0f, .kind = Kind::Near}}};

__constant__ const local_array<f32, 8> TABLE{{0.5f, f32::from_bits(0x80000000u), f32::from_bits(0x7f800000u), 1.1754944e-38f, 1e-45f, 3.4028235e38f, 0.1f, -7.25f}};

__device__ __forceinline__ f32 looked_up(local_array<f32, 8> table, u32 i) {
#line 107 "ui-tests/conformance/src/kernels/constants.rs"
    return as_const(table)[i];
}

extern "C" __global__ void __launch_bounds__(2)
values(slice_mut<Point> out, slice_mut<f32> floats, const __grid_constant__ launch_block phalanx_launch) {
    assume_arguments(out, floats);
    constexpr auto ORIGIN = Point{.x = 0.25f, .y = -1.5f, .kind = Kind::Far};
    constexpr auto Point_UNIT = Point{.x = 1.0f, .y = 1.0f, .kind = Kind::Near};
    constexpr auto consts_PI = f32(3.1415927f);
#line 112 "ui-tests/conformance/src/kernels/constants.rs"
    auto i = this_thread_block().thread_rank();
    out[at_launch<0>(i)] = ORIGIN;
    out[at_launch<0>(i)].y += Point_UNIT.y;
    out[at_launch<1>(2 + i)] = POINTS[i];
    out[at_launch<2>(4 + i)] = Point{.x = f32(2.0f), .y = Point_UNIT.y, .kind = Point_UNIT.kind};
    out[at_launch<2>(4 + i)].kind = i == 0 ? Kind::Far : Point_UNIT.kind;
    floats[at_launch<3>(i)] = looked_up(TABLE, 6 + i) + consts_PI;
    floats[at_launch<4>(2 + i)] = as<f32>(as<i32>(Kind::Far));
}
