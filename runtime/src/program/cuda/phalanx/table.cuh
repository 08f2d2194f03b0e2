// Constant tables in shared memory, to which a kernel copies them before it does anything else.
#pragma once
#include <phalanx/groups.cuh>

namespace phalanx {
namespace detail {

// Copies a table from global memory, word by word. Both are aligned to 16 bytes.
template <class Table>
__device__ __forceinline__ void copy_table(Table& to, const Table& from) {
    constexpr unsigned words = sizeof(Table) / 4, rest = sizeof(Table) % 4;
    const auto source = reinterpret_cast<const unsigned*>(&from);
    const auto target = reinterpret_cast<unsigned*>(&to);
    const unsigned rank = thread_in_block();
    for (unsigned i = rank; i < words; i += threads_of_block()) {
        target[i] = source[i];
    }
    if (rank < rest) {
        reinterpret_cast<unsigned char*>(target + words)[rank] = reinterpret_cast<const unsigned char*>(source + words)[rank];
    }
}

} // namespace detail
} // namespace phalanx
