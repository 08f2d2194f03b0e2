// The memory that kernels name: `readonly_slice`, `slice` and `slice_mut` (global), `shared_array` and `shared_slice`
// (of the block), `remote_array` and `remote_slice` (shared memory of a peer). Every `x[i]` is checked; a failure's
// site is the `[`. groups.cuh has synchronization, atomic.cuh atomics, subslice.cuh parts of memory.
#pragma once
#include <phalanx/array.cuh>

// The block's dynamic shared memory, aligned as bulk copies need it (PTX ISA, cp.async.bulk), and in a program with tiles, as
// the widest pattern of swizzled rows repeats.
#ifdef PHALANX_TILES
extern __shared__ __align__(1024) unsigned char phalanx_dynamic_shared[];
#else
extern __shared__ __align__(128) unsigned char phalanx_dynamic_shared[];
#endif

// The size of the start of dynamic shared memory that holds the shared arrays of a program that exceeds the static
// limit.
#ifndef PHALANX_PLACED_SHARED_BYTES
#define PHALANX_PLACED_SHARED_BYTES 0
#endif

namespace phalanx {

// Defined in atomic.cuh, which a text that has atomics includes.
template <class T>
struct global_atomic;
template <class T>
struct shared_atomic;
template <class T>
struct remote_atomic;

namespace detail {

// Loads past the coherent path (PTX ISA, ld.global.nc) if the hardware can for the type, and otherwise plainly.
template <class T>
__device__ __forceinline__ const T& load_readonly(const T* place) {
    return *place;
}
// The launch before a kernel that waits for it may write the memory while the kernel runs. The compiler would also move such a load
// over the wait.
#ifndef PHALANX_WAITS_FOR_PREVIOUS
template <class T>
    requires(sizeof(T) == alignof(T) && sizeof(T) <= 16)
__device__ __forceinline__ T load_readonly(const T* place) {
    using word = typename loaded<sizeof(T)>::type;
    return __builtin_bit_cast(T, __ldg(reinterpret_cast<const word*>(place)));
}
#endif

// The words of a value of two or four.
struct two_words {
    unsigned words[2];
};
struct four_words {
    unsigned words[4];
};

} // namespace detail

// Returns a value whose words are all loaded where it is. The compiler knows nothing of what makes them known together, so that it does not
// load one by itself where that one is used; loads next to each other it joins to a wide one.
template <class T>
__device__ __forceinline__ T at_once(T value) {
    if constexpr (sizeof(T) == 8 && alignof(T) == 4) {
        auto of = __builtin_bit_cast(detail::two_words, value);
        asm("" : "+r"(of.words[0]), "+r"(of.words[1]));
        return __builtin_bit_cast(T, of);
    } else if constexpr (sizeof(T) == 16 && alignof(T) == 4) {
        auto of = __builtin_bit_cast(detail::four_words, value);
        asm("" : "+r"(of.words[0]), "+r"(of.words[1]), "+r"(of.words[2]), "+r"(of.words[3]));
        return __builtin_bit_cast(T, of);
    } else {
        return value;
    }
}

namespace detail {

// The length of a slice. In the launches that PHALANX_SHORT_SLICES names, none has 2^31 elements or more, so that an index of 32 bits,
// with a sign or without, and a length are compared as words.
#ifdef PHALANX_SHORT_SLICES
using slice_length = unsigned;
#else
using slice_length = unsigned long long;
#endif

// An index that is within bounds of a slice. If its length has 31 bits, a word has no sign: extended as if it had one, it is the same, and
// the compiler finds what the addresses of neighbours have in common, which it does not look for where a sum of words could wrap.
struct tested_index {
    unsigned long long value;

    template <index_type Raw>
    __device__ __forceinline__ constexpr tested_index(integer<Raw> i) : value(static_cast<unsigned long long>(i.value)) {}
#ifdef PHALANX_SHORT_SLICES
    __device__ __forceinline__ constexpr tested_index(integer<unsigned> i)
        : value(static_cast<unsigned long long>(static_cast<int>(i.value))) {}
#endif
    template <raw_integer Literal>
    __device__ __forceinline__ constexpr tested_index(Literal i) : value(static_cast<unsigned long long>(i)) {}
};

// Returns the address of shared memory, also of a peer's, that the instructions take.
__device__ __forceinline__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

} // namespace detail

// Has the address of a shared array known where it is declared. Where a loop is the first to use it, the assembler would make it anew in each
// iteration, from the rank of the block in its cluster, which takes as long as a load.
template <class Shared>
__device__ __forceinline__ void keep_address(const Shared& shared) {
    asm volatile("" : : "r"(detail::shared_address(&shared)));
}

// `&[T]`: an address and a length. It may be a reborrowed `&mut [T]`, which other threads write.
template <class T>
struct slice {
    const T* data;
    detail::slice_length length;

    __device__ __forceinline__ const T& operator[](detail::located_index i) const { return data[i.below(length)]; }
    template <class Index>
    __device__ __forceinline__ const T& operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ const T& get_unchecked(detail::tested_index i) const { return data[i.value]; }
    __device__ __forceinline__ const T& get_adjacent(detail::tested_index i) const { return data[i.value]; }
    __device__ __forceinline__ usize len() const { return length; }
    __device__ __forceinline__ bool is_empty() const { return length == 0; }
};

// `&[T]` as a kernel's own parameter, and parts of it: this memory is not written while the kernel runs, because the
// launcher borrows the buffer. A load may therefore bypass the coherent path and any store (PTX ISA, ld.global.nc).
template <class T>
struct readonly_slice {
    const T* data;
    detail::slice_length length;

    __device__ __forceinline__ operator slice<T>() const { return {data, length}; }

    __device__ __forceinline__ decltype(auto) operator[](detail::located_index i) const {
        return detail::load_readonly(data + i.below(length));
    }
    template <class Index>
    __device__ __forceinline__ decltype(auto) operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ decltype(auto) get_unchecked(detail::tested_index i) const { return detail::load_readonly(data + i.value); }
    // The compiler joins plain loads of neighbours to wide ones.
    __device__ __forceinline__ const T& get_adjacent(detail::tested_index i) const { return data[i.value]; }
    __device__ __forceinline__ usize len() const { return length; }
    __device__ __forceinline__ bool is_empty() const { return length == 0; }
};

// Memory that threads write, of a length that is known at run time.
template <class T, template <class> class Atomic>
struct writable {
    T* data;
    detail::slice_length length;

    __device__ __forceinline__ T& operator[](detail::located_index i) const { return data[i.below(length)]; }
    template <class Index>
    __device__ __forceinline__ T& operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ T& get_unchecked(detail::tested_index i) const { return data[i.value]; }
    __device__ __forceinline__ T& get_adjacent(detail::tested_index i) const { return data[i.value]; }
    __device__ __forceinline__ usize len() const { return length; }
    __device__ __forceinline__ bool is_empty() const { return length == 0; }
    template <class Index>
    __device__ __forceinline__ Atomic<T> atomic(Index i, PHALANX_SITE) const {
        PHALANX_USES_ATOMIC(site);
        return {&data[detail::index(i).below(length, site)]};
    }
};

// `&mut [T]`, which the whole grid shares.
template <class T>
struct slice_mut : writable<T, global_atomic> {
    __device__ __forceinline__ operator slice<T>() const { return {this->data, this->length}; }
};

// A part of the block's shared memory.
template <class T>
struct shared_slice : writable<T, shared_atomic> {};

// A part of a peer's shared memory.
template <class T>
struct remote_slice : writable<T, remote_atomic> {};

// Kernel parameters are passed by value: the host passes an address and a length, 8 bytes each, of which a short length is the
// first half.
static_assert(sizeof(readonly_slice<u8>) == 16 && sizeof(slice_mut<u8>) == 16, "the host passes this layout");

// Shared memory of a peer: the result of `cluster.map_shared_rank` for a `shared_array`.
template <class T, unsigned long long N>
struct remote_array {
    T* data;

    __device__ __forceinline__ T& operator[](detail::located_index i) const { return data[i.below(N)]; }
    template <class Index>
    __device__ __forceinline__ T& operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ T& get_unchecked(detail::index i) const { return data[i.value]; }
    __device__ __forceinline__ usize len() const { return N; }
    __device__ __forceinline__ bool is_empty() const { return N == 0; }
    __device__ __forceinline__ operator remote_slice<T>() const { return {data, N}; }
    template <class Index>
    __device__ __forceinline__ remote_atomic<T> atomic(Index i, PHALANX_SITE) const {
        PHALANX_USES_ATOMIC(site);
        return {&data[detail::index(i).below(N, site)]};
    }
};

namespace detail {

// The alignment of a shared array of so many bytes: for vectors of 16 bytes, and in a program with tiles, for those (shared.rs).
constexpr unsigned long long shared_alignment(unsigned long long bytes) {
#ifdef PHALANX_TILES
    return bytes < 1024 ? 128 : 1024;
#else
    return 16;
#endif
}

} // namespace detail

// `__shared__ shared_array<i32, 256> array;`: not initialized.
template <class T, unsigned long long N>
struct alignas(detail::shared_alignment(N * sizeof(T))) shared_array {
    T elements[N];

    __device__ __forceinline__ T& operator[](detail::located_index i) { return elements[i.below(N)]; }
    __device__ __forceinline__ const T& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    template <class Index>
    __device__ __forceinline__ T& operator[](detail::held_index<Index> i) { return get_unchecked(i.index); }
    template <class Index>
    __device__ __forceinline__ const T& operator[](detail::held_index<Index> i) const { return get_unchecked(i.index); }
    __device__ __forceinline__ T& get_unchecked(detail::index i) { return elements[i.value]; }
    __device__ __forceinline__ const T& get_unchecked(detail::index i) const { return elements[i.value]; }
    __device__ __forceinline__ usize len() const { return N; }
    __device__ __forceinline__ bool is_empty() const { return N == 0; }
    __device__ __forceinline__ operator shared_slice<T>() { return {elements, N}; }
    template <class Index>
    __device__ __forceinline__ shared_atomic<T> atomic(Index i, PHALANX_SITE) {
        PHALANX_USES_ATOMIC(site);
        return {&elements[detail::index(i).below(N, site)]};
    }
};

// A `shared_array` that lies in the dynamic segment: `auto& array = placed_shared<shared_array<f32, 16384>, 0>();`.
template <class Array, unsigned offset>
__device__ __forceinline__ Array& placed_shared() {
    static_assert(offset + sizeof(Array) <= PHALANX_PLACED_SHARED_BYTES);
    return *reinterpret_cast<Array*>(phalanx_dynamic_shared + offset);
}

namespace detail {

__device__ __forceinline__ unsigned dynamic_shared_bytes() {
    unsigned bytes; // PTX ISA, %dynamic_smem_size
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes - PHALANX_PLACED_SHARED_BYTES;
}

// The dynamic shared memory of the kernel begins after the placed arrays.
__device__ __forceinline__ unsigned char* dynamic_shared_start() {
    return phalanx_dynamic_shared + PHALANX_PLACED_SHARED_BYTES;
}

} // namespace detail

// The block's dynamic shared memory as `T`s: `auto bins = dynamic_shared<u32>();`.
template <class T>
__device__ __forceinline__ shared_slice<T> dynamic_shared() {
    const unsigned long long length = detail::dynamic_shared_bytes() / sizeof(T);
    return {reinterpret_cast<T*>(detail::dynamic_shared_start()), static_cast<detail::slice_length>(length)};
}

// `length` elements, starting at this byte.
template <class T, class Offset, class Length>
__device__ __forceinline__ shared_slice<T> dynamic_shared_slice(Offset byte_offset, Length length, PHALANX_SITE) {
    const detail::index offset(byte_offset), elements(length);
    const unsigned long long available = detail::dynamic_shared_bytes();
    const auto at = [](detail::index i) { return detail::recorded{i.tag, i.value}; };
    if (offset.value % alignof(T) != 0) {
        detail::fail(detail::dynamic_shared_misaligned, site, at(offset),
                     record_value(usize(alignof(T))));
    }
    if (offset.value > available || elements.value > (available - offset.value) / sizeof(T)) {
        detail::fail(detail::dynamic_shared_out_of_bounds, site, at(offset), at(elements),
                     record_value(usize(sizeof(T))), record_value(usize(available)));
    }
    return {reinterpret_cast<T*>(detail::dynamic_shared_start() + offset.value),
            static_cast<detail::slice_length>(elements.value)};
}

// The number of elements of an array, and 0 for what is none.
template <class Memory>
__device__ __forceinline__ constexpr unsigned long long length_of() {
    if constexpr (requires { detail::array_length<Memory>::value; }) {
        return detail::array_length<Memory>::value;
    } else {
        return 0;
    }
}

// An element that is next to those of other iterations, if they are not too many to be joined.
template <unsigned long long rounds, class Memory>
__device__ __forceinline__ decltype(auto) get_adjacent_of(const Memory& memory, detail::tested_index i) {
    if constexpr (rounds >= 2 && rounds <= 32) {
        return memory.get_adjacent(i);
    } else {
        return memory.get_unchecked(i);
    }
}

} // namespace phalanx
