// groups.cuh over <cooperative_groups.h>: ranks, sizes, barriers and peers' memory are the toolkit's, under the names that
// generated texts use. What the toolkit does not have is left as it is in the prelude: the check of a peer's rank, and
// `uniform`. The toolkit's header is told to leave the C++ library's out, which takes a compilation a second.
#pragma once
#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
#include <phalanx/memory.cuh>

namespace phalanx {

struct extent {
    u32 x, y, z;
};

namespace detail {

namespace cg = cooperative_groups;

__device__ __forceinline__ extent extent_of(dim3 v) {
    return {v.x, v.y, v.z};
}
__device__ __forceinline__ unsigned thread_in_block() {
    return cg::thread_block::thread_rank();
}
__device__ __forceinline__ unsigned threads_of_block() {
    return cg::thread_block::num_threads();
}

} // namespace detail

template <bool of_cluster>
struct phase_barrier;
using cluster_barrier = phase_barrier<true>;
struct remote_barrier;

// Its header says itself which barrier is `.aligned`.
#define PHALANX_ALIGNED ""

struct thread_block {
    using toolkit = detail::cg::thread_block;
    using arrival_token = toolkit::arrival_token;

    __device__ __forceinline__ u32 thread_rank() const { return toolkit::thread_rank(); }
    __device__ __forceinline__ u32 num_threads() const { return toolkit::num_threads(); }
    __device__ __forceinline__ u32 size() const { return toolkit::size(); }
    __device__ __forceinline__ extent thread_index() const { return detail::extent_of(toolkit::thread_index()); }
    __device__ __forceinline__ extent group_index() const { return detail::extent_of(toolkit::group_index()); }
    __device__ __forceinline__ extent dim_threads() const { return detail::extent_of(toolkit::dim_threads()); }
    __device__ __forceinline__ extent group_dim() const { return detail::extent_of(toolkit::group_dim()); }

    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ void sync() const { toolkit::sync(); }
    __device__ __forceinline__ void sync_aligned() const { toolkit::sync(); }

    __device__ __forceinline__ arrival_token barrier_arrive() const { return detail::cg::this_thread_block().barrier_arrive(); }
    __device__ __forceinline__ void barrier_wait(arrival_token token) const {
        detail::cg::this_thread_block().barrier_wait(static_cast<arrival_token&&>(token));
    }
};

struct cluster_group {
    using toolkit = detail::cg::cluster_group;
    using arrival_token = toolkit::arrival_token;

    __device__ __forceinline__ u32 thread_rank() const { return toolkit::thread_rank(); }
    __device__ __forceinline__ u32 num_threads() const { return toolkit::num_threads(); }
    __device__ __forceinline__ u32 size() const { return toolkit::size(); }
    __device__ __forceinline__ u32 block_rank() const { return toolkit::block_rank(); }
    __device__ __forceinline__ u32 num_blocks() const { return toolkit::num_blocks(); }
    __device__ __forceinline__ extent block_index() const { return detail::extent_of(toolkit::block_index()); }
    __device__ __forceinline__ extent dim_blocks() const { return detail::extent_of(toolkit::dim_blocks()); }
    __device__ __forceinline__ extent dim_threads() const { return detail::extent_of(toolkit::dim_threads()); }

    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ void sync() const { toolkit::sync(); }
    __device__ __forceinline__ arrival_token barrier_arrive() const { return toolkit::barrier_arrive(); }
    __device__ __forceinline__ void barrier_wait(arrival_token token) const { toolkit::barrier_wait(static_cast<arrival_token&&>(token)); }
    // Of the language extensions, which cooperative groups are built on.
    __device__ __forceinline__ arrival_token barrier_arrive_relaxed() const {
        __cluster_barrier_arrive_relaxed();
        return {};
    }

    // The toolkit has no barrier that orders shared memory alone.
    __device__ __forceinline__ void sync_shared() const { sync(); }
    __device__ __forceinline__ arrival_token barrier_arrive_shared() const { return barrier_arrive(); }
    __device__ __forceinline__ void barrier_wait_shared(arrival_token token) const { barrier_wait(static_cast<arrival_token&&>(token)); }
    // Nor has it one that waits for what was read of peers.
    template <class Reads>
    __device__ __forceinline__ void sync_shared(Reads&) const { sync(); }
    template <class Reads>
    __device__ __forceinline__ arrival_token barrier_arrive_shared(Reads&) const { return barrier_arrive(); }
    template <class Reads>
    __device__ __forceinline__ void sync(Reads&) const { sync(); }
    template <class Reads>
    __device__ __forceinline__ arrival_token barrier_arrive(Reads&) const { return barrier_arrive(); }
    __device__ __forceinline__ void sync_relaxed() const { barrier_wait(barrier_arrive_relaxed()); }
    __device__ __forceinline__ void sync_aligned() const { sync(); }
    __device__ __forceinline__ arrival_token barrier_arrive_aligned() const { return barrier_arrive(); }
    __device__ __forceinline__ arrival_token barrier_arrive_relaxed_aligned() const { return barrier_arrive_relaxed(); }
    __device__ __forceinline__ void barrier_wait_aligned(arrival_token token) const { barrier_wait(token); }

    template <class T, unsigned long long N>
    __device__ __forceinline__ remote_array<T, N> map_shared_rank(const shared_array<T, N>& array, u32 peer, PHALANX_SITE) const {
        return {map(const_cast<T*>(array.elements), peer, site)};
    }
    template <class T>
    __device__ __forceinline__ remote_slice<T> map_shared_rank(shared_slice<T> array, u32 peer, PHALANX_SITE) const {
        return {map(array.data, peer, site), array.length};
    }

    __device__ __forceinline__ remote_barrier map_shared_rank(const cluster_barrier& barrier, u32 peer, PHALANX_SITE) const;

    template <class T, unsigned long long N>
    __device__ __forceinline__ u32 query_shared_rank(const shared_array<T, N>& array) const {
        return toolkit::query_shared_rank(array.elements);
    }
    template <class T, unsigned long long N>
    __device__ __forceinline__ u32 query_shared_rank(const remote_array<T, N>& array) const {
        return toolkit::query_shared_rank(array.data);
    }
    template <class T>
    __device__ __forceinline__ u32 query_shared_rank(shared_slice<T> array) const {
        return toolkit::query_shared_rank(array.data);
    }
    template <class T>
    __device__ __forceinline__ u32 query_shared_rank(remote_slice<T> array) const {
        return toolkit::query_shared_rank(array.data);
    }

    // Of an array or of a barrier.
    template <class T>
    __device__ __forceinline__ T* map(T* local, u32 peer, unsigned site) const {
        if (peer >= num_blocks()) {
            detail::fail(detail::rank_out_of_range, site, record_value(peer), record_value(num_blocks()));
        }
        return toolkit::map_shared_rank(local, static_cast<int>(peer.value));
    }
};

struct grid_group {
    using toolkit = detail::cg::grid_group;
    using arrival_token = toolkit::arrival_token;

    __device__ __forceinline__ usize thread_rank() const { return toolkit::thread_rank(); }
    __device__ __forceinline__ usize num_threads() const { return toolkit::num_threads(); }
    __device__ __forceinline__ usize size() const { return toolkit::size(); }
    __device__ __forceinline__ usize block_rank() const { return toolkit::block_rank(); }
    __device__ __forceinline__ usize num_blocks() const { return toolkit::num_blocks(); }
    __device__ __forceinline__ usize cluster_rank() const { return toolkit::cluster_rank(); }
    __device__ __forceinline__ usize num_clusters() const { return toolkit::num_clusters(); }
    __device__ __forceinline__ extent block_index() const { return detail::extent_of(toolkit::block_index()); }
    __device__ __forceinline__ extent dim_blocks() const { return detail::extent_of(toolkit::dim_blocks()); }
    __device__ __forceinline__ extent cluster_index() const { return detail::extent_of(toolkit::cluster_index()); }
    __device__ __forceinline__ extent dim_clusters() const { return detail::extent_of(toolkit::dim_clusters()); }

    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ void sync() const { detail::cg::this_grid().sync(); }
    __device__ __forceinline__ arrival_token barrier_arrive() const { return detail::cg::this_grid().barrier_arrive(); }
    __device__ __forceinline__ void barrier_wait(arrival_token token) const {
        detail::cg::this_grid().barrier_wait(static_cast<arrival_token&&>(token));
    }
};

__device__ __forceinline__ thread_block this_thread_block() {
    return {};
}
__device__ __forceinline__ cluster_group this_cluster() {
    return {};
}
__device__ __forceinline__ grid_group this_grid() {
    return {};
}

} // namespace phalanx
