// `(A, B)`: a local value of up to eight parts, `tuple<u32, f32>{a, b}`, `t._0`. Tuples are compared as in Rust, by the
// first parts that differ.
#pragma once

namespace phalanx {

template <class... Parts>
struct tuple;

namespace detail {

// Orders two tuples by `before`, which is one of the four comparisons, from part to part.
template <class Before, class Part, class... Rest>
__device__ __forceinline__ constexpr bool ordered(Before before, const Part& a, const Part& b, const Rest&... rest) {
    if constexpr (sizeof...(rest) == 0) {
        return before(a, b);
    } else {
        return a == b ? ordered(before, rest...) : before(a, b);
    }
}

} // namespace detail

template <class A>
struct tuple<A> {
    A _0;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0);
    }
};

template <class A, class B>
struct tuple<A, B> {
    A _0;
    B _1;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1);
    }
};

template <class A, class B, class C>
struct tuple<A, B, C> {
    A _0;
    B _1;
    C _2;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2);
    }
};

template <class A, class B, class C, class D>
struct tuple<A, B, C, D> {
    A _0;
    B _1;
    C _2;
    D _3;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2, _3, b._3);
    }
};

template <class A, class B, class C, class D, class E>
struct tuple<A, B, C, D, E> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2, _3, b._3, _4, b._4);
    }
};

template <class A, class B, class C, class D, class E, class F>
struct tuple<A, B, C, D, E, F> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2, _3, b._3, _4, b._4, _5, b._5);
    }
};

template <class A, class B, class C, class D, class E, class F, class G>
struct tuple<A, B, C, D, E, F, G> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2, _3, b._3, _4, b._4, _5, b._5, _6, b._6);
    }
};

template <class A, class B, class C, class D, class E, class F, class G, class H>
struct tuple<A, B, C, D, E, F, G, H> {
    A _0;
    B _1;
    C _2;
    D _3;
    E _4;
    F _5;
    G _6;
    H _7;

    __device__ __forceinline__ friend bool operator==(const tuple&, const tuple&) = default;
    template <class Before>
    __device__ __forceinline__ constexpr bool ordered(const tuple& b, Before before) const {
        return detail::ordered(before, _0, b._0, _1, b._1, _2, b._2, _3, b._3, _4, b._4, _5, b._5, _6, b._6, _7, b._7);
    }
};

template <class... Parts>
__device__ __forceinline__ constexpr bool operator<(const tuple<Parts...>& a, const tuple<Parts...>& b) {
    return a.ordered(b, [](const auto& x, const auto& y) { return x < y; });
}

template <class... Parts>
__device__ __forceinline__ constexpr bool operator<=(const tuple<Parts...>& a, const tuple<Parts...>& b) {
    return a.ordered(b, [](const auto& x, const auto& y) { return x <= y; });
}

template <class... Parts>
__device__ __forceinline__ constexpr bool operator>(const tuple<Parts...>& a, const tuple<Parts...>& b) {
    return a.ordered(b, [](const auto& x, const auto& y) { return x > y; });
}

template <class... Parts>
__device__ __forceinline__ constexpr bool operator>=(const tuple<Parts...>& a, const tuple<Parts...>& b) {
    return a.ordered(b, [](const auto& x, const auto& y) { return x >= y; });
}

} // namespace phalanx
