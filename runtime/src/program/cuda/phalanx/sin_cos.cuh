// Rust's `sin_cos` of floats, in its own header because it returns a tuple.
#pragma once
#include <phalanx/math.cuh>
#include <phalanx/tuple.cuh>

namespace phalanx {

__device__ __forceinline__ tuple<f32, f32> sin_cos(f32 a) {
    float sine, cosine;
    sincosf(a.value, &sine, &cosine);
    return {sine, cosine};
}
__device__ __forceinline__ tuple<f64, f64> sin_cos(f64 a) {
    double sine, cosine;
    sincos(a.value, &sine, &cosine);
    return {sine, cosine};
}
template <class Format>
__device__ __forceinline__ auto sin_cos(half_float<Format> a) {
    using T = half_float<Format>;
    const auto both = sin_cos(f32(a.wide()));
    return tuple<T, T>{T::from_f32(both._0), T::from_f32(both._1)};
}

} // namespace phalanx
