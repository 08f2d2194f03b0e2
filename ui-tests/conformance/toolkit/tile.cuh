// tile.cuh over <cooperative_groups.h>: tiles and coalesced groups, their ranks, partitions, shuffles and votes are the
// toolkit's. A value moves as words of 32 bits, because the toolkit takes no strong types; reductions and scans are loops
// over its shuffles, in the order that ours have, so that floats come out the same.
#pragma once
#include <phalanx/groups.cuh>
#include <phalanx/operator.cuh>

namespace phalanx {
namespace detail {

template <class T, class Move>
__device__ __forceinline__ T moved(const T& value, Move move) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) {
        word = move(word);
    }
    T out;
    memcpy(&out, words, sizeof(T));
    return out;
}

// Over the toolkit's group, `group()`.
template <class Own>
struct warp_group {
    __device__ __forceinline__ u32 thread_rank() const { return group().thread_rank(); }
    __device__ __forceinline__ u32 num_threads() const { return group().num_threads(); }
    __device__ __forceinline__ u32 size() const { return group().size(); }
    __device__ __forceinline__ u32 meta_group_rank() const { return group().meta_group_rank(); }
    __device__ __forceinline__ u32 meta_group_size() const { return group().meta_group_size(); }
    __device__ __forceinline__ void sync() const { group().sync(); }
    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ bool any(bool predicate) const { return group().any(predicate); }
    __device__ __forceinline__ bool all(bool predicate) const { return group().all(predicate); }
    __device__ __forceinline__ u32 ballot(bool predicate) const { return group().ballot(predicate); }
    template <class T>
    __device__ __forceinline__ u32 match_any(T value) const {
        unsigned same = ~0u;
        moved(value, [&](unsigned word) {
            same &= group().match_any(word);
            return word;
        });
        return same;
    }
    template <class T>
    __device__ __forceinline__ u32 match_all(T value) const {
        unsigned same = ~0u;
        moved(value, [&](unsigned word) {
            int all;
            same &= group().match_all(word, all);
            return word;
        });
        return same;
    }

    // A rank modulo the size, and one's own value where there is no such rank: the toolkit leaves that to the caller.
    template <class T>
    __device__ __forceinline__ T shfl(T value, u32 source) const {
        return moved(value, [&](unsigned word) { return group().shfl(word, source.value % group().num_threads()); });
    }
    template <class T>
    __device__ __forceinline__ T shfl_up(T value, u32 delta) const {
        const unsigned below = delta.value <= group().thread_rank() ? delta.value : 0;
        return from(value, group().thread_rank() - below);
    }
    template <class T>
    __device__ __forceinline__ T shfl_down(T value, u32 delta) const {
        const unsigned above = delta.value < group().num_threads() - group().thread_rank() ? delta.value : 0;
        return from(value, group().thread_rank() + above);
    }

    template <class T, class Op>
    __device__ __forceinline__ T reduce(T value, Op op) const {
        return own().tree(value, op);
    }
    template <class T, class Op>
    __device__ __forceinline__ T inclusive_scan(T value, Op op) const {
        for (unsigned step = 1; step < group().num_threads(); step *= 2) {
            const T below = shfl_up(value, step);
            if (group().thread_rank() >= step) {
                value = op(below, value);
            }
        }
        return value;
    }
    template <class T, class Op>
    __device__ __forceinline__ T exclusive_scan(T value, Op op) const {
        const T below = shfl_up(inclusive_scan(value, op), 1);
        if (group().thread_rank() != 0) {
            return below;
        }
        if constexpr (named_operator<Op>) {
            return Op::template identity<T>();
        }
        return value;
    }
    template <class Once>
    __device__ __forceinline__ auto invoke_one_broadcast(Once once) const {
        decltype(once()) value;
        if (group().thread_rank() == 0) {
            value = once();
        }
        return shfl(value, 0);
    }

  private:
    __device__ __forceinline__ const Own& own() const { return static_cast<const Own&>(*this); }
    __device__ __forceinline__ const auto& group() const { return own().toolkit; }
    template <class T>
    __device__ __forceinline__ T from(T value, unsigned rank) const {
        return moved(value, [&](unsigned word) { return group().shfl(word, rank); });
    }
};

// The toolkit takes labels that are integers. Of others, the first lane that has the same bits is one.
template <class Group, class Label>
__device__ __forceinline__ unsigned label(const Group& group, Label label) {
    return __ffs(static_cast<int>(group.match_any(label).value));
}
template <class Group, class Raw>
__device__ __forceinline__ Raw label(const Group&, integer<Raw> label) {
    return label.value;
}

} // namespace detail

template <unsigned N>
struct thread_block_tile : detail::warp_group<thread_block_tile<N>> {
    detail::cg::thread_block_tile<N> toolkit;

    __device__ __forceinline__ thread_block_tile(const detail::cg::thread_block_tile<N>& toolkit) : toolkit(toolkit) {}

    // The toolkit has masks of the tile alone.
    __device__ __forceinline__ const thread_block_tile& whole_warp() const { return *this; }

    template <class T>
    __device__ __forceinline__ T shfl_xor(T value, u32 mask) const {
        return detail::moved(value, [&](unsigned word) { return toolkit.shfl_xor(word, mask.value % N); });
    }
    template <class A, class B, class C>
    __device__ C mma(const A& a, const B& b, const C& c) const {
        return tensor_product(a, b, c);
    }
    template <class T, class Op>
    __device__ __forceinline__ T tree(T value, Op op) const {
        for (unsigned step = 1; step < N; step *= 2) {
            const T other = shfl_xor(value, step);
            value = (toolkit.thread_rank() & step) == 0 ? op(value, other) : op(other, value);
        }
        return value;
    }
};

struct coalesced_group : detail::warp_group<coalesced_group> {
    detail::cg::coalesced_group toolkit;
    unsigned meta_rank, meta_size;

    __device__ __forceinline__ coalesced_group(const detail::cg::coalesced_group& toolkit)
        : coalesced_group(toolkit, toolkit.meta_group_rank(), toolkit.meta_group_size()) {}
    __device__ __forceinline__ coalesced_group(const detail::cg::coalesced_group& toolkit, unsigned meta_rank, unsigned meta_size)
        : toolkit(toolkit), meta_rank(meta_rank), meta_size(meta_size) {}

    __device__ __forceinline__ coalesced_group(const coalesced_group&) = default;
    // The toolkit's groups are not assigned, only made.
    __device__ __forceinline__ coalesced_group& operator=(const coalesced_group& other) {
        memcpy(this, &other, sizeof(other));
        return *this;
    }

    __device__ __forceinline__ u32 meta_group_rank() const { return meta_rank; }
    __device__ __forceinline__ u32 meta_group_size() const { return meta_size; }

    template <class T, class Op>
    __device__ __forceinline__ T tree(T value, Op op) const {
        for (unsigned step = 1; step < toolkit.num_threads(); step *= 2) {
            const T other = shfl_down(value, step);
            if (toolkit.thread_rank() + step < toolkit.num_threads()) {
                value = op(value, other);
            }
        }
        return shfl(value, 0);
    }
};

template <unsigned N>
__device__ __forceinline__ thread_block_tile<N>
tiled_partition(const thread_block& block, PHALANX_SITE) {
    const unsigned threads = detail::threads_of_block();
    if (threads % N != 0) {
        detail::fail(detail::partial_tile, site, record_value(u32(threads)), record_value(u32(N)));
    }
    return detail::cg::thread_block_tile<N>(detail::cg::tiled_partition<N>(detail::cg::this_thread_block()));
}
template <unsigned N, unsigned M>
__device__ __forceinline__ thread_block_tile<N> tiled_partition(const thread_block_tile<M>& tile) {
    return detail::cg::thread_block_tile<N>(detail::cg::tiled_partition<N>(tile.toolkit));
}
__device__ __forceinline__ coalesced_group coalesced_threads() {
    return detail::cg::coalesced_threads();
}
template <class Group, class Label>
__device__ __forceinline__ coalesced_group labeled_partition(const Group& group, Label label) {
    return detail::cg::labeled_partition(group.toolkit, detail::label(group, label));
}
template <class Group>
__device__ __forceinline__ coalesced_group binary_partition(const Group& group, bool predicate) {
    // Where all agree, the toolkit counts one group, of rank 0. Ours are always two.
    return {detail::cg::binary_partition(group.toolkit, predicate), predicate, 2};
}

} // namespace phalanx
