// `print(here(), i, n);` for Rust's `print!` and `println!`. The values go into a buffer in device memory, which the
// host reads after the launch. Only a module that prints has it. The layouts are shared with the host.
#pragma once
#include <phalanx/message.cuh>

namespace phalanx::detail {

// Followed by the words of its values.
struct print_record {
    unsigned bytes; // Of all of it.
    unsigned site, kernel, launch;
    unsigned long long block; // Its rank in the grid, x running fastest.
    unsigned thread;          // Its rank in the block.
    unsigned reserved;
};
static_assert(sizeof(print_record) == 32 && alignof(print_record) == 8, "the host reads this layout");

// Followed by the records, without gaps.
struct print_buffer {
    unsigned long long used; // Bytes of records, and more once one has found no room.
    unsigned long long lost; // Records that found no room.
};

struct print_sink {
    print_buffer* buffer;
    unsigned long long bytes; // Room for records.
    unsigned kernel;          // Which module this is, for the host.
    unsigned launch;          // Which of those that the buffer is for.
};
static_assert(sizeof(print_sink) == 24, "the host writes this layout");

} // namespace phalanx::detail

extern "C" {
// Set by the host before each launch.
__constant__ phalanx::detail::print_sink phalanx_print_sink;
}

namespace phalanx {
namespace detail {

// Returns the space for the values of a record; null if there is none left. A thread's records are in program order.
__device__ __noinline__ inline unsigned long long* begin_print(unsigned site, unsigned words) {
    const print_sink sink = phalanx_print_sink;
    const unsigned bytes = sizeof(print_record) + 8 * words;
    const unsigned long long start = atomicAdd(&sink.buffer->used, static_cast<unsigned long long>(bytes));
    if (start + bytes > sink.bytes) {
        atomicAdd(&sink.buffer->lost, 1ull);
        return nullptr;
    }
    auto* record = reinterpret_cast<print_record*>(reinterpret_cast<unsigned char*>(sink.buffer + 1) + start);
    record->bytes = bytes;
    record->site = site;
    record->kernel = sink.kernel;
    record->launch = sink.launch;
    record->block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                                     (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    record->thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return reinterpret_cast<unsigned long long*>(record + 1);
}

} // namespace detail

template <class... Values>
__device__ inline void print(place at, Values... values) {
    unsigned long long* to = detail::begin_print(at.site, detail::words_of<Values...>());
    if (to) {
        detail::write_values(to, values...);
    }
}

} // namespace phalanx
