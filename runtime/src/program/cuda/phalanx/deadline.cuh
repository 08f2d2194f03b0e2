// The end of a launch that is past its deadline. The host sets the cause in the launch's table and then the claim, which waits poll.
// Each thread that finds both notes where it waited, and exits. Loops over atomics count as waits, whatever they wait for;
// nothing can end the hardware's own barriers, but they no longer wait for threads that have exited. The table is a failure's
// record, whose values are entries of three words; the host reads it when the launch has ended.
#pragma once
#include <phalanx/failure.cuh>

namespace phalanx {
namespace detail {

enum wait_kind : unsigned { at_phase_barrier = 1, at_block_barrier, at_grid_barrier, at_atomic };

struct wait_entry {
    unsigned long long key; // the site, and the kind in the upper half; 0 if the entry is free
    unsigned threads;
    unsigned block_x, block_yz; // of the first thread: x, and then y and z in 16 bits each
    unsigned thread;            // of the same: x, y and z in 10 bits each
};
static_assert(sizeof(wait_entry) == 24, "the host reads this layout");

// Threads at further sites are not noted.
constexpr unsigned most_waits = 10;

__device__ PHALANX_RARELY void note_wait(const launch_block* launch, unsigned site, unsigned kind) {
    // The host set the cause before the claim.
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    failure_record* const table = launch->deadline;
    if (*static_cast<volatile unsigned*>(&table->cause) == 0) {
        return; // A thread has failed.
    }
    const unsigned long long key = static_cast<unsigned long long>(kind) << 32 | site;
    wait_entry* const entries = reinterpret_cast<wait_entry*>(table->values);
#pragma unroll 1
    for (unsigned i = 0; i < most_waits; ++i) {
        const unsigned long long before = atomicCAS(&entries[i].key, 0ull, key);
        if (before == 0) {
            entries[i].block_x = blockIdx.x;
            entries[i].block_yz = blockIdx.y << 16 | blockIdx.z;
            entries[i].thread = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
        }
        if (before == 0 || before == key) {
            atomicAdd(&entries[i].threads, 1u);
            break;
        }
    }
}

// Exits if the launch has failed or is past its deadline.
__device__ __forceinline__ void end_if_ended(unsigned site, unsigned kind) {
    const launch_block* launch = this_launch();
    unsigned ended;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(ended) : "l"(launch->claim) : "memory");
    if (ended != 0) {
        note_wait(launch, site, kind);
        end_thread(launch);
    }
}

// Polls at some of the uses of an atomic, because most of them are no waits.
__device__ __forceinline__ void end_if_ended_at_atomic(unsigned site) {
    unsigned clock;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
    if ((clock >> 4) % 16 == 0) {
        end_if_ended(site, at_atomic);
    }
}

} // namespace detail
} // namespace phalanx
