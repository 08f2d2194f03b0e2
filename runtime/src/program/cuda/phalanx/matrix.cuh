// The matrices that a warp's tensor cores multiply, each spread over the registers of its lanes, their loads from shared
// memory and stores to it, and the products (PTX ISA: Matrix Fragments for mma; ldmatrix, stmatrix and mma). Whether all
// lanes arrive together, with the same arguments, is not checked here.
#pragma once
#include <phalanx/half.cuh>
#include <phalanx/swizzled.cuh>
#include <phalanx/tile.cuh>
#include <phalanx/vector.cuh>

namespace phalanx {

// The element type of matrices that are multiplied as TensorFloat-32. The elements themselves are `f32`.
struct tf32;

namespace detail {

template <class T>
struct element_of {
    using type = T;
};
template <>
struct element_of<tf32> {
    using type = f32;
};

// The registers of a thread that hold elements. Narrow ones are packed into words here, and not left to the compiler, which keeps each in a
// register of its own where a matrix is carried around a loop.
template <class T>
struct register_of {
    using type = unsigned;
};
template <>
struct register_of<f32> {
    using type = float;
};
template <>
struct register_of<i32> {
    using type = int;
};

// The elements that a lane holds.
template <class Matrix, class T, unsigned long long N>
struct lane_elements {
    using register_type = typename register_of<T>::type;
    enum : unsigned { packed = sizeof(register_type) / sizeof(T) };

    register_type registers[N / packed];

    __device__ __forceinline__ static Matrix filled(T value) {
        struct {
            T elements[packed];
        } word;
        for (unsigned i = 0; i < packed; ++i) {
            word.elements[i] = value;
        }
        Matrix m;
        for (unsigned i = 0; i < N / packed; ++i) {
            m.registers[i] = __builtin_bit_cast(register_type, word);
        }
        return m;
    }

    __device__ __forceinline__ T& operator[](located_index i) { return elements()[i.below(N)]; }
    __device__ __forceinline__ const T& operator[](located_index i) const { return elements()[i.below(N)]; }
    __device__ __forceinline__ T& get_unchecked(index i) { return elements()[i.value]; }
    __device__ __forceinline__ const T& get_unchecked(index i) const { return elements()[i.value]; }
    __device__ __forceinline__ constexpr usize len() const { return N; }
    __device__ __forceinline__ constexpr bool is_empty() const { return N == 0; }

    // A register as a word, whatever it holds.
    __device__ __forceinline__ unsigned& word(unsigned i) { return reinterpret_cast<unsigned*>(registers)[i]; }

private:
    __device__ __forceinline__ T* elements() { return reinterpret_cast<T*>(registers); }
    __device__ __forceinline__ const T* elements() const { return reinterpret_cast<const T*>(registers); }
};

} // namespace detail

// The left operand, whose words hold elements of one row, spread over a warp or, if it has 64 rows, over a warpgroup.
template <class T, unsigned long long M, unsigned long long K>
struct matrix_a : detail::lane_elements<matrix_a<T, M, K>, typename detail::element_of<T>::type, M * K / (M == 64 ? 128 : 32)> {
    enum : unsigned { rows = M, columns = K };
    enum : bool { lines_are_rows = true };
};

// The right operand, whose words hold elements of one column.
template <class T, unsigned long long K, unsigned long long N>
struct matrix_b : detail::lane_elements<matrix_b<T, K, N>, typename detail::element_of<T>::type, K * N / 32> {
    enum : unsigned { rows = K, columns = N };
    enum : bool { lines_are_rows = false };
};

// The sums, two neighbours of one row after the other, spread over a warp or, if they have 64 rows, over a warpgroup.
template <class T, unsigned long long M, unsigned long long N>
struct accumulator : detail::lane_elements<accumulator<T, M, N>, T, M * N / (M == 64 ? 128 : 32)> {
    enum : unsigned { rows = M, columns = N };
    enum : bool { lines_are_rows = true };
};

namespace detail {

template <class T, unsigned long long M, unsigned long long N>
struct array_length<matrix_a<T, M, N>> {
    enum : unsigned long long { value = M * N / (M == 64 ? 128 : 32) };
};
template <class T, unsigned long long M, unsigned long long N>
struct array_length<matrix_b<T, M, N>> {
    enum : unsigned long long { value = M * N / 32 };
};
template <class T, unsigned long long M, unsigned long long N>
struct array_length<accumulator<T, M, N>> {
    enum : unsigned long long { value = M * N / (M == 64 ? 128 : 32) };
};

// `mma.sync` of 16 by 8 sums, by the types of the elements. It is volatile, because all lanes must execute it together.
template <class T, class U, class V>
struct tensor_cores;

#define PHALANX_MMA_TO_F32(T, U, SHAPE, TYPES)                                                                         \
    template <>                                                                                                        \
    struct tensor_cores<T, U, f32> {                                                                                   \
        __device__ __forceinline__ static void multiply(const unsigned* a, const unsigned* b, float* c) {              \
            asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPES ".f32 "                                        \
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                             \
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                              \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
        }                                                                                                              \
    };
PHALANX_MMA_TO_F32(f16, f16, "m16n8k16", "f16.f16")
PHALANX_MMA_TO_F32(bf16, bf16, "m16n8k16", "bf16.bf16")
PHALANX_MMA_TO_F32(tf32, tf32, "m16n8k8", "tf32.tf32")
PHALANX_MMA_TO_F32(e4m3, e4m3, "m16n8k32", "e4m3.e4m3")
PHALANX_MMA_TO_F32(e4m3, e5m2, "m16n8k32", "e4m3.e5m2")
PHALANX_MMA_TO_F32(e5m2, e4m3, "m16n8k32", "e5m2.e4m3")
PHALANX_MMA_TO_F32(e5m2, e5m2, "m16n8k32", "e5m2.e5m2")
#undef PHALANX_MMA_TO_F32

template <>
struct tensor_cores<f16, f16, f16> {
    __device__ __forceinline__ static void multiply(const unsigned* a, const unsigned* b, unsigned* c) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                     "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                     : "+r"(c[0]), "+r"(c[1])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

// Without `.satfinite`, sums wrap around.
#define PHALANX_MMA_TO_I32(T, U, TYPES)                                                                                \
    template <>                                                                                                        \
    struct tensor_cores<T, U, i32> {                                                                                   \
        __device__ __forceinline__ static void multiply(const unsigned* a, const unsigned* b, int* c) {                \
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." TYPES ".s32 "                                        \
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                             \
                         : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                              \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
        }                                                                                                              \
    };
PHALANX_MMA_TO_I32(i8, i8, "s8.s8")
PHALANX_MMA_TO_I32(i8, u8, "s8.u8")
PHALANX_MMA_TO_I32(u8, i8, "u8.s8")
PHALANX_MMA_TO_I32(u8, u8, "u8.u8")
#undef PHALANX_MMA_TO_I32

// Rounds the elements of a `tf32` matrix to the digits that the tensor cores use, to nearest, ties away from zero. PTX leaves
// open what others would become.
template <class Matrix>
__device__ __forceinline__ void round_elements(Matrix&) {}
template <template <class, unsigned long long, unsigned long long> class Matrix, unsigned long long M, unsigned long long N>
__device__ __forceinline__ void round_elements(Matrix<tf32, M, N>& matrix) {
#pragma unroll
    for (unsigned i = 0; i < M * N / 32; ++i) {
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(matrix.word(i)) : "f"(matrix.registers[i]));
    }
}

} // namespace detail

// `warp.mma(a, b, c)`
template <class T, class U, class V, unsigned long long K, unsigned long long N>
__device__ __forceinline__ accumulator<V, 16, N>
tensor_product(matrix_a<T, 16, K> a, matrix_b<U, K, N> b, accumulator<V, 16, N> c) {
    detail::round_elements(a);
    detail::round_elements(b);
#pragma unroll
    for (unsigned block = 0; block < N / 8; ++block) {
        detail::tensor_cores<T, U, V>::multiply(&a.word(0), &b.word(2 * block), &c.registers[4 * block / c.packed]);
    }
    return c;
}

namespace detail {

// Returns the shared address of the line that this lane addresses for all, of a matrix at this row and column, or of its
// transpose. A square of 8 lines of 16 bytes is addressed by 8 lanes: the first by lanes 0 to 7, and so on.
template <class Matrix, bool IsTransposed, class Row>
__device__ __forceinline__ unsigned
line_address(unsigned lane, shared_slice<Row> memory, index row, index column, unsigned site) {
    constexpr unsigned long long length = array_length<Row>::value, size = sizeof(Row) / length;
    constexpr unsigned rows = IsTransposed ? Matrix::columns : Matrix::rows;
    constexpr unsigned columns = IsTransposed ? Matrix::rows : Matrix::columns;
    constexpr unsigned words = sizeof(Matrix) / 4;
    static_assert(sizeof(Row) % 16 == 0, "each row is aligned");
    if (rows > memory.length || row.value > memory.length - rows) {
        fail(matrix_out_of_bounds, site, recorded{row.tag, row.value}, recorded{unsigned_value, rows},
             recorded{unsigned_value, memory.length}, recorded{unsigned_value, 0});
    }
    if (columns > length || column.value > length - columns) {
        fail(matrix_out_of_bounds, site, recorded{column.tag, column.value}, recorded{unsigned_value, columns},
             recorded{unsigned_value, length}, recorded{unsigned_value, 1});
    }
    const unsigned start = shared_address(memory.data), offset = static_cast<unsigned>(column.value * size);
    if ((start + offset) % 16 != 0) {
        fail(misaligned_matrix, site, recorded{column.tag, column.value});
    }
    // The number of the lane's square among the matrix's lines, and along them. Lanes without a square repeat others.
    const unsigned square = lane / 8 % words;
    const unsigned across = Matrix::lines_are_rows ? square % 2 : square / 2;
    const unsigned along = Matrix::lines_are_rows ? square / 2 : square % 2;
    constexpr bool is_in_order = Matrix::lines_are_rows != IsTransposed;
    const unsigned down = (is_in_order ? across : along) * 8 + lane % 8;
    const unsigned right = (is_in_order ? along : across) * 16;
    return exchanged<Row>::address(start, static_cast<unsigned>(row.value) + down, offset + right);
}

template <bool IsTransposed>
__device__ __forceinline__ void load_words(unsigned (&words)[2], unsigned line) {
    if constexpr (IsTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "r"(line)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1])
                     : "r"(line)
                     : "memory");
    }
}
template <bool IsTransposed>
__device__ __forceinline__ void load_words(unsigned (&words)[4], unsigned line) {
    if constexpr (IsTransposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(line)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(line)
                     : "memory");
    }
}

template <bool IsTransposed>
__device__ __forceinline__ void store_words(const unsigned (&words)[2], unsigned line) {
    if constexpr (IsTransposed) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                     :
                     : "r"(line), "r"(words[0]), "r"(words[1])
                     : "memory");
    } else {
        asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                     :
                     : "r"(line), "r"(words[0]), "r"(words[1])
                     : "memory");
    }
}
template <bool IsTransposed>
__device__ __forceinline__ void store_words(const unsigned (&words)[4], unsigned line) {
    if constexpr (IsTransposed) {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(line), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    } else {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(line), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    }
}

// The words are transposed on the way where a line of the matrix is not a part of a row of memory.
template <class Matrix, bool IsTransposed, class Memory, class Row, class Column>
__device__ __forceinline__ Matrix load(u32 rank, Memory&& memory, Row row, Column column, unsigned site) {
    const unsigned lane = rank.value;
    unsigned words[sizeof(Matrix) / 4];
    const unsigned line = line_address<Matrix, IsTransposed>(lane, whole(memory), row, column, site);
    load_words<Matrix::lines_are_rows == IsTransposed>(words, line);
    Matrix matrix;
#pragma unroll
    for (unsigned i = 0; i < sizeof(Matrix) / 4; ++i) {
        matrix.word(i) = words[i];
    }
    return matrix;
}
template <bool IsTransposed, class Memory, class Row, class Column, class Matrix>
__device__ __forceinline__ void store(u32 rank, Memory&& memory, Row row, Column column, Matrix matrix, unsigned site) {
    const unsigned lane = rank.value;
    unsigned words[sizeof(Matrix) / 4];
    const unsigned line = line_address<Matrix, IsTransposed>(lane, whole(memory), row, column, site);
#pragma unroll
    for (unsigned i = 0; i < sizeof(Matrix) / 4; ++i) {
        words[i] = matrix.word(i);
    }
    store_words<Matrix::lines_are_rows == IsTransposed>(words, line);
}

} // namespace detail

// `warp.load_matrix(&tile, row, column)`: the rows of the tile are arrays.
template <class Matrix, class Memory, class Row, class Column>
__device__ __forceinline__ Matrix
load_matrix(const thread_block_tile<32>& warp, Memory&& memory, Row row, Column column, PHALANX_SITE) {
    return detail::load<Matrix, false>(warp.thread_rank(), memory, row, column, site);
}
template <class Matrix, class Memory, class Row, class Column>
__device__ __forceinline__ Matrix
load_matrix_transposed(const thread_block_tile<32>& warp, Memory&& memory, Row row, Column column, PHALANX_SITE) {
    return detail::load<Matrix, true>(warp.thread_rank(), memory, row, column, site);
}

// `warp.store_matrix(&tile, row, column, matrix)`
template <class Memory, class Row, class Column, class Matrix>
__device__ __forceinline__ void
store_matrix(const thread_block_tile<32>& warp, Memory&& memory, Row row, Column column, Matrix matrix, PHALANX_SITE) {
    detail::store<false>(warp.thread_rank(), memory, row, column, matrix, site);
}
template <class Memory, class Row, class Column, class Matrix>
__device__ __forceinline__ void store_matrix_transposed(const thread_block_tile<32>& warp, Memory&& memory, Row row, Column column,
                                               Matrix matrix, PHALANX_SITE) {
    detail::store<true>(warp.thread_rank(), memory, row, column, matrix, site);
}

} // namespace phalanx
