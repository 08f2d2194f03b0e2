// `profiled`: an operation at a barrier, with a record of the global timer at its beginning and end. The first of a
// warp's converged threads writes the record to memory reserved for the warp, so that no thread waits for another. The
// macro wraps operations in it if the kernel's attribute has `profile`. The layout of `profile_record` is
// shared with the host.
#pragma once
#include <phalanx/clock.cuh>
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

struct profile_record {
    unsigned long long start, end; // nanoseconds
    unsigned site, kind;           // the operation in the lowest byte, the group in the next
};
static_assert(sizeof(profile_record) == 24, "the host reads this layout");

// Records the time from its construction to the end of its scope.
struct profile_scope {
    unsigned site, kind;
    unsigned long long start;

    __device__ __forceinline__ profile_scope(unsigned site, unsigned kind) : site(site), kind(kind), start(nanoseconds()) {}

    __device__ __forceinline__ ~profile_scope() {
        const unsigned long long end = nanoseconds();
        if (of_launch<unsigned, PHALANX_OFFSET_OF(launch_block, room)>() == 0) {
            return;
        }
        const unsigned here = __activemask();
        const unsigned thread = thread_in_block();
        if (thread % 32 == static_cast<unsigned>(__ffs(here)) - 1) {
            const launch_block* const launch = this_launch();
            const unsigned long long warp = rank_in_grid(blockIdx, gridDim) * launch->warps + thread / 32;
            const unsigned count = launch->counts[warp];
            launch->counts[warp] = count + 1;
            if (count < launch->room) {
                launch->records[warp * launch->room + count] = {start, end, site, kind};
            }
        }
        __syncwarp(here); // the next barrier may be `.aligned`
    }
};

} // namespace detail

template <unsigned doing, unsigned group, class Operation>
__device__ __forceinline__ auto profiled(Operation operation, PHALANX_SITE) {
    const detail::profile_scope scope(site, doing | group << 8);
    return operation();
}

} // namespace phalanx
