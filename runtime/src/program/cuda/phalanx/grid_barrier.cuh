// The grid's barrier, which is a word of global memory that counts the blocks. The host clears it before each launch,
// which is cooperative: all blocks run concurrently. A block's threads synchronize at the hardware's barrier, and the
// first of them arrives and waits for all; releases and acquires are cumulative (PTX ISA, Memory Consistency Model,
// causality order), so it does so for the others. It arrives by a release and polls by an acquire, as CUDA 13.5's own
// header does (13.0's has a sequentially consistent fence at each end).
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

// The barrier's word. Bit 31 changes with each phase, bits 1 to 30 count the blocks that have arrived in it, and bit 0
// tells that a thread has failed, so that some may never arrive. All blocks of a phase together add 2^31: the first
// block adds 2^31 less what the others add.
constexpr unsigned grid_arrival = 2, grid_phase = 1u << 31, grid_failed = 1;

// A failing thread marks the barrier aborted for the threads that wait for it.
__device__ __forceinline__ void leave_grid_barrier(const launch_block* launch) {
    asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" : : "l"(launch->grid_barrier), "n"(grid_failed) : "memory");
}

__device__ __forceinline__ bool is_first_block() {
    return (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
}

__device__ __forceinline__ unsigned* grid_barrier_word() {
    return of_launch<unsigned*, PHALANX_OFFSET_OF(launch_block, grid_barrier)>();
}

// Arrives for the block. Returns the previous value.
__device__ __forceinline__ unsigned arrive_at_grid_barrier() {
    const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    const unsigned arrival = is_first_block() ? grid_phase - grid_arrival * others : grid_arrival;
    unsigned before;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(grid_barrier_word()), "r"(arrival)
                 : "memory");
    return before;
}

// Waits for the block. Returns false if a thread has failed before all had arrived.
__device__ __forceinline__ bool wait_at_grid_barrier(unsigned before) {
    unsigned* const word = grid_barrier_word();
    unsigned now;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
        if (((now ^ before) & grid_phase) != 0) {
            return true;
        }
#ifdef PHALANX_DEADLINE
        if (has_ended()) {
            return false;
        }
#endif
    } while ((now & grid_failed) == 0);
    return false;
}

// The block's barrier, which also distributes one thread's result.
__device__ __forceinline__ bool any_of_block(bool mine) {
    unsigned any;
    asm volatile("{\n"
                 ".reg .pred mine, any;\n"
                 "setp.ne.u32 mine, %1, 0;\n"
                 "barrier.red.or" PHALANX_ALIGNED ".pred any, 0, mine;\n"
                 "selp.u32 %0, 1, 0, any;\n"
                 "}"
                 : "=r"(any)
                 : "r"(static_cast<unsigned>(mine))
                 : "memory");
    return any != 0;
}

} // namespace detail

__device__ __forceinline__ grid_group::arrival_token grid_group::barrier_arrive() const {
    this_thread_block().sync();
    return {detail::thread_in_block() == 0 ? detail::arrive_at_grid_barrier() : 0};
}

// If no thread reports the end of the phase, a thread has failed, or the block's first thread has exited.
__device__ __forceinline__ void grid_group::barrier_wait(arrival_token token PHALANX_AND_WAIT_SITE_OF) const {
    if (!detail::any_of_block(detail::thread_in_block() == 0 && detail::wait_at_grid_barrier(token.arrived))) {
#ifdef PHALANX_DEADLINE
        detail::note_wait(detail::this_launch(), site, detail::at_grid_barrier);
#endif
        detail::end_thread(detail::this_launch());
    }
}

__device__ __forceinline__ void grid_group::sync(PHALANX_WAIT_SITE_OF) const {
    barrier_wait(barrier_arrive() PHALANX_AND_WAITED);
}

} // namespace phalanx
