// The end of a launch that is past its deadline. Its threads find that themselves, by the GPU's clock, so that it ends whatever the host does
// meanwhile: waits look at the time as they poll. The first thread that finds it late takes the claim and fills the record; each thread that
// finds the claim taken notes where it waited, and exits. Loops over atomics count as waits, whatever they wait for; nothing can end the
// hardware's own barriers, but they no longer wait for threads that have exited. The values of the record are entries of four words.
#pragma once
#include <phalanx/clock.cuh>
#include <phalanx/failure.cuh>

namespace phalanx {
namespace detail {

// The record of a launch with a deadline, which lies in device memory, because threads count in it by atomics. It is copied to the one of
// `launch_block::watched` behind the kernel.
struct timed_record {
    failure_record record;
    unsigned long long begun; // when the first block began, in nanoseconds; 0 before that
    unsigned long long limit; // nanoseconds
};
static_assert(sizeof(timed_record) == 320, "the host writes this layout");

enum wait_kind : unsigned { at_phase_barrier = 1, at_block_barrier, at_grid_barrier, at_atomic };

struct wait_entry {
    unsigned long long key; // the site, and the kind in the upper half; 0 if the entry is free
    unsigned threads;
    unsigned block_x, block_yz; // of the first thread: x, and then y and z in 16 bits each
    unsigned thread;            // of the same: x, y and z in 10 bits each
    unsigned pending;           // the arrivals that the phase of the first thread's phase barrier still expects, or 0
    unsigned padding;
};
static_assert(sizeof(wait_entry) == 32, "the host reads this layout");

// Threads at further sites are not noted.
constexpr unsigned most_waits = 7;

// The claim of a launch that is past its deadline. A thread that fails sets it to 1.
constexpr unsigned claimed_late = 2;

// The state of `launch_block::watched` from the beginning of the kernel to its end.
constexpr unsigned runs = 2;

__device__ __forceinline__ timed_record* timed_record_of(const launch_block* launch) {
    return reinterpret_cast<timed_record*>(launch->record);
}

// Returns when the first block began, or 0.
__device__ __forceinline__ unsigned long long beginning_of(const launch_block* launch) {
    return *static_cast<volatile unsigned long long*>(&timed_record_of(launch)->begun);
}

// Notes when the launch began, unless that has been done, and tells the host that it has.
__device__ PHALANX_RARELY void begin_deadline(const launch_block* launch) {
    if (atomicCAS(&timed_record_of(launch)->begun, 0ull, nanoseconds()) == 0) {
        asm volatile("st.relaxed.sys.global.b32 [%0], %1;" : : "l"(&launch->watched->state), "r"(runs) : "memory");
    }
}

// Returns whether the launch is past its deadline, and claims it then, unless that has been done.
__device__ PHALANX_RARELY bool is_late(const launch_block* launch) {
    timed_record* const timed = timed_record_of(launch);
    const unsigned long long begun = beginning_of(launch);
    if (begun == 0) {
        begin_deadline(launch);
        return false;
    }
    const unsigned long long now = nanoseconds();
    if (now < begun || now - begun < timed->limit) {
        return false;
    }
    if (atomicCAS(launch->claim, 0u, claimed_late) == 0) {
        timed->record.cause = deadline_passed;
        timed->record.kernel = launch->kernel;
        timed->record.values[most_words - 1] = timed->limit;
        timed->record.state = 1;
    }
    return true;
}

// Returns whether the launch has failed or is past its deadline.
__device__ __forceinline__ bool has_ended() {
    const launch_block* launch = this_launch();
    unsigned claimed;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(claimed) : "l"(launch->claim) : "memory");
    return claimed != 0 || is_late(launch);
}

// Returns how many arrivals the phase of an mbarrier still expects, or 0 if that cannot be found out. On Hopper loads do not see its state, which
// only an arrival returns. The launch is over, so that a phase may end by it. But a phase that expects bytes alone takes no arrival: that is an
// error of the hardware, after which the context is of no use.
__device__ __forceinline__ unsigned pending_arrivals([[maybe_unused]] unsigned barrier) {
    unsigned count = 0;
#ifdef PHALANX_ARRIVALS_ALONE
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%1];\nmbarrier.pending_count.b64 %0, state;\n}"
                 : "=r"(count)
                 : "r"(barrier)
                 : "memory");
#endif
    return count;
}

// `barrier` is the address of the phase barrier, or 0 at other waits.
__device__ PHALANX_RARELY void note_wait(const launch_block* launch, unsigned site, unsigned kind, unsigned barrier = 0) {
    if (*static_cast<volatile unsigned*>(launch->claim) != claimed_late) {
        return; // A thread has failed.
    }
    const unsigned long long key = static_cast<unsigned long long>(kind) << 32 | site;
    wait_entry* const entries = reinterpret_cast<wait_entry*>(launch->record->values);
#pragma unroll 1
    for (unsigned i = 0; i < most_waits; ++i) {
        const unsigned long long before = atomicCAS(&entries[i].key, 0ull, key);
        if (before == 0) {
            entries[i].block_x = blockIdx.x;
            entries[i].block_yz = blockIdx.y << 16 | blockIdx.z;
            entries[i].thread = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
            entries[i].pending = kind == at_phase_barrier ? pending_arrivals(barrier) : 0;
        }
        if (before == 0 || before == key) {
            atomicAdd(&entries[i].threads, 1u);
            break;
        }
    }
}

// Exits if the launch has failed or is past its deadline.
__device__ __forceinline__ void end_if_ended(unsigned site, unsigned kind) {
    if (has_ended()) {
        note_wait(this_launch(), site, kind);
        end_thread(this_launch());
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

// What a kernel begins with. The other blocks look at the word alone.
__device__ __forceinline__ void begin_timed_launch() {
    const launch_block* launch = detail::this_launch();
    const bool is_first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
    if (is_first && detail::beginning_of(launch) == 0) {
        detail::begin_deadline(launch);
    }
}

} // namespace phalanx
