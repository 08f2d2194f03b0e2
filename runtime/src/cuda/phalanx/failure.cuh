// What a kernel does when it must not go on: it writes one record to pinned host memory, the first failing thread of
// the launch wins, and the thread exits; the context stays usable. Knows raw values only: how a strong type is recorded
// is scalar.cuh's. The layouts of `failure_record` and `failure_sink`, the causes and the tags are shared with the host.
//
// A site is `line * 65536 + column` of the generated text. It comes from `__builtin_LINE()` and `__builtin_COLUMN()` as
// default arguments: the place of the call, which for an operator is that of its token and for a method that of its
// name. `#line` is honoured. A method of a class template that has such arguments must be a template itself: of others
// NVRTC gives the closing parenthesis from their second use on (13.0 and 13.5).
#pragma once

namespace phalanx::detail {

enum failure_cause : unsigned {
    index_out_of_bounds = 1, // the index, the length
    division_by_zero = 2,    // the dividend
    division_overflow = 3,   // the dividend
    rank_out_of_range = 4,   // the rank, the blocks of the cluster
    assertion = 5,           // the values of the message
    panic = 6,               // the values of the message
};

enum value_tag : unsigned { no_value, bool_value, signed_value, unsigned_value, f32_value, f64_value };

struct failure_record {
    unsigned state, cause, site, kernel;
    unsigned block[3], thread[3];
    unsigned tags[4];
    unsigned reserved[2];
    unsigned long long values[4];
};
static_assert(sizeof(failure_record) == 96 && alignof(failure_record) == 8, "the host reads this layout");

struct failure_sink {
    failure_record* record;   // pinned host memory; its state is 1 when it is complete
    unsigned* claim;          // 0 until a thread has failed
    unsigned* failed_threads; // by linear block index
    unsigned blocks;          // words in failed_threads
    unsigned kernel;          // which module this is, for the host
};
static_assert(sizeof(failure_sink) == 32, "the host writes this layout");

} // namespace phalanx::detail

extern "C" {
// Set by the host once for each module. In braces, because `extern "C"` on a single declaration would not define it.
__constant__ phalanx::detail::failure_sink phalanx_sink;
}

namespace phalanx {
namespace detail {

__device__ constexpr unsigned site_of(unsigned line, unsigned column) {
    return line * 65536u + column;
}

// A value as the record holds it. Overloads for the strong types are found by argument-dependent lookup.
struct recorded {
    unsigned tag;
    unsigned long long bits;
};
__device__ constexpr recorded record_value(bool value) {
    return {bool_value, value};
}
// `a & b` of two `bool`s is an `int` in C++, and a `bool` in Rust.
__device__ constexpr recorded record_value(int value) {
    return {bool_value, value != 0};
}

// Unqualified, so that it finds those of the strong types.
template <class T>
__device__ constexpr recorded record_value_of(T value) {
    return record_value(value);
}

// Peers may still use the shared memory of this block, which goes with its last thread (CUDA C++ Programming Guide,
// Distributed Shared Memory). So that thread takes part in the cluster's barrier (PTX ISA, barrier.cluster) for more
// phases than a kernel in its last steps needs. It can't know whether it has an arrival pending, but a wait with none
// returns at once.
__device__ inline void linger() {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#pragma unroll 1 // Unrolled it takes the compiler four times as long as all the rest.
    for (unsigned phase = 0; phase < 65536; ++phase) {
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    }
}

// Out of line, so that a check costs its caller a compare and a branch. `tags` holds a byte for each value, the first
// lowest.
[[noreturn]] __device__ __noinline__ inline void
fail(unsigned cause, unsigned site, unsigned tags, unsigned long long a, unsigned long long b, unsigned long long c,
     unsigned long long d) {
    const failure_sink sink = phalanx_sink;
    if (atomicExch(sink.claim, 1u) == 0) {
        failure_record& record = *sink.record;
        record.cause = cause;
        record.site = site;
        record.kernel = sink.kernel;
        record.block[0] = blockIdx.x;
        record.block[1] = blockIdx.y;
        record.block[2] = blockIdx.z;
        record.thread[0] = threadIdx.x;
        record.thread[1] = threadIdx.y;
        record.thread[2] = threadIdx.z;
        for (unsigned i = 0; i < 4; ++i) {
            record.tags[i] = tags >> (8 * i) & 255;
        }
        record.values[0] = a;
        record.values[1] = b;
        record.values[2] = c;
        record.values[3] = d;
        __threadfence_system();
        *const_cast<volatile unsigned*>(&record.state) = 1;
    }
    if (__clusterSizeInBlocks() > 1) {
        const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
        if (block < sink.blocks && atomicAdd(&sink.failed_threads[block], 1u) == threads - 1) {
            linger();
        }
    }
    asm volatile("exit;");
    __builtin_unreachable();
}

// The record has room for four values: a message of more keeps the first four.
template <class... More>
[[noreturn]] __device__ inline void
fail(unsigned cause, unsigned site, recorded a = {}, recorded b = {}, recorded c = {}, recorded d = {}, More...) {
    fail(cause, site, a.tag | b.tag << 8 | c.tag << 16 | d.tag << 24, a.bits, b.bits, c.bits, d.bits);
}

} // namespace detail

// `if (!(i < n)) assertion_failed(i, n);` for Rust's `assert!`, with the values that its message prints. A class and not
// a function: default arguments can't follow a deduced pack, but the guide deduces the class from the values alone.
template <class... Values>
struct assertion_failed {
    [[noreturn]] __device__
    assertion_failed(Values... values, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) {
        detail::fail(detail::assertion, detail::site_of(line, column), detail::record_value_of(values)...);
    }
};
template <class... Values>
assertion_failed(Values...) -> assertion_failed<Values...>;

// `panicked(i);` for Rust's `panic!`.
template <class... Values>
struct panicked {
    [[noreturn]] __device__ panicked(Values... values, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) {
        detail::fail(detail::panic, detail::site_of(line, column), detail::record_value_of(values)...);
    }
};
template <class... Values>
panicked(Values...) -> panicked<Values...>;

} // namespace phalanx
