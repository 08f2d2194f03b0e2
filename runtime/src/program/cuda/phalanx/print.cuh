// `print(here(), i, n);` for Rust's `print!` and `println!`. The values go into a buffer in device memory, which the
// host reads after the launch. Only a module that prints has it. The layouts are shared with the host.
#pragma once
#include <phalanx/message.cuh>

namespace phalanx {
namespace detail {

// A record, which the words of its values follow.
struct print_record {
    unsigned bytes; // The size of the record with its values.
    unsigned site, kernel;
    unsigned thread;           // The thread's rank in the block.
    unsigned long long block;  // The block's rank in the grid, with x varying fastest.
    unsigned long long launch; // The number of the launch among those of its stream, which share the buffer.
};
static_assert(sizeof(print_record) == 32 && alignof(print_record) == 8, "the host reads this layout");

// The head of the buffer, which the records follow without gaps.
struct print_buffer {
    unsigned long long used; // The bytes of all records, including those that did not fit.
    unsigned long long lost; // The number of records that did not fit.
};

// Returns the space for the values of a record, or null if none is left. A thread's records are in program order.
__device__ __noinline__ inline unsigned long long* begin_print(const launch_block* launch, unsigned site, unsigned words) {
    const unsigned bytes = sizeof(print_record) + 8 * words;
    const unsigned long long start = atomicAdd(&launch->prints->used, static_cast<unsigned long long>(bytes));
    if (start + bytes > launch->print_bytes) {
        atomicAdd(&launch->prints->lost, 1ull);
        return nullptr;
    }
    auto* record = reinterpret_cast<print_record*>(reinterpret_cast<unsigned char*>(launch->prints + 1) + start);
    record->bytes = bytes;
    record->site = site;
    record->kernel = launch->kernel;
    record->launch = launch->number;
    record->block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                                     (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    record->thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return reinterpret_cast<unsigned long long*>(record + 1);
}

} // namespace detail

template <class... Values>
__device__ __forceinline__ void print(place at, Values... values) {
    unsigned long long* to = detail::begin_print(detail::this_launch(), at.site, detail::words_of<Values...>());
    if (to) {
        detail::write_values(to, values...);
    }
}

} // namespace phalanx
