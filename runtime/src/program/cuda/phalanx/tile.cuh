// `tiled_partition<32>(block)` and `coalesced_threads()` with cooperative groups' names: groups of threads of one warp,
// and their collectives. All of them are `.sync` with the lanes of the group (PTX ISA: shfl.sync, vote.sync,
// match.sync, redux.sync, bar.warp.sync, activemask). Ranks count the group's lanes from the lowest. Whether all
// threads of the group arrive is not checked here.
#pragma once
#include <phalanx/groups.cuh>
#include <phalanx/operator.cuh>

namespace phalanx {
namespace detail {

// The thread's lane. The compiler takes what an assembly without operands returns for the same in all threads of a warp, and makes two
// loops of one with a condition on it, so that the threads of a warp no longer meet in its shuffles and barriers. It
// knows that the thread's place differs. Warps consist of consecutive ranks (CUDA C++ Programming Guide, Thread Hierarchy).
__device__ __forceinline__ unsigned own_lane() {
#ifdef PHALANX_BLOCK
    return thread_in_block() % 32;
#else
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane) : "r"(threadIdx.x));
    return lane;
#endif
}
__device__ __forceinline__ unsigned lanes_below() {
    unsigned lanes;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes) : "r"(threadIdx.x));
    return lanes;
}

// Returns the lane of this rank among `lanes`, which has more than `rank`, by bisection, as `__fns` does.
__device__ __forceinline__ unsigned nth_lane(unsigned lanes, unsigned rank) {
    unsigned lane = 0;
    for (unsigned half = 16; half > 0; half /= 2) {
        const unsigned below = __popc(lanes & ((1u << half) - 1));
        if (rank >= below) {
            rank -= below;
            lanes >>= half;
            lane += half;
        }
    }
    return lane;
}

// Converts a mask of lanes to one of ranks: the bits of `bits` at the positions of `lanes`, moved together.
__device__ __forceinline__ unsigned ranked(unsigned bits, unsigned lanes) {
    // Adjacent lanes need only a shift.
    if ((lanes & (lanes + (lanes & -lanes))) == 0) {
        return bits >> (__ffs(static_cast<int>(lanes)) - 1);
    }
    unsigned out = 0;
    for (unsigned rank = 0; lanes != 0; ++rank, lanes &= lanes - 1) {
        out |= ((bits & lanes & -lanes) != 0) << rank;
    }
    return out;
}

// A value as 32-bit words, the last one padded with zeros.
template <class T>
struct words {
    unsigned word[(sizeof(T) + 3) / 4];

    __device__ __forceinline__ explicit words(const T& value) {
        if constexpr (sizeof(T) % 4 == 0) {
            *this = __builtin_bit_cast(words, value);
        } else {
            word[sizeof(T) / 4] = 0;
            memcpy(word, &value, sizeof(T));
        }
    }
    __device__ __forceinline__ T value() const {
        if constexpr (sizeof(T) % 4 == 0) {
            return __builtin_bit_cast(T, *this);
        } else {
            T value;
            memcpy(&value, word, sizeof(T));
            return value;
        }
    }

    template <class Move>
    __device__ __forceinline__ static T moved(const T& value, Move move) {
        words all(value);
#pragma unroll
        for (unsigned& word : all.word) {
            word = move(word);
        }
        return all.value();
    }
};

// The operations that tiles and coalesced groups share, in terms of the `lanes`, the ranks and the shuffles of `Group`. The
// instructions are executed by the lanes `together`, which are more where the whole warp does the same.
template <class Group>
struct warp_group {
    __device__ __forceinline__ u32 size() const { return group().num_threads(); }
    __device__ __forceinline__ void sync() const { __syncwarp(group().together()); }
    // The simulator verifies the assertion; it is trusted here.
    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ bool any(bool predicate) const {
        if constexpr (Group::others_join()) {
            return (__ballot_sync(group().together(), predicate) & group().lanes()) != 0;
        } else {
            return __any_sync(group().lanes(), predicate);
        }
    }
    __device__ __forceinline__ bool all(bool predicate) const {
        if constexpr (Group::others_join()) {
            return (~__ballot_sync(group().together(), predicate) & group().lanes()) == 0;
        } else {
            return __all_sync(group().lanes(), predicate);
        }
    }
    // Returns the bit of each rank whose predicate holds.
    __device__ __forceinline__ u32 ballot(bool predicate) const { return group().ranks(__ballot_sync(group().together(), predicate)); }

    // Returns the ranks whose value has the same bits.
    template <class T>
    __device__ __forceinline__ u32 match_any(T value) const {
        return group().ranks(matching(value));
    }
    // Returns all ranks if all values have the same bits, otherwise none.
    template <class T>
    __device__ __forceinline__ u32 match_all(T value) const {
        const unsigned lanes = group().lanes();
        unsigned same = lanes;
        for (unsigned word : words<T>(value).word) {
            int all;
            same &= __match_all_sync(lanes, word, &all);
        }
        return group().ranks(same);
    }

    template <class T, class Op>
    __device__ __forceinline__ T reduce(T value, Op op) const {
        if constexpr (Group::in_hardware() && named_operator<Op> && requires { typename widened<T>::type; }) {
            using wide = typename widened<T>::type;
            return static_cast<T>(Op::in_hardware(group().lanes(), static_cast<wide>(raw_value(value))));
        } else {
            return group().tree(value, op);
        }
    }

    // The scan of Hillis and Steele: in steps of 1, 2, 4, ... ranks, each thread adds the value that far below it.
    template <class T, class Op>
    __device__ __forceinline__ T inclusive_scan(T value, Op op) const {
        const unsigned rank = group().thread_rank().value;
        for (unsigned step = 1; step < group().num_threads().value; step *= 2) {
            const T below = group().shfl_up(value, step);
            if (rank >= step) {
                value = op(below, value);
            }
        }
        return value;
    }
    // The first thread gets the operator's identity, or its own value if the operator is a closure, which has none.
    template <class T, class Op>
    __device__ __forceinline__ T exclusive_scan(T value, Op op) const {
        const T below = group().shfl_up(inclusive_scan(value, op), 1);
        T first = value;
        if constexpr (named_operator<Op>) {
            first = Op::template identity<T>();
        }
        return group().thread_rank() == 0 ? first : below;
    }

    // Returns the result of the thread of rank 0 to all threads. Only that thread computes it.
    template <class Once>
    __device__ __forceinline__ auto invoke_one_broadcast(Once once) const {
        decltype(once()) value;
        if (group().thread_rank() == 0) {
            value = once();
        }
        return group().shfl(value, 0);
    }

    // Returns the lanes whose value has the same bits.
    template <class T>
    __device__ __forceinline__ unsigned matching(T value) const {
        unsigned same = group().lanes();
        for (unsigned word : words<T>(value).word) {
            same &= __match_any_sync(group().together(), word);
        }
        return same;
    }

  private:
    __device__ __forceinline__ const Group& group() const { return static_cast<const Group&>(*this); }
};

} // namespace detail

// `N` neighbouring threads of a warp, the first at a multiple of `N`. `InWarp` is set where all tiles of the warp do the same
// together, which needs no masks that are known at run time alone.
template <unsigned N, bool InWarp = false>
struct thread_block_tile : detail::warp_group<thread_block_tile<N, InWarp>> {
    static_assert(N == 1 || N == 2 || N == 4 || N == 8 || N == 16 || N == 32 || N == 128);

    // One instruction, if the tile is the warp; each smaller tile would need its own.
    __device__ __forceinline__ static consteval bool in_hardware() { return N == 32; }
    __device__ __forceinline__ static consteval bool others_join() { return InWarp && N < 32; }

    unsigned meta_rank, meta_size;

    __device__ __forceinline__ thread_block_tile(unsigned meta_rank, unsigned meta_size) : meta_rank(meta_rank), meta_size(meta_size) {}

    __device__ __forceinline__ u32 thread_rank() const {
        if constexpr (N > 32) {
            return detail::thread_in_block() % N;
        } else {
            return detail::own_lane() % N;
        }
    }
    __device__ __forceinline__ u32 num_threads() const { return N; }
    __device__ __forceinline__ u32 meta_group_rank() const { return meta_rank; }
    __device__ __forceinline__ u32 meta_group_size() const { return detail::not_zero(meta_size); }

    // The tile where all threads of its warp are.
    __device__ __forceinline__ thread_block_tile<N, true> whole_warp() const { return {meta_rank, meta_size}; }

    // `source` modulo the size.
    template <class T>
    __device__ __forceinline__ T shfl(T value, u32 source) const {
        return detail::words<T>::moved(value, [=, this](unsigned word) { return __shfl_sync(together(), word, source.value, N); });
    }
    // Returns the thread's own value if there is no such rank.
    template <class T>
    __device__ __forceinline__ T shfl_up(T value, u32 delta) const {
        return detail::words<T>::moved(value, [=, this](unsigned word) { return __shfl_up_sync(together(), word, within(delta), N); });
    }
    template <class T>
    __device__ __forceinline__ T shfl_down(T value, u32 delta) const {
        return detail::words<T>::moved(value, [=, this](unsigned word) { return __shfl_down_sync(together(), word, within(delta), N); });
    }
    // `mask` modulo the size.
    template <class T>
    __device__ __forceinline__ T shfl_xor(T value, u32 mask) const {
        return detail::words<T>::moved(value, [=, this](unsigned word) { return __shfl_xor_sync(together(), word, mask.value % N, N); });
    }

    // `a * b + c` of matrices, by the tensor cores. matrix.cuh has the product, for the types that it defines.
    template <class A, class B, class C>
    __device__ __forceinline__ C mma(const A& a, const B& b, const C& c) const {
        static_assert(N == 32);
        return tensor_product(a, b, c);
    }

    // The lanes that execute the group's instructions.
    __device__ __forceinline__ unsigned together() const { return others_join() ? ~0u : lanes(); }
    // The group's lanes in the warp.
    __device__ __forceinline__ unsigned lanes() const {
        if constexpr (N == 32) {
            return ~0u;
        } else {
            return ((1u << N) - 1) << first();
        }
    }
    __device__ __forceinline__ unsigned ranks(unsigned bits) const {
        if constexpr (N == 32) {
            return bits;
        } else {
            return bits >> first() & ((1u << N) - 1);
        }
    }
    // Neighbours are joined first, the lower rank on the left. A named operator computes the same in every thread. The operands of
    // another have an order: rank 0 has the result.
    template <class T, class Op>
    __device__ __forceinline__ T tree(T value, Op op) const {
        if constexpr (detail::named_operator<Op>) {
#pragma unroll
            for (unsigned step = 1; step < N; step *= 2) {
                value = op(value, shfl_xor(value, step));
            }
            return value;
        } else {
            const unsigned rank = thread_rank().value;
#pragma unroll
            for (unsigned step = 1; step < N; step *= 2) {
                const T other = shfl_down(value, step);
                // Of the others' results none is used.
                if (detail::is_total<Op> || rank % (2 * step) == 0) {
                    value = op(value, other);
                }
            }
            return shfl(value, 0);
        }
    }

  private:
    __device__ __forceinline__ static unsigned first() { return detail::own_lane() & ~(N - 1); }
    // The hardware reads 5 bits; 0 keeps the thread's own value.
    __device__ __forceinline__ static unsigned within(u32 delta) { return delta.value < N ? delta.value : 0; }
};

// Any subset of a warp's threads.
struct coalesced_group : detail::warp_group<coalesced_group> {
    __device__ __forceinline__ static consteval bool in_hardware() { return true; }
    __device__ __forceinline__ static consteval bool others_join() { return false; }

    unsigned mask, meta_rank, meta_size;

    __device__ __forceinline__ coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
        : mask(mask), meta_rank(meta_rank), meta_size(meta_size) {}

    __device__ __forceinline__ u32 thread_rank() const { return __popc(mask & detail::lanes_below()); }
    __device__ __forceinline__ u32 num_threads() const { return detail::not_zero<unsigned>(__popc(mask)); }
    __device__ __forceinline__ u32 meta_group_rank() const { return meta_rank; }
    __device__ __forceinline__ u32 meta_group_size() const { return detail::not_zero(meta_size); }

    // `source` modulo the size.
    template <class T>
    __device__ __forceinline__ T shfl(T value, u32 source) const {
        const unsigned threads = num_threads().value;
        return from(value, lane(source.value < threads ? source.value : source.value % threads));
    }
    // Returns the thread's own value if there is no such rank.
    template <class T>
    __device__ __forceinline__ T shfl_up(T value, u32 delta) const {
        const unsigned rank = thread_rank().value;
        return from(value, lane(delta.value <= rank ? rank - delta.value : rank));
    }
    template <class T>
    __device__ __forceinline__ T shfl_down(T value, u32 delta) const {
        const unsigned rank = thread_rank().value;
        return from(value, lane(delta.value < num_threads().value - rank ? rank + delta.value : rank));
    }

    // The group's lanes in the warp.
    __device__ __forceinline__ unsigned lanes() const { return mask; }
    __device__ __forceinline__ unsigned together() const { return mask; }
    __device__ __forceinline__ unsigned ranks(unsigned bits) const { return detail::ranked(bits, mask); }
    // Neighbours are joined first, the lower rank on the left. A missing right side is left out. Rank 0 has the result.
    template <class T, class Op>
    __device__ __forceinline__ T tree(T value, Op op) const {
        const unsigned threads = num_threads().value, rank = thread_rank().value;
        for (unsigned step = 1; step < threads; step *= 2) {
            const T other = shfl_down(value, step);
            if (rank + step < threads) {
                value = op(value, other);
            }
        }
        return shfl(value, 0);
    }

  private:
    __device__ __forceinline__ unsigned lane(unsigned rank) const { return mask == ~0u ? rank : detail::nth_lane(mask, rank); }
    template <class T>
    __device__ __forceinline__ T from(T value, unsigned lane) const {
        return detail::words<T>::moved(value, [=, this](unsigned word) { return __shfl_sync(mask, word, lane); });
    }
};

// Partitions a block whose size must be a multiple of `N`, so that no tile is partial.
template <unsigned N>
__device__ __forceinline__ thread_block_tile<N>
tiled_partition(const thread_block& block, PHALANX_SITE) {
    const unsigned threads = detail::threads_of_block();
    if (threads % N != 0) {
        detail::fail(detail::partial_tile, site, record_value(u32(threads)), record_value(u32(N)));
    }
    return {block.thread_rank().value / N, threads / N};
}
template <unsigned N, unsigned M>
__device__ __forceinline__ thread_block_tile<N> tiled_partition(const thread_block_tile<M>& tile) {
    static_assert(N <= M);
    return {tile.thread_rank().value / N, M / N};
}

// Returns the converged threads of the warp.
__device__ __forceinline__ coalesced_group coalesced_threads() {
    return {__activemask(), 0, 1};
}

// Returns the threads of the group with the same label; the groups are numbered by their first thread.
template <class Group, class Label>
__device__ __forceinline__ coalesced_group labeled_partition(const Group& group, Label label) {
    const unsigned own = group.matching(label);
    const unsigned firsts = __ballot_sync(group.lanes(), (own & detail::lanes_below()) == 0);
    const unsigned before = (own & -own) - 1;
    return {own, static_cast<unsigned>(__popc(firsts & before)), static_cast<unsigned>(__popc(firsts))};
}

// Threads whose predicate does not hold are group 0, the others group 1.
template <class Group>
__device__ __forceinline__ coalesced_group binary_partition(const Group& group, bool predicate) {
    const unsigned holds = __ballot_sync(group.lanes(), predicate);
    return {predicate ? holds : group.lanes() & ~holds, predicate, 2};
}

} // namespace phalanx
