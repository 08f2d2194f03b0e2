// The failures of a kernel. The first failing thread of the launch writes one record to pinned host memory, and each
// failing thread exits; the context stays usable. This file knows raw values only: integer.cuh records strong types,
// and message.cuh records messages with values of any type. The layout of `failure_record`, the causes and the tags are
// shared with the host.
//
// A site is `line * 65536 + column` of the generated text. It comes from `__builtin_LINE()` and `__builtin_COLUMN()` as
// a default argument: the position of the call, which for an operator is that of its token and for a method that of its
// name. `#line` is honoured. A method of a class template that has such an argument must be a template itself: for
// others NVRTC reports the closing parenthesis from their second use on (13.0 and 13.5).
#pragma once
#include <phalanx/clusters.cuh>
#include <phalanx/launch.cuh>

// The last parameter of each function that can fail. It is a macro, because each call of a function costs compile time.
#define PHALANX_SITE unsigned site = __builtin_LINE() * 65536u + __builtin_COLUMN()

namespace phalanx {
namespace detail {

enum failure_cause : unsigned {
    index_out_of_bounds = 1, // the index, the length
    division_by_zero = 2,    // the dividend
    division_overflow = 3,   // the dividend
    rank_out_of_range = 4,   // the rank, the blocks of the cluster
    assertion = 5,           // the values of the message
    panic = 6,               // the values of the message
    step_of_zero = 7,
    partial_tile = 8, // the threads of the block, the size of the tile
    barrier_count = 9, // the count
    copy_lengths = 10,    // elements of the destination, of the source
    bulk_bytes = 11,      // the bytes
    bulk_misaligned = 12, // bytes past a multiple of 16: the destination, the source

    range_out_of_bounds = 16,           // the start, the end, the length
    inclusive_range_out_of_bounds = 17, // the start, the end, the length
    misaligned_vector = 18,             // the index, the vector's bytes
    dynamic_shared_misaligned = 19,     // the offset, the alignment
    dynamic_shared_out_of_bounds = 20,  // the offset, the length, the element's bytes, the available bytes
    matrix_out_of_bounds = 21,          // the start, the count, the length, whether of columns
    misaligned_matrix = 22,             // the column
    misaligned_tile = 23,               // bytes past a multiple of 128
    misaligned_coordinate = 24,         // the last coordinate, the elements in 16 bytes
    negative_coordinate = 25,           // the coordinate, the dimension
    product_rows = 26,                  // the rows of both operands, those that the product takes
    misaligned_operand = 27,            // bytes past a multiple of the pattern, the bytes of the pattern
    repeated_receiver = 28,             // the rank
    deadline_passed = 29,               // the threads that waited (deadline.cuh)
    deadline_ignored = 30,              // the host alone uses it
    product_depth = 31,                 // the elements of both operands, the number that they must be a multiple of
};

// The type of a value that the cause leaves open; the 128-bit ones take two words.
enum value_tag : unsigned { no_value, signed_value, unsigned_value, signed_wide_value, unsigned_wide_value };

// The space for the values of a failure's message or of a `println!`.
enum : unsigned { most_words = 32 };

struct alignas(16) failure_record {
    unsigned state, cause, site, kernel;
    unsigned block[3];
    unsigned tags; // for a built-in check, a byte for each value; for a message, the number of its words
    unsigned thread[3];
    unsigned long long values[most_words];
};
static_assert(sizeof(failure_record) == 304 && alignof(failure_record) == 16, "the host reads this layout");

// An operand of a built-in check.
struct recorded {
    unsigned tag;
    unsigned long long low, high;
};

// What failing threads call. A product in flight writes to registers, of which a call is not known to leave any alone: where there are
// such products, nothing is called.
#ifdef PHALANX_PRODUCTS
#define PHALANX_RARELY __forceinline__
#else
#define PHALANX_RARELY __noinline__ inline
#endif

#ifdef PHALANX_PEERS
// Peers may still use the shared memory of this block, whose lifetime ends with its last thread (CUDA C++ Programming
// Guide, Distributed Shared Memory). That thread therefore participates in the cluster's barrier (PTX ISA,
// barrier.cluster) for more phases than its peers need to reach their end. It does not know whether it has a pending
// arrival, but a wait without one returns at once.
__device__ PHALANX_RARELY void stay_for_peers(const launch_block* launch) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    if (size_of_cluster() == 1 || block >= launch->blocks) {
        return;
    }
    // The word may still have the count of an earlier launch.
    unsigned long long* const word = &launch->failed_threads[block];
    const unsigned long long number = launch->number << 11;
    unsigned long long before = *static_cast<volatile unsigned long long*>(word), found;
    for (;; before = found) {
        const unsigned long long count = before >> 11 == launch->number ? before & 2047 : 0;
        found = atomicCAS(word, before, number | (count + 1));
        if (found == before) {
            if (count != threads - 1) {
                return;
            }
            break;
        }
    }
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#pragma unroll 1 // Unrolled, it would take the compiler four times as long as everything else.
    for (unsigned phase = 0; phase < 65536; ++phase) {
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    }
}
#endif

#ifdef PHALANX_BLOCK_BARRIER
// Defined in block_barrier.cuh: a failing thread must mark a barrier that counts arrivals, because it will not arrive.
__device__ __forceinline__ void leave_block_barrier();
#endif
#ifdef PHALANX_GRID_BARRIER
// Defined in grid_barrier.cuh, for the same reason.
__device__ __forceinline__ void leave_grid_barrier(const launch_block* launch);
#endif

[[noreturn]] __device__ __forceinline__ void end_thread(const launch_block* launch) {
#ifdef PHALANX_WAITS_FOR_PREVIOUS
    // The end of this launch is the end of those before it, also if it fails before its wait.
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
#ifdef PHALANX_BLOCK_BARRIER
    leave_block_barrier();
#endif
#ifdef PHALANX_GRID_BARRIER
    leave_grid_barrier(launch);
#endif
#ifdef PHALANX_PEERS
    stay_for_peers(launch);
#endif
    asm volatile("exit;");
    __builtin_unreachable();
}

// The following is written in PTX where that is short, because each kernel that can fail contains it, and C++ would
// take the compiler several times as long. It writes the record %0 except for its values and its state: %1 to %4 are
// the cause, the site, the kernel and the tags.
#define PHALANX_RECORD                                                                                                 \
    "{\n"                                                                                                              \
    ".reg .b32 x, y, z;\n"                                                                                             \
    "st.global.v4.b32 [%0], {0, %1, %2, %3};\n"                                                                        \
    "mov.b32 x, %%ctaid.x;\n"                                                                                          \
    "mov.b32 y, %%ctaid.y;\n"                                                                                          \
    "mov.b32 z, %%ctaid.z;\n"                                                                                          \
    "st.global.v4.b32 [%0 + 16], {x, y, z, %4};\n"                                                                     \
    "mov.b32 x, %%tid.x;\n"                                                                                            \
    "mov.b32 y, %%tid.y;\n"                                                                                            \
    "mov.b32 z, %%tid.z;\n"                                                                                            \
    "st.global.v4.b32 [%0 + 32], {x, y, z, 0};\n"                                                                      \
    "}\n"

// Returns the record, to which the first failing thread of the launch writes its values. Every other thread exits here.
__device__ __forceinline__ failure_record* begin_failure(const launch_block* launch, unsigned cause, unsigned site, unsigned tags) {
    if (atomicExch(launch->claim, 1u) != 0) {
        end_thread(launch);
    }
    failure_record* record = launch->record;
    asm volatile(PHALANX_RECORD
                 :
                 : "l"(record), "r"(cause), "r"(site), "r"(launch->kernel), "r"(tags)
                 : "memory");
    return record;
}

// Completes the record and ends the thread. The host reads it after the launch has ended, so that nothing has to be released; and in a kernel
// with a strong store, the assembler has the loops yield.
[[noreturn]] __device__ __forceinline__ void end_failure(const launch_block* launch, failure_record* record) {
    asm volatile("st.global.b32 [%0], 1;" : : "l"(record) : "memory");
    end_thread(launch);
}

// These are not out of line: a kernel with a call has its addresses' descriptors in registers of threads, and moves them to
// uniform registers before each access. A function that is called also returns, for all that the assembler believes (PTX ISA,
// .noreturn), so that what the code behind a check needs would stay alive.
[[noreturn]] __device__ __forceinline__ void
fail(unsigned cause, unsigned site, unsigned tags, unsigned long long a, unsigned long long b) {
    const launch_block* launch = this_launch();
    asm volatile("{\n"
                 ".reg .b32 claimed;\n"
                 ".reg .pred is_late;\n"
                 "atom.global.exch.b32 claimed, [%7], 1;\n"
                 "setp.ne.b32 is_late, claimed, 0;\n"
                 "@is_late bra ended;\n" PHALANX_RECORD
                 "st.global.v2.b64 [%0 + 48], {%5, %6};\n"
                 "st.global.b32 [%0], 1;\n"
                 "ended:\n"
                 "}"
                 :
                 : "l"(launch->record), "r"(cause), "r"(site), "r"(launch->kernel), "r"(tags), "l"(a), "l"(b),
                   "l"(launch->claim)
                 : "memory");
    end_thread(launch);
}
[[noreturn]] __device__ __forceinline__ void
fail(unsigned cause, unsigned site, unsigned tags, unsigned long long a, unsigned long long b, unsigned long long c,
     unsigned long long d) {
    const launch_block* launch = this_launch();
    failure_record* record = begin_failure(launch, cause, site, tags);
    record->values[0] = a;
    record->values[1] = b;
    record->values[2] = c;
    record->values[3] = d;
    end_failure(launch, record);
}

// Overloads for no value, for one of up to two words, and for several of one word.
[[noreturn]] __device__ __forceinline__ void fail(unsigned cause, unsigned site) {
    fail(cause, site, 0, 0, 0);
}
[[noreturn]] __device__ __forceinline__ void fail(unsigned cause, unsigned site, recorded a) {
    fail(cause, site, a.tag, a.low, a.high);
}
[[noreturn]] __device__ __forceinline__ void fail(unsigned cause, unsigned site, recorded a, recorded b) {
    fail(cause, site, a.tag | b.tag << 8, a.low, b.low);
}
[[noreturn]] __device__ __forceinline__ void
fail(unsigned cause, unsigned site, recorded a, recorded b, recorded c, recorded d = {}) {
    fail(cause, site, a.tag | b.tag << 8 | c.tag << 16 | d.tag << 24, a.low, b.low, c.low, d.low);
}

} // namespace detail
} // namespace phalanx

// What waits carry so that a launch that is past its deadline can tell where its threads waited. A launch without a deadline is
// compiled without it.
#ifdef PHALANX_DEADLINE
#define PHALANX_WAITING template <class = void>
#define PHALANX_WAIT_SITE PHALANX_SITE
#define PHALANX_AND_WAIT_SITE , PHALANX_SITE
#define PHALANX_AND_WAIT_SITE_OF , unsigned site
#define PHALANX_WAIT_SITE_OF unsigned site
#define PHALANX_WAITED site
#define PHALANX_AND_WAITED , site
#define PHALANX_USES_ATOMIC(site) ::phalanx::detail::end_if_ended_at_atomic(site)
#include <phalanx/deadline.cuh>
#else
#define PHALANX_WAITING
#define PHALANX_WAIT_SITE
#define PHALANX_AND_WAIT_SITE
#define PHALANX_AND_WAIT_SITE_OF
#define PHALANX_WAIT_SITE_OF
#define PHALANX_WAITED
#define PHALANX_AND_WAITED
#define PHALANX_USES_ATOMIC(site)
#endif
