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

// The instruction that adds 32 bytes of the rows of two tiles.
template <class T, class U, class V, unsigned long long N>
struct warpgroup_cores;

// The layout of an operand whose rows are swizzled: the number of its pattern, and the bytes after which that repeats.
template <class Row>
struct operand_of;
template <class T, unsigned long long N>
struct operand_of<swizzled<T, N>> {
    enum : unsigned { row = sizeof(T) * N, pattern = 8 * row };
    enum : unsigned long long { mode = row == 128 ? 1 : row == 64 ? 2 : 3 };
};

// Returns the descriptor of a tile: its address, the offset between groups of 8 rows, in units of 16 bytes, and the pattern.
// The offset between columns of units is not used where rows are swizzled.
template <class Row>
__device__ __forceinline__ unsigned long long descriptor(const shared_slice<Row>& tile, unsigned site) {
    using operand = operand_of<Row>;
    const unsigned address = shared_address(tile.data);
    if (address % operand::pattern != 0) {
        fail(misaligned_operand, site, record_value(u32(address % operand::pattern)), record_value(u32(unsigned(operand::pattern))));
    }
    return (address & 0x3ffff) >> 4 | 1ull << 16 | static_cast<unsigned long long>(operand::pattern >> 4) << 32 |
           static_cast<unsigned long long>(operand::mode) << 62;
}

// Keeps the compiler from moving accesses of the sums across this place.
__device__ __forceinline__ void keep(f32& sum) { asm volatile("" : "+f"(sum.value)::"memory"); }
__device__ __forceinline__ void keep(i32& sum) { asm volatile("" : "+r"(sum.value)::"memory"); }
template <class V, unsigned long long N>
__device__ __forceinline__ void keep(accumulator<V, 64, N>& sum) {
#pragma unroll
    for (unsigned i = 0; i < N / 2; ++i) {
        keep(sum.elements[i]);
    }
}
template <unsigned long long N>
__device__ __forceinline__ void keep(accumulator<f16, 64, N>& sum) {
#pragma unroll
    for (unsigned i = 0; i < N / 4; ++i) {
        asm volatile("" : "+r"(sum.word(i))::"memory");
    }
}

template <class T, unsigned long long K>
__device__ __forceinline__ void keep(matrix_a<T, 64, K>& a) {
#pragma unroll
    for (unsigned i = 0; i < K / 4; ++i) {
        asm volatile("" : "+r"(a.word(i))::"memory");
    }
}

// The registers of an instruction are all elements that a thread holds.
static_assert(sizeof(accumulator<f32, 64, 8>) == 16 && sizeof(accumulator<f16, 64, 8>) == 8);

template <class T, class U, class V, unsigned long long N, class A, class B>
__device__ __forceinline__ in_flight<accumulator<V, 64, N>, T, U>
begin_product(accumulator<V, 64, N> sum, const shared_slice<A>& a, const shared_slice<B>& b, unsigned site) {
    static_assert(sizeof(A) == sizeof(B));
    if (a.length != 64 || b.length != N) {
        fail(product_rows, site, recorded{unsigned_value, a.length}, recorded{unsigned_value, b.length},
             recorded{unsigned_value, 64}, recorded{unsigned_value, N});
    }
    const unsigned long long left = descriptor(a, site), right = descriptor(b, site);
    // What threads wrote to the tiles is in the generic proxy.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    keep(sum);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (unsigned step = 0; step < sizeof(A) / 32; ++step) {
        warpgroup_cores<T, U, V, N>::multiply(sum, left + 2 * step, right + 2 * step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    keep(sum);
    return {sum};
}

// The same with the left operand in registers, which the tensor cores read until a wait: nothing may move into them before.
template <class T, class U, class V, unsigned long long N, unsigned long long K, class B>
__device__ __forceinline__ in_flight<accumulator<V, 64, N>, T, U>
begin_product(accumulator<V, 64, N> sum, matrix_a<T, 64, K> a, const shared_slice<B>& b, unsigned site) {
    static_assert(sizeof(B) == sizeof(T) * K);
    if (b.length != N) {
        fail(product_rows, site, recorded{unsigned_value, 64}, recorded{unsigned_value, b.length},
             recorded{unsigned_value, 64}, recorded{unsigned_value, N});
    }
    const unsigned long long right = descriptor(b, site);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    keep(sum);
    keep(a);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (unsigned step = 0; step < K / 16; ++step) {
        warpgroup_cores<T, U, V, N>::multiply(sum, &a.word(4 * step), right + 2 * step);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    keep(a);
    keep(sum);
    return {sum};
}

template <class Memory>
__device__ __forceinline__ auto operand(Memory&& memory) {
    return whole(memory);
}
template <class T, unsigned long long K>
__device__ __forceinline__ matrix_a<T, 64, K> operand(const matrix_a<T, 64, K>& matrix) {
    return matrix;
}
template <class T, unsigned long long K>
__device__ __forceinline__ matrix_a<T, 64, K> operand(matrix_a<T, 64, K>& matrix) {
    return matrix;
}
template <class T, unsigned long long K>
__device__ __forceinline__ matrix_a<T, 64, K> operand(matrix_a<T, 64, K>&& matrix) {
    return matrix;
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
    __device__ __forceinline__ static auto begin(const Sum& sum, A&& a, B&& b, unsigned site) {
        return begin_product<T, U, V, N>(sum_of(sum), operand(a), whole(b), site);
    }
};

} // namespace detail

// `warpgroup.mma_async(sum, &a, &b)`
template <class Product, class Sum, class A, class B>
__device__ __forceinline__ Product mma_async(const thread_block_tile<128>&, const Sum& sum, A&& a, B&& b, PHALANX_SITE) {
    return detail::product_of<Product>::begin(sum, a, b, site);
}

// `warpgroup.wait_mma(product)`
template <class Sum, class T, class U>
__device__ __forceinline__ Sum wait_mma(const thread_block_tile<128>&, in_flight<Sum, T, U> product) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    detail::keep(product.sum);
    return product.sum;
}

// `warpgroup.wait_mma_prior::<1>()`
template <unsigned long long N>
__device__ __forceinline__ void wait_mma_prior(const thread_block_tile<128>&) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(static_cast<int>(N < 7 ? N : 7)) : "memory");
}

} // namespace phalanx
