// The products of a warpgroup, four warps whose tensor cores multiply tiles of shared memory (PTX ISA: wgmma.mma_async;
// wgmma.fence; wgmma.commit_group; wgmma.wait_group; Matrix Descriptor). Only sm_90a has these instructions. The instruction of
// each type and number of columns is in the program's own text (program/warpgroup.rs). Whether all threads arrive together, with
// the same tiles, is not checked here.
#pragma once
#include <phalanx/matrix.cuh>
#include <phalanx/subslice.cuh>

namespace phalanx {

// A sum that is not known yet. Nothing touches its registers before the wait.
template <class Sum, class T, class U>
struct in_flight {
    Sum sum;
};

namespace detail {

// The element type of a left operand of `tf32` whose elements are rounded, which PTX takes as words.
struct rounded_tf32;
template <>
struct element_of<rounded_tf32> {
    using type = unsigned;
};

// The instruction that adds 32 bytes of the rows of two tiles.
template <class T, class U, class V, unsigned long long N>
struct warpgroup_cores;

// The layout of a tile whose rows are swizzled: the number of its pattern, and the bytes after which that repeats.
template <class Row>
struct swizzled_rows;
template <class T, unsigned long long N>
struct swizzled_rows<swizzled<T, N>> {
    enum : unsigned { row = sizeof(T) * N, pattern = 8 * row };
    enum : unsigned long long { mode = row == 128 ? 1 : row == 64 ? 2 : 3 };
};

// Returns the descriptor of a tile: its address, the two offsets in units of 16 bytes, and the pattern. The stride is the offset
// between groups of 8 rows of memory, the leading one that between tiles side by side, of which a tile that is not transposed has none.
template <class Row>
__device__ __forceinline__ unsigned long long descriptor(const void* data, unsigned long long leading, unsigned site) {
    using rows = swizzled_rows<Row>;
    const unsigned address = shared_address(data);
    if (address % rows::pattern != 0) {
        fail(misaligned_operand, site, record_value(u32(address % rows::pattern)), record_value(u32(unsigned(rows::pattern))));
    }
    return (address & 0x3ffff) >> 4 | leading << 16 | static_cast<unsigned long long>(rows::pattern >> 4) << 32 |
           static_cast<unsigned long long>(rows::mode) << 62;
}

// An operand whose lines are the rows of its tile: an instruction multiplies 32 bytes of each. `known_depth` is the number of elements
// of a line, or 0 if the type does not say it.
template <class Row>
struct tile_operand;
template <class T, unsigned long long N>
struct tile_operand<swizzled<T, N>> {
    enum : bool { is_transposed = false };
    enum : unsigned long long { known_depth = N, element = sizeof(T), step = 2 };

    unsigned long long first, lines, depth;

    __device__ __forceinline__ tile_operand(const shared_slice<swizzled<T, N>>& tile, unsigned site)
        : first(descriptor<swizzled<T, N>>(tile.data, 1, site)), lines(tile.length), depth(N) {}
};

// One whose lines are the columns of a tile, or of several: an instruction multiplies 16 rows.
template <class T, unsigned long long N>
struct transposed_operand {
    enum : bool { is_transposed = true };
    enum : unsigned long long { known_depth = 0, element = sizeof(T), row = sizeof(T) * N, step = row };

    unsigned long long first, lines, depth;

    __device__ __forceinline__ transposed_operand(const void* data, unsigned long long tiles, unsigned long long rows, unsigned site)
        : first(descriptor<swizzled<T, N>>(data, rows * (row >> 4), site)), lines(tiles * N), depth(rows) {}
};

// `tile.transposed()`
template <class Row>
struct transposed_tile {
    shared_slice<Row> tile;
};

template <class Row>
__device__ __forceinline__ transposed_tile<Row> transposed_rows(const shared_slice<Row>& tile) {
    return {tile};
}

template <class T, unsigned long long N>
__device__ __forceinline__ tile_operand<swizzled<T, N>> operand_of(const shared_slice<swizzled<T, N>>& tile, unsigned site) {
    return {tile, site};
}
template <class T, unsigned long long N>
__device__ __forceinline__ transposed_operand<T, N>
operand_of(const transposed_tile<swizzled<T, N>>& transposed, unsigned site) {
    return {transposed.tile.data, 1, transposed.tile.length, site};
}
template <class T, unsigned long long N, unsigned long long Rows>
__device__ __forceinline__ transposed_operand<T, N>
operand_of(const transposed_tile<local_array<swizzled<T, N>, Rows>>& transposed, unsigned site) {
    return {transposed.tile.data, transposed.tile.length, Rows, site};
}

// Checks that the operands fit the sums and each other.
template <unsigned long long N, class B>
__device__ __forceinline__ void check_shape(unsigned long long rows, unsigned long long depth, const B& b, unsigned site) {
    constexpr unsigned long long step = 32 / B::element;
    if (rows != 64 || b.lines != N) {
        fail(product_rows, site, recorded{unsigned_value, rows}, recorded{unsigned_value, b.lines}, recorded{unsigned_value, 64},
             recorded{unsigned_value, N});
    }
    if (depth != b.depth || depth % step != 0) {
        fail(product_depth, site, recorded{unsigned_value, depth}, recorded{unsigned_value, b.depth},
             recorded{unsigned_value, step});
    }
}

// Keeps the compiler from moving accesses of a matrix across this place. The loop counts: one by references is unrolled so late that the
// registers lie in memory meanwhile, and the assembler waits after each product.
__device__ __forceinline__ void keep(float& of) { asm volatile("" : "+f"(of)::"memory"); }
__device__ __forceinline__ void keep(int& of) { asm volatile("" : "+r"(of)::"memory"); }
__device__ __forceinline__ void keep(unsigned& of) { asm volatile("" : "+r"(of)::"memory"); }
template <class Matrix>
__device__ __forceinline__ void keep_all(Matrix& matrix) {
#pragma unroll
    for (unsigned i = 0; i < sizeof(matrix.registers) / 4; ++i) {
        keep(matrix.registers[i]);
    }
}

// Changes sums. No thread ever comes here.
__device__ __forceinline__ void disturb(float& of) { asm volatile("add.f32 %0, %0, %0;" : "+f"(of)); }
__device__ __forceinline__ void disturb(int& of) { asm volatile("add.s32 %0, %0, %0;" : "+r"(of)); }
__device__ __forceinline__ void disturb(unsigned& of) { asm volatile("not.b32 %0, %0;" : "+r"(of)); }

// After a wait: keeps the assembler from reading the sums before it. It takes a group that a loop begins and begins again for one, and after
// `wait_group 1` in the loop for ended, and moves what reads its registers above the `wait_group 0` behind the loop (ptxas 13.0 and
// 13.5). Here their values depend on a branch behind the wait, whose condition it does not know: a launch always has a place
// for its failure.
template <class Sum>
__device__ __forceinline__ void settle(Sum& sum) {
    if (of_launch<failure_record*, PHALANX_OFFSET_OF(launch_block, record)>() == nullptr) {
#pragma unroll
        for (unsigned i = 0; i < sizeof(sum.registers) / 4; ++i) {
            disturb(sum.registers[i]);
        }
    }
}

// The registers of an instruction are all elements that a thread holds.
static_assert(sizeof(accumulator<f32, 64, 8>) == 16 && sizeof(accumulator<f16, 64, 8>) == 8);

template <class T, class U, class V, unsigned long long N, class A, class B>
__device__ __forceinline__ in_flight<accumulator<V, 64, N>, T, U>
begin_product(accumulator<V, 64, N> sum, const A& a, const B& b, unsigned site) {
    check_shape<N>(a.lines, a.depth, b, site);
    // What threads wrote to the tiles is in the generic proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    keep_all(sum);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    constexpr unsigned long long known = A::known_depth != 0 ? A::known_depth : B::known_depth;
    const unsigned steps = static_cast<unsigned>((known != 0 ? known : a.depth) * A::element / 32);
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
        warpgroup_cores<T, U, V, N>::template multiply<A::is_transposed, B::is_transposed>(sum, a.first + A::step * step,
                                                                                           b.first + B::step * step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    keep_all(sum);
    return {sum};
}

// The same with the left operand in registers, which the tensor cores read until a wait: nothing may move into them before.
template <class T, class U, class V, unsigned long long N, class Element, unsigned long long K, class B>
__device__ __forceinline__ in_flight<accumulator<V, 64, N>, T, U>
begin_product(accumulator<V, 64, N> sum, matrix_a<Element, 64, K> a, const B& b, unsigned site) {
    static_assert(B::known_depth == 0 || B::known_depth == K);
    check_shape<N>(64, K, b, site);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    keep_all(sum);
    keep_all(a);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (unsigned step = 0; step < K * B::element / 32; ++step) {
        warpgroup_cores<T, U, V, N>::template multiply<B::is_transposed>(sum, &a.word(4 * step), b.first + B::step * step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    keep_all(a);
    keep_all(sum);
    return {sum};
}

// `whole` takes no constant array; nothing is written here.
template <class Memory>
__device__ __forceinline__ auto operand(const Memory& memory, unsigned site) {
    return operand_of(whole(const_cast<Memory&>(memory)), site);
}
template <class Row>
__device__ __forceinline__ auto operand(const transposed_tile<Row>& transposed, unsigned site) {
    return operand_of(transposed, site);
}
template <class T, unsigned long long K>
__device__ __forceinline__ matrix_a<T, 64, K> operand(const matrix_a<T, 64, K>& matrix, unsigned) {
    return matrix;
}
// A move from a register of `f32` to one of a word must not come between the instructions.
template <unsigned long long K>
__device__ __forceinline__ matrix_a<rounded_tf32, 64, K> operand(const matrix_a<tf32, 64, K>& matrix, unsigned) {
    matrix_a<rounded_tf32, 64, K> rounded;
#pragma unroll
    for (unsigned i = 0; i < K / 2; ++i) {
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded.registers[i]) : "f"(matrix.registers[i]));
    }
    return rounded;
}

template <class Sum, class T, class U>
__device__ __forceinline__ Sum sum_of(const in_flight<Sum, T, U>& product) {
    return product.sum;
}
template <class V, unsigned long long N>
__device__ __forceinline__ accumulator<V, 64, N> sum_of(const accumulator<V, 64, N>& sum) {
    return sum;
}

// The types of a product.
template <class Product>
struct product_of;
template <class V, unsigned long long N, class T, class U>
struct product_of<in_flight<accumulator<V, 64, N>, T, U>> {
    template <class Sum, class A, class B>
    __device__ __forceinline__ static auto begin(const Sum& sum, const A& a, const B& b, unsigned site) {
        return begin_product<T, U, V, N>(sum_of(sum), operand(a, site), operand(b, site), site);
    }
};

} // namespace detail

// `tile.transposed()`
template <class Memory>
__device__ __forceinline__ auto transposed(Memory&& memory) {
    const auto tile = detail::whole(memory);
    return detail::transposed_rows(tile);
}

// `warpgroup.mma_async(sum, &a, &b)`
template <class Product, class Sum, class A, class B>
__device__ __forceinline__ Product mma_async(const thread_block_tile<128>&, const Sum& sum, const A& a, const B& b, PHALANX_SITE) {
    return detail::product_of<Product>::begin(sum, a, b, site);
}

// `warpgroup.wait_mma(product)`
template <class Sum, class T, class U>
__device__ __forceinline__ Sum wait_mma(const thread_block_tile<128>&, in_flight<Sum, T, U> product) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    detail::keep_all(product.sum);
    detail::settle(product.sum);
    return product.sum;
}

// `warpgroup.wait_mma_except_last(product)`
template <class Sum, class T, class U>
__device__ __forceinline__ Sum wait_mma_except_last(const thread_block_tile<128>&, in_flight<Sum, T, U> product) {
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    detail::keep_all(product.sum);
    detail::settle(product.sum);
    return product.sum;
}

// `warpgroup.increase_registers::<232>()` (PTX ISA: setmaxnreg)
template <unsigned long long N>
__device__ __forceinline__ void increase_registers(const thread_block_tile<128>&) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(static_cast<int>(N)) : "memory");
}
template <unsigned long long N>
__device__ __forceinline__ void decrease_registers(const thread_block_tile<128>&) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(static_cast<int>(N)) : "memory");
}

// `warpgroup.wait_mma_prior::<1>()`
template <unsigned long long N>
__device__ __forceinline__ void wait_mma_prior(const thread_block_tile<128>&) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(static_cast<int>(N < 7 ? N : 7)) : "memory");
}

} // namespace phalanx
