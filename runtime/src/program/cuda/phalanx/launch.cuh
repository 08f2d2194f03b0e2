// What a launch hands to its kernel besides the arguments: where its failure, its prints, its timeline and its grid
// barrier are. Launches of one module run at the same time, so none of this is a variable of the module. It is the last
// parameter of every kernel, and its layout is shared with the host.
#pragma once

namespace phalanx {

namespace detail {
struct failure_record; // failure.cuh
struct print_buffer;   // print.cuh
struct profile_record; // profile.cuh
} // namespace detail

struct launch_block {
    detail::failure_record* record;     // pinned host memory, but of a launch with a deadline; its state is 1 when it is complete
    unsigned* claim;                    // 0 until a thread has failed
    unsigned long long* failed_threads; // by linear block index: the launch's number above 11 bits that count its threads
    unsigned* grid_barrier;             // cleared before the launch
    detail::print_buffer* prints;
    detail::profile_record* records; // `room` for each warp, of all blocks
    unsigned* counts;                // for each warp, the number of its events, recorded or not
    unsigned long long number;       // the number of the launch in its stream, from 1
    unsigned blocks;                 // words in failed_threads
    unsigned kernel;                 // the module's number on the host
    unsigned print_bytes;            // the space for records of prints
    unsigned room;                   // records of a timeline for each warp; 0 if none was asked for
    unsigned warps;                  // the number in a block, if a timeline was asked for
    unsigned zero;                  // no compiler knows that it is 0 (peer_reads.cuh)
    detail::failure_record* watched; // of a launch with a deadline: pinned host memory (deadline.cuh)
};
static_assert(sizeof(launch_block) == 96, "the host writes this layout");

namespace detail {

// Every function that names the block is inlined into the kernel (`__forceinline__`, and no recursion), whose last parameter PTX knows
// by the name in PHALANX_LAUNCH; the few that are not inlined take the block as an argument. So reading it costs a path that
// needs it an instruction, and the others nothing: `volatile` keeps the compiler from reading it earlier.

// Returns the block where it lies. Through this pointer it is read as global memory is.
__device__ __forceinline__ const launch_block* this_launch() {
    const launch_block* launch;
    asm("cvta.param.u64 %0, " PHALANX_LAUNCH ";" : "=l"(launch));
    return launch;
}

// Returns a field of the block from constant memory, for the paths of kernels that do not fail.
template <class T, unsigned long long offset>
__device__ __forceinline__ T of_launch() {
    if constexpr (sizeof(T) == 8) {
        unsigned long long field;
        asm volatile("ld.param.b64 %0, [" PHALANX_LAUNCH "+%1];" : "=l"(field) : "n"(offset));
        return (T)field;
    } else {
        unsigned field;
        asm volatile("ld.param.b32 %0, [" PHALANX_LAUNCH "+%1];" : "=r"(field) : "n"(offset));
        return (T)field;
    }
}

} // namespace detail
} // namespace phalanx
