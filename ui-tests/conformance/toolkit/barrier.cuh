// barrier.cuh over <cuda/barrier>: a phase barrier is a `cuda::barrier` of scope block. What that has no word for is
// <cuda/ptx>'s, by the barrier's native handle: what is of the cluster's scope, and arrivals at a peer's barrier. Who waits
// waits for ever, if a thread has failed. The check of a count is left as it is in the prelude.
#pragma once
#include <cuda/barrier>
#include <cuda/std/chrono>
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

// Its name is found by the argument alone, and not where a method has it.
__device__ __forceinline__ void init_toolkit(cuda::barrier<cuda::thread_scope_block>* barrier, unsigned expected) {
    init(barrier, expected);
}

} // namespace detail

template <bool of_cluster>
struct phase_barrier {
    using toolkit = cuda::barrier<cuda::thread_scope_block>;
    using arrival_token = toolkit::arrival_token;

    phase_barrier() = default;
    phase_barrier(const phase_barrier&) = delete;

    template <class Count>
    __device__ __forceinline__ void init(Count count, PHALANX_SITE) const {
        const u32 expected = count;
        if (expected.value - 1 >= toolkit::max()) {
            detail::fail(detail::barrier_count, site, record_value(expected));
        }
        detail::init_toolkit(&own(), expected.value);
        if constexpr (of_cluster) {
            cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
        }
    }
    template <class Group, class Count>
    __device__ __forceinline__ void init_collective(const Group& group, Count count, PHALANX_SITE) const {
        if (detail::thread_in_block() == 0) {
            init(count, site);
        }
        group.sync();
    }

    __device__ __forceinline__ arrival_token arrive() const { return arrive_n(1); }
    __device__ __forceinline__ arrival_token arrive_n(u32 n) const {
        if constexpr (of_cluster) {
            return cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, cuda::ptx::space_shared,
                                              handle(), n.value);
        } else {
            return own().arrive(n.value);
        }
    }
    __device__ __forceinline__ void arrive_and_drop() const { own().arrive_and_drop(); }
    __device__ __forceinline__ void wait(arrival_token token) const {
        if constexpr (of_cluster) {
            while (!try_wait(token)) {
            }
        } else {
            own().wait(static_cast<arrival_token&&>(token));
        }
    }
    __device__ __forceinline__ void arrive_and_wait() const {
        if constexpr (of_cluster) {
            wait(arrive());
        } else {
            own().arrive_and_wait();
        }
    }
    __device__ __forceinline__ bool try_wait(const arrival_token& token) const {
        if constexpr (of_cluster) {
            return cuda::ptx::mbarrier_try_wait(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, handle(), token);
        } else {
            return own().try_wait_for(arrival_token(token), cuda::std::chrono::nanoseconds(0));
        }
    }
    __device__ __forceinline__ bool try_wait_parity(bool parity) const {
        if constexpr (of_cluster) {
            return cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, handle(), parity);
        } else {
            return own().try_wait_parity_for(parity, cuda::std::chrono::nanoseconds(0));
        }
    }
    __device__ __forceinline__ void wait_parity(bool parity) const {
        if constexpr (of_cluster) {
            while (!try_wait_parity(parity)) {
            }
        } else {
            own().wait_parity(parity);
        }
    }
    __device__ __forceinline__ bool try_wait_for(const arrival_token& token, u64 nanoseconds) const {
        const bool over = own().try_wait_for(arrival_token(token), cuda::std::chrono::nanoseconds(nanoseconds.value));
        // Of a cluster's barrier it has seen the end at the scope of the block.
        return over && (!of_cluster || try_wait(token));
    }
    __device__ __forceinline__ void expect_tx(u32 bytes) const { cuda::device::barrier_expect_tx(own(), bytes.value); }
    __device__ __forceinline__ void invalidate() const { own().~toolkit(); }

    // As instructions want it (copy.cuh).
    __device__ __forceinline__ unsigned address() const { return detail::shared_address(handle()); }
    __device__ __forceinline__ cuda::std::uint64_t* handle() const { return cuda::device::barrier_native_handle(own()); }

  private:
    // Memory, that a `cuda::barrier` begins to live in by `init`: its own default constructor is no initialisation either.
    alignas(toolkit) unsigned char memory[sizeof(toolkit)];

    __device__ __forceinline__ toolkit& own() const {
        return reinterpret_cast<toolkit&>(const_cast<unsigned char&>(memory[0]));
    }
};

using barrier = phase_barrier<false>;
static_assert(sizeof(barrier) == 8 && alignof(barrier) == 8, "the host makes room for it");

template <bool of_cluster, unsigned long long N>
struct phase_barriers {
    __device__ __forceinline__ const phase_barrier<of_cluster>& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    template <class Group, class Count>
    __device__ __forceinline__ void init_collective(const Group& group, Count count, PHALANX_SITE) const {
        for (unsigned i = detail::thread_in_block(); i < N; i += detail::threads_of_block()) {
            elements[i].init(count, site);
        }
        group.sync();
    }

  private:
    phase_barrier<of_cluster> elements[N];
};

template <unsigned long long N>
using barriers = phase_barriers<false, N>;
template <unsigned long long N>
using cluster_barriers = phase_barriers<true, N>;

struct remote_barrier {
    cuda::std::uint64_t* handle;
    // copy.cuh
    unsigned address;

    __device__ __forceinline__ void arrive() const { arrive_n(1); }
    __device__ __forceinline__ void arrive_n(u32 n) const {
        cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, cuda::ptx::space_cluster, handle, n.value);
    }
    // The toolkit has no arrival that is confined to shared memory.
    __device__ __forceinline__ void arrive_shared() const { arrive(); }
    __device__ __forceinline__ void arrive_n_shared(u32 n) const { arrive_n(n); }
};

__device__ __forceinline__ remote_barrier cluster_group::map_shared_rank(const cluster_barrier& own, u32 peer, unsigned site) const {
    cuda::std::uint64_t* const remote = map(own.handle(), peer, site);
    return {remote, detail::shared_address(remote)};
}

} // namespace phalanx
