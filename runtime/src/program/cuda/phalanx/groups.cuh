// `this_cluster()`, `this_thread_block()` and `this_grid()` with cooperative groups' names: ranks, sizes, barriers and
// the shared memory of peers. Ranks run x fastest. The macro checks which threads may call what; only a rank that the
// cluster does not have fails here. PTX ISA: Special Registers; barrier{.cta}; barrier.cluster; mapa; getctarank.
#pragma once
#include <phalanx/clusters.cuh>
#include <phalanx/memory.cuh>

namespace phalanx {

// `Dim3`.
struct extent {
    u32 x, y, z;
};

namespace detail {

template <class Vector>
__device__ __forceinline__ extent extent_of(Vector v) {
    return {v.x, v.y, v.z};
}

__device__ __forceinline__ constexpr unsigned volume(dim3 size) {
    return size.x * size.y * size.z;
}

// Tells the compiler that a value is below a bound. It forgets what it was told by an assumption sooner than a mask, which
// costs nothing where it knows.
__device__ __forceinline__ unsigned known_below(unsigned value, unsigned end) {
    if ((end & (end - 1)) == 0) {
        return value & (end - 1);
    }
    __builtin_assume(value < end);
    return value;
}

// The block's extents, and the thread's place in it. If the kernel's attribute fixes the extents, the compiler knows them, and
// how large each index can be.
#ifdef PHALANX_BLOCK
__device__ __forceinline__ constexpr dim3 block_extents() {
    return {PHALANX_BLOCK};
}
__device__ __forceinline__ dim3 thread_place() {
    constexpr dim3 size = block_extents();
    return {known_below(threadIdx.x, size.x), known_below(threadIdx.y, size.y), known_below(threadIdx.z, size.z)};
}
#else
__device__ __forceinline__ dim3 block_extents() {
    return blockDim;
}
__device__ __forceinline__ dim3 thread_place() {
    return threadIdx;
}
#endif
#ifdef PHALANX_PRODUCTS
// Returns a number that is the same in all threads of a warp, and lets the assembler know: they have it from one of them. A check
// that depends on it and fails is then an exit of whole warps. Where only some threads of a warp may take an exit, the assembler
// cannot insert before it the wait for products in flight, and lets no two products of the kernel be in flight at once (ptxas, C7518).
// It is one value at all places, so that the assembly is not volatile.
__device__ __forceinline__ unsigned of_warp(unsigned number) {
    unsigned same;
    asm("{\n"
        ".reg .b32 lanes, last;\n"
        "activemask.b32 lanes;\n"
        "bfind.u32 last, lanes;\n"
        "shfl.sync.idx.b32 %0, %1, last, 31, lanes;\n"
        "}"
        : "=r"(same)
        : "r"(number));
    return same;
}
#endif
__device__ __forceinline__ unsigned thread_in_block() {
    const dim3 size = block_extents(), place = thread_place();
    const unsigned rank = place.x + size.x * (place.y + size.y * place.z);
#ifdef PHALANX_PRODUCTS
    return known_below(of_warp(rank / 32), (volume(size) + 31) / 32) * 32 | rank % 32;
#else
    return rank;
#endif
}
__device__ __forceinline__ unsigned threads_of_block() {
    return volume(block_extents());
}

// The number of blocks in the cluster, and the rank of the thread's block.
#ifdef PHALANX_CLUSTER
__device__ __forceinline__ constexpr dim3 cluster_extents() {
    return {PHALANX_CLUSTER};
}
__device__ __forceinline__ constexpr unsigned blocks_of_cluster() {
    return volume(cluster_extents());
}
__device__ __forceinline__ unsigned block_in_cluster() {
    constexpr unsigned blocks = blocks_of_cluster();
    return blocks > 1 ? known_below(rank_in_cluster(), blocks) : 0;
}
#else
__device__ __forceinline__ dim3 cluster_extents() {
    return extents_of_cluster();
}
__device__ __forceinline__ unsigned blocks_of_cluster() {
    return size_of_cluster();
}
__device__ __forceinline__ unsigned block_in_cluster() {
    return rank_in_cluster();
}
#endif
// The number of blocks or clusters of the grid, and the rank of one. A grid may have more of them, and of threads, than a `u32` counts;
// those of the launches that PHALANX_FLAT_GRID names have one dimension and fewer than 2^32 threads.
#ifdef PHALANX_FLAT_GRID
template <class Size>
__device__ __forceinline__ unsigned volume_of_grid(Size size) {
    return size.x;
}
template <class Index, class Size>
__device__ __forceinline__ unsigned rank_in_grid(Index index, Size) {
    return index.x;
}
#else
template <class Size>
__device__ __forceinline__ unsigned long long volume_of_grid(Size size) {
    return static_cast<unsigned long long>(size.x) * size.y * size.z;
}
template <class Index, class Size>
__device__ __forceinline__ unsigned long long rank_in_grid(Index index, Size size) {
    return index.x + static_cast<unsigned long long>(size.x) * (index.y + static_cast<unsigned long long>(size.y) * index.z);
}
#endif

// Tells the compiler that no group is empty, which eliminates the checks of `% block.num_threads()` and
// `step_by(grid.num_threads())`.
template <class Size>
__device__ __forceinline__ Size not_zero(Size size) {
    __builtin_assume(size > 0);
    return size;
}

} // namespace detail

// Defined in barrier.cuh, which a text that has phase barriers includes.
template <bool of_cluster>
struct phase_barrier;
using cluster_barrier = phase_barrier<true>;
struct remote_barrier;

// Whether all threads of a warp execute a barrier together, which saves the code that reconverges them. The checks
// prove it, unless a convergence rule is switched off.
#ifdef PHALANX_DIVERGENT
#define PHALANX_ALIGNED ""
#else
#define PHALANX_ALIGNED ".aligned"
#endif

struct thread_block {
    // The result of `barrier_arrive`, which `barrier_wait` takes: the barrier's previous state.
    struct arrival_token {
        unsigned long long state;
    };

    __device__ __forceinline__ u32 thread_rank() const { return detail::thread_in_block(); }
    __device__ __forceinline__ u32 num_threads() const { return detail::not_zero(detail::threads_of_block()); }
    __device__ __forceinline__ u32 size() const { return num_threads(); }
    __device__ __forceinline__ extent thread_index() const { return detail::extent_of(detail::thread_place()); }
    __device__ __forceinline__ extent group_index() const { return detail::extent_of(blockIdx); }
    __device__ __forceinline__ extent dim_threads() const { return detail::extent_of(detail::block_extents()); }
    __device__ __forceinline__ extent group_dim() const { return dim_threads(); }

    // The simulator verifies the assertion; it is trusted here.
    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ void sync() const { asm volatile("barrier.sync" PHALANX_ALIGNED " 0;" ::: "memory"); }
    __device__ __forceinline__ void sync_aligned() const { asm volatile("barrier.sync.aligned 0;" ::: "memory"); }

    // Defined in block_barrier.cuh, which a text that has them includes.
    __device__ __forceinline__ arrival_token barrier_arrive() const;
    __device__ __forceinline__ void barrier_wait(arrival_token token PHALANX_AND_WAIT_SITE) const;
};

// The values are read once, because the compiler would read a special register again at each use.
struct cluster_group {
    // The token is empty, because the hardware keeps the phase.
    struct arrival_token {};

    unsigned rank, blocks;

    __device__ __forceinline__ u32 thread_rank() const { return rank * detail::threads_of_block() + detail::thread_in_block(); }
    __device__ __forceinline__ u32 num_threads() const { return detail::not_zero(blocks * detail::threads_of_block()); }
    __device__ __forceinline__ u32 size() const { return num_threads(); }
    __device__ __forceinline__ u32 block_rank() const { return rank; }
    __device__ __forceinline__ u32 num_blocks() const { return detail::not_zero(blocks); }
    __device__ __forceinline__ extent block_index() const { return detail::extent_of(detail::index_in_cluster()); }
    __device__ __forceinline__ extent dim_blocks() const { return detail::extent_of(detail::cluster_extents()); }
    __device__ __forceinline__ extent dim_threads() const {
        const auto blocks = detail::cluster_extents(), block = detail::block_extents();
        return {blocks.x * block.x, blocks.y * block.y, blocks.z * block.z};
    }

    // The simulator verifies the assertion; it is trusted here.
    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    __device__ __forceinline__ void sync() const { barrier_wait(barrier_arrive()); }
    // Releases everything that this thread has written, global and shared, to the threads of the cluster.
    __device__ __forceinline__ arrival_token barrier_arrive() const {
        asm volatile("barrier.cluster.arrive.release" PHALANX_ALIGNED ";" ::: "memory");
        return {};
    }
    // Arrives without ordering memory.
    __device__ __forceinline__ arrival_token barrier_arrive_relaxed() const {
        asm volatile("barrier.cluster.arrive.relaxed" PHALANX_ALIGNED ";" ::: "memory");
        return {};
    }
    __device__ __forceinline__ void barrier_wait(arrival_token) const {
        asm volatile("barrier.cluster.wait.acquire" PHALANX_ALIGNED ";" ::: "memory");
    }

    // The compiler calls these where it proves that the arrival need not release everything. Each thread fences its own accesses
    // before it arrives, so that it does not matter which threads of a block have any.
    //
    // PTX ISA, membar/fence: `.sync_restrict::shared::cta` makes the release order operations on objects in the thread's own
    // shared memory alone, and `.sync_restrict::shared::cluster` is the acquire for it; both have cluster scope. PTX ISA,
    // barrier.cluster: an explicit fence before a relaxed arrival orders as the fence does. PTX ISA, memory consistency model,
    // causality order: the fence, the barrier and the wait, which is an acquire of all memory, put these operations before those
    // of the waiting threads. All others stay unordered, and the compiler proves that they conflict with nothing, or that they are
    // reads of peers, which the arrival waits for.
    __device__ __forceinline__ void sync_shared() const { barrier_wait_shared(barrier_arrive_shared()); }
    __device__ __forceinline__ arrival_token barrier_arrive_shared() const {
        asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
        return barrier_arrive_relaxed();
    }
    __device__ __forceinline__ void barrier_wait_shared(arrival_token token) const {
        barrier_wait(token);
        asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
    }
    __device__ __forceinline__ void sync_relaxed() const { barrier_wait(barrier_arrive_relaxed()); }

    // Where the thread has read memory of its peers, the arrival waits for what it read (peer_reads.cuh). A full one orders it, too.
    template <class Reads>
    __device__ __forceinline__ void sync_shared(Reads& reads) const {
        barrier_wait_shared(barrier_arrive_shared(reads));
    }
    template <class Reads>
    __device__ __forceinline__ arrival_token barrier_arrive_shared(Reads& reads) const {
        reads.wait();
        return barrier_arrive_shared();
    }
    template <class Reads>
    __device__ __forceinline__ void sync(Reads&) const {
        sync();
    }
    template <class Reads>
    __device__ __forceinline__ arrival_token barrier_arrive(Reads&) const {
        return barrier_arrive();
    }

    __device__ __forceinline__ void sync_aligned() const { barrier_wait_aligned(barrier_arrive_aligned()); }
    __device__ __forceinline__ arrival_token barrier_arrive_aligned() const {
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        return {};
    }
    __device__ __forceinline__ arrival_token barrier_arrive_relaxed_aligned() const {
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
        return {};
    }
    __device__ __forceinline__ void barrier_wait_aligned(arrival_token) const {
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }

    // Returns the same array in the block of this rank. It is aligned there as here, which the compiler does not know of the address:
    // it would read an element of 16 bytes in four parts.
    template <class T, unsigned long long N>
    __device__ __forceinline__ remote_array<T, N> map_shared_rank(const shared_array<T, N>& array, u32 peer, PHALANX_SITE) const {
        return {static_cast<T*>(__builtin_assume_aligned(map(array.elements, peer, site), alignof(shared_array<T, N>)))};
    }
    template <class T>
    __device__ __forceinline__ remote_slice<T> map_shared_rank(shared_slice<T> array, u32 peer, PHALANX_SITE) const {
        return {map(array.data, peer, site), array.length};
    }

    __device__ __forceinline__ remote_barrier map_shared_rank(const cluster_barrier& barrier, u32 peer, PHALANX_SITE) const;

    // Returns the rank of the block that owns this shared memory.
    template <class T, unsigned long long N>
    __device__ __forceinline__ u32 query_shared_rank(const shared_array<T, N>& array) const {
        return detail::rank_of_memory(array.elements);
    }
    template <class T, unsigned long long N>
    __device__ __forceinline__ u32 query_shared_rank(const remote_array<T, N>& array) const {
        return detail::rank_of_memory(array.data);
    }
    template <class T>
    __device__ __forceinline__ u32 query_shared_rank(shared_slice<T> array) const {
        return detail::rank_of_memory(array.data);
    }
    template <class T>
    __device__ __forceinline__ u32 query_shared_rank(remote_slice<T> array) const {
        return detail::rank_of_memory(array.data);
    }

  private:
    template <class T>
    __device__ __forceinline__ T* map(const T* local, u32 peer, unsigned site) const {
        if (peer >= blocks) {
            detail::fail(detail::rank_out_of_range, site, record_value(peer), record_value(u32(blocks)));
        }
        return detail::memory_of_rank(const_cast<T*>(local), peer.value);
    }
};

struct grid_group {
    // The value of the barrier's word at the block's arrival, in the block's first thread; unused in the others.
    struct arrival_token {
        unsigned arrived;
    };

    __device__ __forceinline__ usize thread_rank() const {
        return detail::rank_in_grid(blockIdx, gridDim) * detail::threads_of_block() + detail::thread_in_block();
    }
    __device__ __forceinline__ usize num_threads() const {
        return detail::not_zero(detail::volume_of_grid(gridDim) * detail::threads_of_block());
    }
    __device__ __forceinline__ usize size() const { return num_threads(); }
    __device__ __forceinline__ usize block_rank() const { return detail::rank_in_grid(blockIdx, gridDim); }
    __device__ __forceinline__ usize num_blocks() const { return detail::not_zero(detail::volume_of_grid(gridDim)); }
    __device__ __forceinline__ usize cluster_rank() const { return detail::rank_in_grid(detail::index_of_cluster(), detail::extents_in_clusters()); }
    __device__ __forceinline__ usize num_clusters() const { return detail::not_zero(detail::volume_of_grid(detail::extents_in_clusters())); }
    __device__ __forceinline__ extent block_index() const { return detail::extent_of(blockIdx); }
    __device__ __forceinline__ extent dim_blocks() const { return detail::extent_of(gridDim); }
    __device__ __forceinline__ extent cluster_index() const { return detail::extent_of(detail::index_of_cluster()); }
    __device__ __forceinline__ extent dim_clusters() const { return detail::extent_of(detail::extents_in_clusters()); }

    // The simulator verifies the assertion; it is trusted here.
    template <class T>
    __device__ __forceinline__ T uniform(T value) const {
        return value;
    }

    // Defined in grid_barrier.cuh, which a text that has them includes.
    __device__ __forceinline__ void sync(PHALANX_WAIT_SITE) const;
    __device__ __forceinline__ arrival_token barrier_arrive() const;
    __device__ __forceinline__ void barrier_wait(arrival_token token PHALANX_AND_WAIT_SITE) const;
};

__device__ __forceinline__ thread_block this_thread_block() {
    return {};
}
__device__ __forceinline__ cluster_group this_cluster() {
    return {detail::block_in_cluster(), detail::blocks_of_cluster()};
}
__device__ __forceinline__ grid_group this_grid() {
    return {};
}

} // namespace phalanx
