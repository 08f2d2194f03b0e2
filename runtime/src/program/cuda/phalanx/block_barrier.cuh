// A thread block's split barrier, which is an mbarrier in shared memory that belongs to the prelude. (In CUDA's own
// header, the wait does everything, because the hardware's `barrier.arrive` has no wait that does not also arrive.)
// Each thread arrives by itself and so publishes its own writes; no thread is elected. `sync` is a different, faster
// barrier (groups.cuh). PTX ISA: Parallel Synchronization and Communication Instructions, mbarrier.
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

struct alignas(8) block_barrier {
    unsigned long long state;
    unsigned left; // Becomes nonzero when a thread of the block fails, which then never arrives.
};
static_assert(sizeof(block_barrier) == 16 && alignof(block_barrier) == 8, "the host makes room for it");

#ifdef PHALANX_BLOCK_BARRIER_AT
__device__ __forceinline__ block_barrier& own_block_barrier() {
    return placed_shared<block_barrier, PHALANX_BLOCK_BARRIER_AT>();
}
#else
__shared__ block_barrier static_block_barrier;
__device__ __forceinline__ block_barrier& own_block_barrier() {
    return static_block_barrier;
}
#endif

// A kernel calls it first. One thread initializes, and the hardware's barrier publishes that to the block.
__device__ __forceinline__ void init_block_barrier() {
    block_barrier& barrier = own_block_barrier();
    if (thread_in_block() == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     :
                     : "r"(shared_address(&barrier.state)), "r"(threads_of_block())
                     : "memory");
        barrier.left = 0;
    }
    this_thread_block().sync();
}

// A failing thread marks the barrier aborted for the threads that wait for it.
__device__ __forceinline__ void leave_block_barrier() {
    asm volatile("st.relaxed.cta.shared::cta.u32 [%0], 1;" : : "r"(shared_address(&own_block_barrier().left)) : "memory");
}

__device__ __forceinline__ bool has_left_block_barrier() {
    unsigned left;
    asm volatile("ld.relaxed.cta.shared::cta.u32 %0, [%1];"
                 : "=r"(left)
                 : "r"(shared_address(&own_block_barrier().left))
                 : "memory");
    return left != 0;
}

// Waits for at most as long as the hardware suspends the thread.
__device__ __forceinline__ bool phase_is_over(unsigned long long state) {
    unsigned over;
    asm volatile("{\n"
                 ".reg .pred over;\n"
                 PHALANX_TRY_WAIT ".acquire.cta.shared::cta.b64 over, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, over;\n"
                 "}"
                 : "=r"(over)
                 : "r"(shared_address(&own_block_barrier().state)), "l"(state)
                 : "memory");
    return over != 0;
}

} // namespace detail

__device__ __forceinline__ thread_block::arrival_token thread_block::barrier_arrive() const {
    arrival_token token;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];"
                 : "=l"(token.state)
                 : "r"(detail::shared_address(&detail::own_block_barrier().state))
                 : "memory");
    return token;
}

__device__ __forceinline__ void thread_block::barrier_wait(arrival_token token PHALANX_AND_WAIT_SITE_OF) const {
    while (!detail::phase_is_over(token.state)) {
#ifdef PHALANX_DEADLINE
        detail::end_if_ended(site, detail::at_block_barrier);
#endif
        if (detail::has_left_block_barrier()) {
            detail::end_thread(detail::this_launch());
        }
    }
}

} // namespace phalanx
