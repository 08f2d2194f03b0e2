// Phase barriers, which are `cuda::barrier` of scope block and cluster, implemented as mbarriers in shared memory. An
// arrival releases and a wait acquires; only arrivals are counted, so any thread may take part.
// The simulator detects misuse; only counts are checked here. Waiters poll the launch's failure flag, because a failed
// thread may never arrive. PTX ISA: Parallel Synchronization and Communication Instructions, mbarrier.
//
// Only threads of a barrier's own block can wait at it (PTX ISA, mbarrier.try_wait: `.shared::cta`). So the arrival of a thread
// of this block is observed by threads of this block alone, and releases at the block's scope, also at a barrier of the cluster:
// the arrival and the wait are morally strong, because the scope of each includes the other thread, and causality order passes on
// what the waiter has observed when it releases to peers (PTX ISA, memory consistency model, base causality order). At the
// cluster's scope, an arrival would wait until all stores of its thread to global memory are performed. The arrivals of peers
// release, and waits acquire, at the cluster's scope.
#pragma once
#include <phalanx/clock.cuh>
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

#ifndef PHALANX_DEADLINE
// Returns whether the launch has failed.
__device__ __forceinline__ bool has_ended() {
    unsigned claimed;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(claimed)
                 : "l"(of_launch<unsigned*, PHALANX_OFFSET_OF(launch_block, claim)>())
                 : "memory");
    return claimed != 0;
}
#endif

// Ends a thread that waits at the barrier of this address, because the missing participants of a phase are unknown.
[[noreturn]] __device__ __forceinline__ void end_waiting_thread([[maybe_unused]] unsigned barrier PHALANX_AND_WAIT_SITE_OF) {
#ifdef PHALANX_DEADLINE
    note_wait(this_launch(), site, at_phase_barrier, barrier);
#endif
    end_thread(this_launch());
}

__device__ __forceinline__ void end_if_failed(unsigned barrier PHALANX_AND_WAIT_SITE_OF) {
    if (has_ended()) {
        end_waiting_thread(barrier PHALANX_AND_WAITED);
    }
}

// Polls rarely, because a try may return at once, and the load of the flag goes to the L2 cache, which delays the
// waiter.
__device__ __forceinline__ void end_if_failed_now_and_then(unsigned barrier, unsigned tries PHALANX_AND_WAIT_SITE_OF) {
    if (tries % 16 == 0) {
        end_if_failed(barrier PHALANX_AND_WAITED);
    }
}

} // namespace detail

// Emits a wait with the barrier's scope.
#define PHALANX_SCOPED(before, after, ...)                                                                             \
    if constexpr (of_cluster) {                                                                                        \
        asm volatile(before ".cluster.shared::cta.b64 " after __VA_ARGS__);                                            \
    } else {                                                                                                           \
        asm volatile(before ".cta.shared::cta.b64 " after __VA_ARGS__);                                                \
    }

template <bool of_cluster, unsigned long long N>
struct phase_barriers;

template <bool of_cluster>
struct barrier_of_warp;

template <bool of_cluster>
struct phase_barrier {
    // The barrier's state at the arrival, which identifies the phase.
    struct arrival_token {
        unsigned long long state;
    };

    phase_barrier() = default;
    // A barrier cannot be moved, because its address is its identity.
    phase_barrier(const phase_barrier&) = delete;

    // One thread calls it; peers see the result after the cluster's barrier.
    template <class Count>
    __device__ __forceinline__ void init(Count count, PHALANX_SITE) const {
        set(checked(count, site));
    }
    // All threads check the count: if only one thread of a warp could fail, the compiler would keep the warp diverged
    // from there on.
    template <class Group, class Count>
    __device__ __forceinline__ void init_collective(const Group& group, Count count, PHALANX_SITE) const {
        const u32 expected = checked(count, site);
        if (detail::thread_in_block() == 0) {
            set(expected);
        }
        group.sync();
    }

    __device__ __forceinline__ arrival_token arrive() const {
        arrival_token token;
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(token.state) : "r"(address()) : "memory");
        return token;
    }
    __device__ __forceinline__ arrival_token arrive_n(u32 n) const {
#ifdef PHALANX_HAS_CLUSTERS
        arrival_token token;
        asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
                     : "=l"(token.state)
                     : "r"(address()), "r"(n.value)
                     : "memory");
        return token;
#else
        // Several arrivals at once must not end the phase there. The last one may.
        if (n.value > 1) {
            [[maybe_unused]] unsigned long long state;
            asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], %2;"
                         : "=l"(state)
                         : "r"(address()), "r"(n.value - 1)
                         : "memory");
        }
        return arrive();
#endif
    }
    __device__ __forceinline__ void arrive_and_drop() const {
        [[maybe_unused]] unsigned long long state;
        asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(address()) : "memory");
    }
    PHALANX_WAITING __device__ __forceinline__ void wait(arrival_token token PHALANX_AND_WAIT_SITE) const {
        for (unsigned tries = 1; !is_over(token); ++tries) {
            detail::end_if_failed_now_and_then(address(), tries PHALANX_AND_WAITED);
        }
    }
    PHALANX_WAITING __device__ __forceinline__ void arrive_and_wait(PHALANX_WAIT_SITE) const { wait(arrive() PHALANX_AND_WAITED); }
    // Each of these waits for at most as long as the hardware suspends the thread.
    PHALANX_WAITING __device__ __forceinline__ bool try_wait(const arrival_token& token PHALANX_AND_WAIT_SITE) const {
        return looked(is_over(token) PHALANX_AND_WAITED);
    }
    PHALANX_WAITING __device__ __forceinline__ bool try_wait_parity(bool parity PHALANX_AND_WAIT_SITE) const {
        return looked(is_over(parity) PHALANX_AND_WAITED);
    }
    PHALANX_WAITING __device__ __forceinline__ void wait_parity(bool parity PHALANX_AND_WAIT_SITE) const {
        for (unsigned tries = 1; !is_over(parity); ++tries) {
            detail::end_if_failed_now_and_then(address(), tries PHALANX_AND_WAITED);
        }
    }
    PHALANX_WAITING __device__ __forceinline__ bool try_wait_for(const arrival_token& token, u64 nanoseconds PHALANX_AND_WAIT_SITE) const {
        const unsigned long long start = detail::nanoseconds();
        for (;;) {
            const unsigned long long gone = detail::nanoseconds() - start;
            const unsigned long long left = gone < nanoseconds.value ? nanoseconds.value - gone : 0;
            unsigned over;
#ifdef PHALANX_HAS_CLUSTERS
            PHALANX_SCOPED("{\n.reg .pred over;\nmbarrier.try_wait.acquire",
                           "over, [%1], %2, %3;\nselp.u32 %0, 1, 0, over;\n}",
                           : "=r"(over)
                           : "r"(address()), "l"(token.state), "r"(static_cast<unsigned>(left < 1000000 ? left : 1000000))
                           : "memory")
#else
            over = is_over(token);
#endif
            if (looked(over PHALANX_AND_WAITED) || left == 0) {
                return over != 0;
            }
        }
    }
    __device__ __forceinline__ void expect_tx(u32 bytes) const {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" : : "r"(address()), "r"(bytes.value) : "memory");
    }
    __device__ __forceinline__ void invalidate() const {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(address()) : "memory");
    }

    // Returns the address that the instructions take.
    __device__ __forceinline__ unsigned address() const { return detail::shared_address(&word); }

    // All threads of the warp wait together.
    __device__ __forceinline__ barrier_of_warp<of_cluster> whole_warp() const { return {*this}; }

  private:
    template <bool, unsigned long long>
    friend struct phase_barriers;
    friend struct barrier_of_warp<of_cluster>;

    unsigned long long word;

    __device__ __forceinline__ static u32 checked(u32 expected, unsigned site) {
        if (expected.value - 1 >= (1u << 20) - 1) {
            detail::fail(detail::barrier_count, site, record_value(expected));
        }
        return expected;
    }
    __device__ __forceinline__ void set(u32 expected) const {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(address()), "r"(expected.value) : "memory");
        if constexpr (of_cluster) {
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    }
    __device__ __forceinline__ bool is_over(const arrival_token& token) const {
        unsigned over;
        PHALANX_SCOPED("{\n.reg .pred over;\n" PHALANX_TRY_WAIT ".acquire", "over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}",
                       : "=r"(over) : "r"(address()), "l"(token.state) : "memory")
        return over != 0;
    }
    __device__ __forceinline__ bool is_over(bool parity) const {
        unsigned over;
        PHALANX_SCOPED("{\n.reg .pred over;\n" PHALANX_TRY_WAIT ".parity.acquire",
                       "over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}",
                       : "=r"(over) : "r"(address()), "r"(static_cast<unsigned>(parity)) : "memory")
        return over != 0;
    }

    PHALANX_WAITING __device__ __forceinline__ bool looked(unsigned over PHALANX_AND_WAIT_SITE) const {
        if (over == 0) {
            detail::end_if_failed(address() PHALANX_AND_WAITED);
        }
        return over != 0;
    }
};

#undef PHALANX_SCOPED

// A barrier at which whole warps wait, all threads of one together, while products of warpgroups may be in flight. These must end before
// an exit, which only the whole warp can wait for: for the exit of one thread the assembler would let no two products be in flight
// together (C7518). So a warp decides as one, behind the loop.
template <bool of_cluster>
struct barrier_of_warp {
    const phase_barrier<of_cluster>& barrier;

    PHALANX_WAITING __device__ __forceinline__ void wait(typename phase_barrier<of_cluster>::arrival_token token PHALANX_AND_WAIT_SITE) const {
        until(token PHALANX_AND_WAITED);
    }
    PHALANX_WAITING __device__ __forceinline__ void wait_parity(bool parity PHALANX_AND_WAIT_SITE) const { until(parity PHALANX_AND_WAITED); }
    PHALANX_WAITING __device__ __forceinline__ void arrive_and_wait(PHALANX_WAIT_SITE) const { until(barrier.arrive() PHALANX_AND_WAITED); }

  private:
    template <class Phase>
    __device__ __forceinline__ void until(const Phase& phase PHALANX_AND_WAIT_SITE_OF) const {
        bool ended = false;
        for (unsigned tries = 1; !ended && !barrier.is_over(phase); ++tries) {
            ended = tries % 16 == 0 && detail::has_ended();
        }
        if (__any_sync(~0u, ended)) {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            detail::end_waiting_thread(barrier.address() PHALANX_AND_WAITED);
        }
    }
};

using barrier = phase_barrier<false>;
static_assert(sizeof(barrier) == 8 && alignof(barrier) == 8, "the host makes room for it");

template <bool of_cluster, unsigned long long N>
struct phase_barriers {
    __device__ __forceinline__ const phase_barrier<of_cluster>& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    template <class Group, class Count>
    __device__ __forceinline__ void init_collective(const Group& group, Count count, PHALANX_SITE) const {
        const u32 expected = phase_barrier<of_cluster>::checked(count, site);
        for (unsigned i = detail::thread_in_block(); i < N; i += detail::threads_of_block()) {
            elements[i].set(expected);
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

// The barrier of some block of the cluster, at which only that block's threads wait. It is an address in the cluster's
// window of shared memory.
struct remote_barrier {
    unsigned address;

    __device__ __forceinline__ void arrive() const {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" : : "r"(address) : "memory");
    }
    __device__ __forceinline__ void arrive_n(u32 n) const {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;"
                     :
                     : "r"(address), "r"(n.value)
                     : "memory");
    }

    // The compiler calls these where it proves that what the block's threads did to their own shared memory is all that the arrival
    // must release. PTX ISA, membar/fence: `.sync_restrict::shared::cta` confines the release to that memory.
    __device__ __forceinline__ void arrive_shared() const {
        release_shared();
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" : : "r"(address) : "memory");
    }
    __device__ __forceinline__ void arrive_n_shared(u32 n) const {
        release_shared();
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0], %1;"
                     :
                     : "r"(address), "r"(n.value)
                     : "memory");
    }

  private:
    static __device__ __forceinline__ void release_shared() {
        asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
    }
};

__device__ __forceinline__ remote_barrier cluster_group::map_shared_rank(const cluster_barrier& own, u32 peer, unsigned site) const {
    if (peer >= blocks) {
        detail::fail(detail::rank_out_of_range, site, record_value(peer), record_value(u32(blocks)));
    }
    remote_barrier remote;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote.address) : "r"(own.address()), "r"(peer.value));
    return remote;
}

} // namespace phalanx
