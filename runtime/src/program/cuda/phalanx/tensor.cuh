// `tensor_map`, a tensor in global memory, and the copies between it and tiles in shared memory, which one thread issues
// (PTX ISA: Tensors; cp.async.bulk.tensor with .multicast::cluster; cp.reduce.async.bulk.tensor; cp.async.bulk.prefetch.tensor). The map counts
// dimensions from the innermost, Rust from the outermost.
#pragma once
#include <phalanx/copy.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/swizzled.cuh>

namespace phalanx {

// A `CUtensorMap` for tiles of this type, which the host makes.
template <class Tile>
struct alignas(64) tensor_map {
    unsigned long long words[16];
};

// The same of a tensor that the kernel writes.
template <class Tile>
struct tensor_map_mut : tensor_map<Tile> {};

static_assert(sizeof(tensor_map_mut<local_array<u32, 4>>) == 128, "the host passes this layout");

namespace detail {

// A fence before a copy of a tensor, which is never written if it is a `tensor_map`.
template <class Tile>
__device__ __forceinline__ void fence_tensor_proxy(const tensor_map<Tile>&) {
    fence_block_proxy();
}
template <class Tile>
__device__ __forceinline__ void fence_tensor_proxy(const tensor_map_mut<Tile>&) {
    fence_global_proxy();
}

// The number of dimensions of a tile, what it is an array of, and the type of the coordinates of its first element. Of a parameter whose type
// is an alias template, NVRTC 13.0 takes the place of the alias for that of the call.
template <class Tile>
struct tile_of {
    enum : int { rank = 0 };
    enum : unsigned { element = 0 };
};
template <class T, unsigned long long N>
struct tile_of<local_array<T, N>> {
    enum : int { rank = 1 + tile_of<T>::rank };
    enum : unsigned long long { length = N };
    enum : unsigned { element = tile_of<T>::rank == 0 ? unsigned(sizeof(T)) : unsigned(tile_of<T>::element) };
    using part = T;
    using coordinates = local_array<i32, static_cast<unsigned long long>(rank)>;
};
template <class T, unsigned long long N>
struct tile_of<swizzled<T, N>> {
    enum : int { rank = 1 };
    enum : unsigned { element = sizeof(T) };
    using coordinates = local_array<i32, 1>;
};

// The number of elements of which the last coordinate must be a multiple: those of 16 bytes. An H100 has no instruction for
// others, and says so by ending the context.
template <class Tile>
__device__ __forceinline__ constexpr int granule() {
    return 16 / tile_of<Tile>::element;
}
template <class Tile, class Coordinates>
__device__ __forceinline__ void check_coordinates(const Coordinates& at, unsigned site) {
    const i32 last = at.elements[tile_of<Tile>::rank - 1];
    if (last.value % granule<Tile>() != 0) {
        fail(misaligned_coordinate, site, record_value(last), record_value(u32(granule<Tile>())));
    }
}

// A tensor is written from its first element on: an H100 has no instruction for negative coordinates of a store or a reduction.
template <class Tile, class Coordinates>
__device__ __forceinline__ void check_written(const Coordinates& at, unsigned site) {
    check_coordinates<Tile>(at, site);
#pragma unroll
    for (unsigned dimension = 0; dimension < unsigned(tile_of<Tile>::rank); dimension++) {
        if (at.elements[dimension].value < 0) {
            fail(negative_coordinate, site, record_value(at.elements[dimension]), record_value(u32(dimension)));
        }
    }
}

// Returns the address of a tile in shared memory, after checking its length and alignment.
template <class Tile>
__device__ __forceinline__ unsigned tile_address(const shared_slice<typename tile_of<Tile>::part>& tile, bool is_source, unsigned site) {
    if (tile.length != tile_of<Tile>::length) {
        const usize length(tile.length), whole(static_cast<unsigned long long>(tile_of<Tile>::length));
        fail(copy_lengths, site, record_value(is_source ? whole : length), record_value(is_source ? length : whole));
    }
    const unsigned address = shared_address(tile.data);
    if (address % 128 != 0) {
        fail(misaligned_tile, site, record_value(u32(address % 128)));
    }
    return address;
}

// The instructions, by the number of dimensions.
template <int Rank>
struct tensor_copy;

// `NEXT` is the operand after the coordinates.
#define PHALANX_TENSOR_COPY(RANK, DIMENSIONS, COORDINATES, NEXT, ...)                                                              \
    template <>                                                                                                                    \
    struct tensor_copy<RANK> {                                                                                                     \
        __device__ __forceinline__ static void load(const void* map, const i32* at, unsigned tile, unsigned bar) {                 \
            asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.tile.mbarrier::complete_tx::bytes "           \
                         "[%0], [%1, {" COORDINATES "}], [%2];"                                                                    \
                         :                                                                                                         \
                         : "r"(tile), "l"(map), "r"(bar), __VA_ARGS__                                                              \
                         : "memory");                                                                                              \
        }                                                                                                                          \
        __device__ __forceinline__ static void multicast(const void* map, const i32* at, unsigned tile, unsigned bar,                \
                                                         unsigned short blocks) {                                                  \
            asm volatile("cp.async.bulk.tensor." DIMENSIONS ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"            \
                         ".multicast::cluster [%0], [%1, {" COORDINATES "}], [%2], " NEXT ";"                                      \
                         :                                                                                                         \
                         : "r"(tile), "l"(map), "r"(bar), __VA_ARGS__, "h"(blocks)                                                 \
                         : "memory");                                                                                              \
        }                                                                                                                          \
        __device__ __forceinline__ static void store(const void* map, const i32* at, unsigned tile) {                              \
            asm volatile("cp.async.bulk.tensor." DIMENSIONS ".global.shared::cta.tile.bulk_group [%1, {" COORDINATES "}], [%0];"   \
                         :                                                                                                         \
                         : "r"(tile), "l"(map), "r"(0), __VA_ARGS__                                                                \
                         : "memory");                                                                                              \
        }                                                                                                                          \
        __device__ __forceinline__ static void prefetch(const void* map, const i32* at) {                                          \
            asm volatile("cp.async.bulk.prefetch.tensor." DIMENSIONS ".L2.global.tile [%1, {" COORDINATES "}];"                    \
                         :                                                                                                         \
                         : "r"(0), "l"(map), "r"(0), __VA_ARGS__                                                                   \
                         : "memory");                                                                                              \
        }                                                                                                                          \
        PHALANX_TENSOR_REDUCTION(add, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                        \
        PHALANX_TENSOR_REDUCTION(min, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                        \
        PHALANX_TENSOR_REDUCTION(max, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                        \
        PHALANX_TENSOR_REDUCTION(and, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                        \
        PHALANX_TENSOR_REDUCTION(or, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                         \
        PHALANX_TENSOR_REDUCTION(xor, DIMENSIONS, COORDINATES, __VA_ARGS__)                                                        \
    };
#define PHALANX_TENSOR_REDUCTION(OPERATION, DIMENSIONS, COORDINATES, ...)                                                          \
    __device__ __forceinline__ static void reduce_##OPERATION(const void* map, const i32* at, unsigned tile) {                     \
        asm volatile("cp.reduce.async.bulk.tensor." DIMENSIONS ".global.shared::cta." #OPERATION ".tile.bulk_group "               \
                     "[%1, {" COORDINATES "}], [%0];"                                                                              \
                     :                                                                                                             \
                     : "r"(tile), "l"(map), "r"(0), __VA_ARGS__                                                                    \
                     : "memory");                                                                                                  \
    }
PHALANX_TENSOR_COPY(1, "1d", "%3", "%4", "r"(at[0].value))
PHALANX_TENSOR_COPY(2, "2d", "%3, %4", "%5", "r"(at[1].value), "r"(at[0].value))
PHALANX_TENSOR_COPY(3, "3d", "%3, %4, %5", "%6", "r"(at[2].value), "r"(at[1].value), "r"(at[0].value))
PHALANX_TENSOR_COPY(4, "4d", "%3, %4, %5, %6", "%7", "r"(at[3].value), "r"(at[2].value), "r"(at[1].value), "r"(at[0].value))
PHALANX_TENSOR_COPY(5, "5d", "%3, %4, %5, %6, %7", "%8", "r"(at[4].value), "r"(at[3].value), "r"(at[2].value), "r"(at[1].value),
                    "r"(at[0].value))
#undef PHALANX_TENSOR_REDUCTION
#undef PHALANX_TENSOR_COPY

} // namespace detail

// `map.load_async(at, &tile, &bar)`. Other threads may have read and written the tile before, in the generic proxy.
template <template <class> class Map, class Tile, class Memory, bool of_cluster>
__device__ __forceinline__ void load_async(const Map<Tile>& map, typename detail::tile_of<Tile>::coordinates at, Memory&& memory,
                                           const phase_barrier<of_cluster>& bar, PHALANX_SITE) {
    const unsigned tile = detail::tile_address<Tile>(detail::whole(memory), false, site);
    detail::check_coordinates<Tile>(at, site);
    bar.expect_tx(u32(static_cast<unsigned>(sizeof(Tile))));
    detail::fence_tensor_proxy(map);
    detail::tensor_copy<detail::tile_of<Tile>::rank>::load(&map, at.elements, tile, bar.address());
}

// `map.multicast_async(at, &tile, &bar, ranks)`. The tile and the barrier are those at the same addresses of each receiver, where
// peers may have read the tile in the generic proxy. A fence of the whole cluster's shared memory orders that (PTX ISA, fence.proxy.async).
template <template <class> class Map, class Tile, class Memory, unsigned long long N>
__device__ __forceinline__ void multicast_async(const Map<Tile>& map, typename detail::tile_of<Tile>::coordinates at, Memory&& memory,
                                                const cluster_barrier& bar, const local_array<u32, N>& ranks, PHALANX_SITE) {
    const unsigned tile = detail::tile_address<Tile>(detail::whole(memory), false, site);
    detail::check_coordinates<Tile>(at, site);
    const unsigned blocks = detail::blocks_of_cluster();
    unsigned mask = 0;
#pragma unroll
    for (unsigned i = 0; i < N; i++) {
        const unsigned rank = ranks.elements[i].value;
        if (rank >= blocks) {
            detail::fail(detail::rank_out_of_range, site, record_value(ranks.elements[i]), record_value(u32(blocks)));
        }
        if (mask >> rank & 1) {
            detail::fail(detail::repeated_receiver, site, record_value(ranks.elements[i]));
        }
        mask |= 1u << rank;
    }
    detail::fence_peer_proxy();
    detail::tensor_copy<detail::tile_of<Tile>::rank>::multicast(&map, at.elements, tile, bar.address(), static_cast<unsigned short>(mask));
}

// `map.expect_multicast(&tile, &bar)`
template <template <class> class Map, class Tile, class Memory>
__device__ __forceinline__ void expect_multicast(const Map<Tile>&, Memory&& memory, const cluster_barrier& bar, PHALANX_SITE) {
    detail::tile_address<Tile>(detail::whole(memory), false, site);
    bar.expect_tx(u32(static_cast<unsigned>(sizeof(Tile))));
}

// `map.prefetch(at)`. It changes nothing, so that one that the hardware does not have is left out.
template <class Tile>
__device__ __forceinline__ void prefetch(const tensor_map<Tile>& map, typename detail::tile_of<Tile>::coordinates at) {
    if (at.elements[detail::tile_of<Tile>::rank - 1].value % detail::granule<Tile>() == 0) {
        detail::tensor_copy<detail::tile_of<Tile>::rank>::prefetch(&map, at.elements);
    }
}

// `map.store_async(at, &tile)` and `map.reduce_add_async(at, &tile)`: each copy is a group of its own.
#define PHALANX_TENSOR_STORE(NAME, INSTRUCTION)                                                                                    \
    template <class Tile, class Memory>                                                                                            \
    __device__ __forceinline__ void NAME(const tensor_map_mut<Tile>& map, typename detail::tile_of<Tile>::coordinates at,          \
                                         Memory&& memory, PHALANX_SITE) {                                                          \
        const unsigned tile = detail::tile_address<Tile>(detail::whole(memory), true, site);                                       \
        detail::check_written<Tile>(at, site);                                                                                     \
        detail::fence_tensor_proxy(map);                                                                                           \
        detail::tensor_copy<detail::tile_of<Tile>::rank>::INSTRUCTION(&map, at.elements, tile);                                    \
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");                                                                  \
    }
PHALANX_TENSOR_STORE(store_async, store)
PHALANX_TENSOR_STORE(reduce_add_async, reduce_add)
PHALANX_TENSOR_STORE(reduce_min_async, reduce_min)
PHALANX_TENSOR_STORE(reduce_max_async, reduce_max)
PHALANX_TENSOR_STORE(reduce_and_async, reduce_and)
PHALANX_TENSOR_STORE(reduce_or_async, reduce_or)
PHALANX_TENSOR_STORE(reduce_xor_async, reduce_xor)
#undef PHALANX_TENSOR_STORE

} // namespace phalanx
