// Asynchronous copies. `memcpy_async` copies in the best way that addresses and sizes allow: in bulk, in units of 16, 8
// or 4 bytes (cp.async), or with loads and stores. Bulk copies go through the async proxy: the thread that issues the
// copy executes a proxy fence, which orders the earlier loads and stores that happen-before it; the completion of a
// copy needs no fence. PTX ISA: Async proxy; cp.async; cp.async.bulk; cp.async.mbarrier.arrive; mbarrier, tx-count;
// st.async.
#pragma once
#include <phalanx/barrier.cuh>
#include <phalanx/subslice.cuh>

namespace phalanx {
namespace detail {

template <class To, class From>
__device__ __forceinline__ void check_lengths(const To& to, const From& from, unsigned site) {
    if (to.length != from.length) {
        fail(copy_lengths, site, record_value(usize(to.length)), record_value(usize(from.length)));
    }
}

// A part of memory that knows of which memory, and where it begins.
template <class Slice>
struct located_part : Slice {
    Slice whole;
    unsigned long long start;
};
template <class Slice>
__device__ __forceinline__ Slice whole(const located_part<Slice>& part) {
    return part;
}

// Returns whether an address is a multiple, or false if the memory of a part is not aligned but the part is. The compiler decides by
// the low bits of what an address is computed of. It sees more of them in the memory and the index than in their sum, and none
// once the address has been stored.
template <class Memory>
__device__ __forceinline__ bool is_aligned(Memory&& memory, unsigned unit) {
    if constexpr (requires { memory.start; }) {
        return is_aligned(memory.whole, unit) && memory.start * sizeof(*memory.data) % unit == 0;
    } else {
        const auto all = whole(memory);
        return address_of(all, all.data) % unit == 0;
    }
}
template <class To, class From>
__device__ __forceinline__ bool are_aligned(To&& to, From&& from, unsigned unit) {
    return is_aligned(to, unit) && is_aligned(from, unit);
}

// Returns what is exclusive-ored with the bytes of what is copied for their places in the destination: those of a swizzled row.
template <class To>
__device__ __forceinline__ unsigned exchange_of(const To&) {
    return 0;
}
template <class T, unsigned long long N>
__device__ __forceinline__ unsigned exchange_of(const swizzled_row<T, N>& row) {
    return row.exchange;
}

template <class To>
constexpr bool is_contiguous = true;
template <class T, unsigned long long N>
constexpr bool is_contiguous<swizzled_row<T, N>> = false;
template <class To>
constexpr bool is_contiguous<const To> = is_contiguous<To>;

// Two regions of memory of equal length, as bytes.
struct copied {
    void* to;
    const void* from;
    unsigned bytes, exchange;

    template <class To, class From>
    __device__ __forceinline__ static copied of(const To& to, const From& from, unsigned site) {
        check_lengths(to, from, site);
        return {to.data, from.data, static_cast<unsigned>(to.length * sizeof(*to.data)), exchange_of(to)};
    }

    // The same for a bulk copy, whose addresses and size are multiples of 16.
    template <class To, class From>
    __device__ __forceinline__ static copied in_bulk(const To& to, const From& from, unsigned site) {
        const copied both = of(to, from, site);
        if (both.bytes % 16 != 0) {
            fail(bulk_bytes, site, record_value(u32(both.bytes)));
        }
        if (!are_aligned(to, from, 16)) {
            const auto past = [](const void* at) { return u32(static_cast<unsigned>(reinterpret_cast<unsigned long long>(at)) % 16); };
            fail(bulk_misaligned, site, record_value(past(both.to)), record_value(past(both.from)));
        }
        return both;
    }
};

// Orders earlier accesses in the generic proxy before a copy: those to the block's shared memory, to global memory as well, or to the
// memory of peers, too (PTX ISA, fence.proxy.async). The last is a `MEMBAR.ALL.GPU` in machine code, which takes some 700 cycles.
__device__ __forceinline__ void fence_block_proxy() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void fence_global_proxy() {
    asm volatile("fence.proxy.async.global;" ::: "memory");
    fence_block_proxy();
}
__device__ __forceinline__ void fence_peer_proxy() {
    asm volatile("fence.proxy.async;" ::: "memory");
}

// The same before a copy from global memory, which is never written if it is a `readonly_slice`.
template <class T>
__device__ __forceinline__ void fence_source_proxy(const readonly_slice<T>&) {
    fence_block_proxy();
}
template <class T>
__device__ __forceinline__ void fence_source_proxy(const slice_mut<T>&) {
    fence_global_proxy();
}

// The global address of a bulk copy. Where that is a base plus an index of 32 bits, ptxas 13.0 leaves out the upper half of the sum,
// unless something computes with it.
__device__ __forceinline__ unsigned long long global_address(const void* memory) {
    unsigned long long address = __cvta_generic_to_global(memory);
#if __CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ == 0
    asm("{ .reg .b32 low, high; mov.b64 {low, high}, %0; prmt.b32 high, high, high, 0x3210; mov.b64 %0, {low, high}; }" : "+l"(address));
#endif
    return address;
}

__device__ __forceinline__ void bulk_to_shared(const copied& both, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(both.to)), "l"(global_address(both.from)), "r"(both.bytes), "r"(bar)
                 : "memory");
}

// The thread's share of the units, starting at a byte. The rounds are counted, so that they are unrolled if their number is known.
template <unsigned Unit>
__device__ __forceinline__ void copy_units(const copied& both, unsigned start, unsigned end, unsigned rank, unsigned threads) {
    const unsigned to = shared_address(both.to);
    const auto from = __cvta_generic_to_global(both.from);
    const unsigned units = (end - start) / Unit, rounds = (units + threads - 1) / threads;
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned unit = round * threads + rank, at = start + unit * Unit, place = to + (at ^ both.exchange);
        if (unit >= units) {
            break;
        }
        if constexpr (Unit == 16) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(place), "l"(from + at) : "memory");
        } else {
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"(place), "l"(from + at), "n"(Unit) : "memory");
        }
    }
}

// Copies the thread's share to a place in shared memory where not all is a multiple of 16 bytes: in units of at least 4 bytes if the hardware can, and
// otherwise by loads and stores. It is one function for all copies of a type, so that the text of a copy is no longer than that in
// units of 16 bytes.
template <class T>
__device__ __noinline__ void copy_parts(unsigned place, unsigned exchange, const T* from, unsigned bytes, unsigned rank, unsigned threads) {
    T* const to = static_cast<T*>(__cvta_shared_to_generic(place));
    const copied both{to, from, bytes, exchange};
    const unsigned alignment = place | static_cast<unsigned>(reinterpret_cast<unsigned long long>(from));
    if ((alignment | bytes) % 4 != 0) {
        const unsigned length = bytes / sizeof(T);
        for (unsigned i = rank; i < length; i += threads) {
            to[i ^ exchange / sizeof(T)] = from[i];
        }
        return;
    }
    if (alignment % 16 == 0) {
        const unsigned whole = both.bytes / 16 * 16;
        copy_units<16>(both, 0, whole, rank, threads);
        copy_units<4>(both, whole, both.bytes, rank, threads);
    } else if (alignment % 8 == 0) {
        const unsigned whole = both.bytes / 8 * 8;
        copy_units<8>(both, 0, whole, rank, threads);
        copy_units<4>(both, whole, both.bytes, rank, threads);
    } else {
        copy_units<4>(both, 0, both.bytes, rank, threads);
    }
}

} // namespace detail

// `&memory[start..end]` as an argument of `memcpy_async`.
template <class Memory, class Start, class End>
__device__ __forceinline__ auto copied_part(Memory&& memory, Start start, End end, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const auto part = subslice(whole, start, end, site);
    return detail::located_part<decltype(detail::whole(whole))>{part, whole, detail::index(start).value};
}

// The same without its check: a test before it has shown that it holds.
template <class Memory, class Start, class End>
__device__ __forceinline__ auto copied_part_unchecked(Memory&& memory, Start start, End end) {
    const auto whole = detail::whole(memory);
    const auto part = subslice_unchecked(whole, start, end);
    return detail::located_part<decltype(detail::whole(whole))>{part, whole, detail::index(start).value};
}

// `memcpy_async(&group, &shared, slice, &bar)`
template <class Group, class To, class From, bool of_cluster>
__device__ __forceinline__ void memcpy_async(const Group& group, To&& destination, const From& source,
                                    const phase_barrier<of_cluster>& bar, PHALANX_SITE) {
    const auto to = detail::whole(destination);
    const auto from = detail::whole(source);
    const auto both = detail::copied::of(to, from, site);
    const unsigned rank = group.thread_rank().value, threads = group.num_threads().value;
    if (both.bytes == 0) {
        return;
    }
    if (detail::is_contiguous<decltype(to)> && detail::are_aligned(destination, source, 16) && both.bytes % 16 == 0) {
        if (rank == 0) {
            bar.expect_tx(u32(both.bytes));
            detail::fence_source_proxy(from);
            detail::bulk_to_shared(both, bar.address());
        }
    } else if (detail::are_aligned(destination, source, 4) && both.bytes % 4 == 0) {
        detail::copy_parts(detail::shared_address(to.data), both.exchange, from.data, both.bytes, rank, threads);
        // The phase expects one more arrival until the copies have completed.
        asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" : : "r"(bar.address()) : "memory");
    } else {
        // This thread may not arrive itself, so the phase expects one more byte until the copy is done.
        bar.expect_tx(u32(1));
        detail::copy_parts(detail::shared_address(to.data), both.exchange, from.data, both.bytes, rank, threads);
        asm volatile("fence.acq_rel.cta;\n"
                     "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 1;"
                     :
                     : "r"(bar.address())
                     : "memory");
    }
}

// `memcpy_async(&group, &shared, slice)`: each call is one group of copies.
template <class Group, class To, class From>
__device__ __forceinline__ void memcpy_async(const Group& group, To&& destination, const From& source, PHALANX_SITE) {
    const auto to = detail::whole(destination);
    const auto from = detail::whole(source);
    const auto both = detail::copied::of(to, from, site);
    const unsigned rank = group.thread_rank().value, threads = group.num_threads().value;
    if (detail::are_aligned(destination, source, 16) && both.bytes % 16 == 0) {
        detail::copy_units<16>(both, 0, both.bytes, rank, threads);
    } else {
        detail::copy_parts(detail::shared_address(to.data), both.exchange, from.data, both.bytes, rank, threads);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <unsigned long long Prior, class Group>
__device__ __forceinline__ void wait_prior(const Group& group) {
    asm volatile("cp.async.wait_group %0;" : : "n"(Prior) : "memory");
    group.sync();
}
template <class Group>
__device__ __forceinline__ void wait_async(const Group& group) {
    wait_prior<0>(group);
}

// `bulk_copy_async(&shared, slice, &bar)`
template <class Memory, class From, bool of_cluster>
__device__ __forceinline__ void bulk_copy_async(Memory&& memory, const From& from, const phase_barrier<of_cluster>& bar, PHALANX_SITE) {
    const auto both = detail::copied::in_bulk(detail::whole(memory), from, site);
    if (both.bytes != 0) {
        detail::fence_source_proxy(from);
        detail::bulk_to_shared(both, bar.address());
    }
}

// `bulk_copy_async(&remote, &shared, &remote_bar)`
template <class Remote, class Memory>
__device__ __forceinline__ void bulk_copy_async(Remote&& remote, Memory&& memory, const remote_barrier& bar, PHALANX_SITE) {
    const auto from = detail::whole(memory);
    const auto both = detail::copied::in_bulk(detail::whole(remote), from, site);
    if (both.bytes != 0) {
        detail::fence_peer_proxy();
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :
                     : "r"(detail::shared_address(both.to)), "r"(detail::shared_address(both.from)), "r"(both.bytes),
                       "r"(bar.address)
                     : "memory");
    }
}

// `bulk_copy_async(&mut slice, &shared)`: each copy is a group of its own.
template <class T, class Memory>
__device__ __forceinline__ void bulk_copy_async(const slice_mut<T>& to, Memory&& memory, PHALANX_SITE) {
    const auto from = detail::whole(memory);
    const auto both = detail::copied::in_bulk(to, from, site);
    if (both.bytes != 0) {
        detail::fence_global_proxy();
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                     :
                     : "l"(detail::global_address(both.to)), "r"(detail::shared_address(both.from)), "r"(both.bytes)
                     : "memory");
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <unsigned long long Prior>
__device__ __forceinline__ void bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group %0;" : : "n"(Prior) : "memory");
}
template <unsigned long long Prior>
__device__ __forceinline__ void bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(Prior) : "memory");
}

// `remote.store_async(i, value, &bar)`
template <class Remote, class Index, class T>
__device__ __forceinline__ void store_async(Remote&& remote, Index i, T value, const remote_barrier& bar, PHALANX_SITE) {
    const auto to = detail::whole(remote);
    const unsigned place = detail::shared_address(&to.data[detail::index(i).below(to.length, site)]);
    if constexpr (sizeof(T) == 4) {
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                     :
                     : "r"(place), "r"(__builtin_bit_cast(unsigned, value)), "r"(bar.address)
                     : "memory");
    } else {
        static_assert(sizeof(T) == 8);
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                     :
                     : "r"(place), "l"(__builtin_bit_cast(unsigned long long, value)), "r"(bar.address)
                     : "memory");
    }
}

} // namespace phalanx
