// `profiled`: an operation at a barrier, with a record of the global timer at its beginning and end. The first of a
// warp's converged threads writes the record to memory reserved for the warp, so that no thread waits for another. The
// macro wraps operations in it if the kernel's attribute has `profile`. The layouts of `profile_record` and
// `profile_sink` are shared with the host. PTX ISA: Special Registers, %globaltimer.
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx::detail {

struct profile_record {
    unsigned long long start, end; // nanoseconds
    unsigned site, kind;           // the operation in the lowest byte, the group in the next
};
static_assert(sizeof(profile_record) == 24, "the host reads this layout");

struct profile_sink {
    profile_record* records; // `room` for each warp, of all blocks
    unsigned* counts;        // for each warp, the number of its events, recorded or not
    unsigned room;           // 0 if no timeline was asked for
    unsigned warps;          // the number in a block
};
static_assert(sizeof(profile_sink) == 24, "the host writes this layout");

} // namespace phalanx::detail

extern "C" {
__constant__ phalanx::detail::profile_sink phalanx_profile_sink;
}

namespace phalanx {
namespace detail {

// Records the time from its construction to the end of its scope.
struct profile_scope {
    unsigned site, kind;
    unsigned long long start;

    __device__ profile_scope(unsigned site, unsigned kind) : site(site), kind(kind), start(nanoseconds()) {}

    __device__ ~profile_scope() {
        const unsigned long long end = nanoseconds();
        const profile_sink sink = phalanx_profile_sink;
        if (sink.room == 0) {
            return;
        }
        const unsigned here = __activemask();
        const unsigned thread = thread_in_block();
        if (thread % 32 == static_cast<unsigned>(__ffs(here)) - 1) {
            const unsigned long long warp = rank_in_grid(blockIdx, gridDim) * sink.warps + thread / 32;
            const unsigned count = sink.counts[warp];
            sink.counts[warp] = count + 1;
            if (count < sink.room) {
                sink.records[warp * sink.room + count] = {start, end, site, kind};
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
