// Memory as kernels name it: `slice` and `slice_mut` (global), `shared_array` and `dynamic_shared_array` (of the
// block), `remote_array` and `remote_slice` (shared memory of a peer), and `local_array` (a local value). Every `x[i]` is
// checked; a failure's site is the `[`. No synchronisation: groups.cuh; atomics are atomic.cuh's.
#pragma once
#include <phalanx/atomic.cuh>
#include <phalanx/scalar.cuh>

// The block's dynamic shared memory, aligned as bulk copies need it (PTX ISA, cp.async.bulk).
extern __shared__ __align__(128) unsigned char phalanx_dynamic_shared[];

namespace phalanx {
namespace detail {

template <class Raw>
concept index_type = same<Raw, unsigned> || same<Raw, int> || same<Raw, unsigned long long>;

// A `u32`, `i32` or `usize`, or a bare literal. A negative one is above every length.
struct index {
    unsigned long long value;
    value_tag tag;

    template <index_type Raw>
    __device__ constexpr index(integer<Raw> i)
        : value(static_cast<unsigned long long>(i.value)), tag(signed_integer<Raw> ? signed_value : unsigned_value) {}
    template <raw_integer Literal>
    __device__ constexpr index(Literal i)
        : value(static_cast<unsigned long long>(i)), tag(signed_integer<Literal> ? signed_value : unsigned_value) {}

    __device__ constexpr unsigned long long below(unsigned long long length, unsigned site) const {
        if (value >= length) {
            fail(index_out_of_bounds, site, recorded{tag, value}, recorded{unsigned_value, length});
        }
        return value;
    }
};

// An index with the place of its `[`.
struct located_index : index {
    unsigned site;

    template <index_type Raw>
    __device__ constexpr
    located_index(integer<Raw> i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN())
        : index(i), site(site_of(line, column)) {}
    template <raw_integer Literal>
    __device__ constexpr located_index(Literal i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN())
        : index(i), site(site_of(line, column)) {}

    __device__ constexpr unsigned long long below(unsigned long long length) const { return index::below(length, site); }
};

} // namespace detail

// `[T; N]`: a value, copied by assignment. `local_array<i32, 3>{1, 2, 3}`, `local_array<u32, 16>::filled(0)`.
template <class T, unsigned long long N>
struct local_array {
    T elements[N];

    __device__ static constexpr local_array filled(T value) {
        local_array a;
        for (unsigned long long i = 0; i < N; ++i) {
            a.elements[i] = value;
        }
        return a;
    }

    __device__ constexpr T& operator[](detail::located_index i) { return elements[i.below(N)]; }
    __device__ constexpr const T& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    __device__ constexpr T& get_unchecked(detail::index i) { return elements[i.value]; }
    __device__ constexpr const T& get_unchecked(detail::index i) const { return elements[i.value]; }
    __device__ constexpr usize len() const { return N; }
    __device__ constexpr bool is_empty() const { return N == 0; }
};

// `&[T]`, by value as a kernel's parameter: the host passes an address and a length, 8 bytes each.
template <class T>
struct slice {
    const T* data;
    unsigned long long length;

    __device__ const T& operator[](detail::located_index i) const { return data[i.below(length)]; }
    __device__ const T& get_unchecked(detail::index i) const { return data[i.value]; }
    __device__ usize len() const { return length; }
    __device__ bool is_empty() const { return length == 0; }
};

// `&mut [T]`, which the whole grid shares.
template <class T>
struct slice_mut {
    T* data;
    unsigned long long length;

    __device__ operator slice<T>() const { return {data, length}; }

    __device__ T& operator[](detail::located_index i) const { return data[i.below(length)]; }
    __device__ T& get_unchecked(detail::index i) const { return data[i.value]; }
    __device__ usize len() const { return length; }
    __device__ bool is_empty() const { return length == 0; }
    template <class Index>
    __device__ atomic_element<T>
    atomic(Index i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) const {
        return {&data[detail::index(i).below(length, detail::site_of(line, column))]};
    }
};

static_assert(sizeof(slice<u8>) == 16 && sizeof(slice_mut<u8>) == 16, "the host passes this layout");

// Shared memory of a peer: what `cluster.map_shared_rank` makes of a `shared_array`.
template <class T, unsigned long long N>
struct remote_array {
    T* data;

    __device__ T& operator[](detail::located_index i) const { return data[i.below(N)]; }
    __device__ T& get_unchecked(detail::index i) const { return data[i.value]; }
    __device__ usize len() const { return N; }
    __device__ bool is_empty() const { return N == 0; }
    template <class Index>
    __device__ atomic_element<T, true>
    atomic(Index i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) const {
        return {&data[detail::index(i).below(N, detail::site_of(line, column))]};
    }
};

// And of a `dynamic_shared_array`: all blocks of a launch have the same number of bytes.
template <class T>
struct remote_slice : slice_mut<T> {
    template <class Index>
    __device__ atomic_element<T, true>
    atomic(Index i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) const {
        return {slice_mut<T>::atomic(i, line, column).element};
    }
};

// `__shared__ shared_array<i32, 256> array;`: not initialised.
template <class T, unsigned long long N>
struct shared_array {
    T elements[N];

    __device__ T& operator[](detail::located_index i) { return elements[i.below(N)]; }
    __device__ const T& operator[](detail::located_index i) const { return elements[i.below(N)]; }
    __device__ T& get_unchecked(detail::index i) { return elements[i.value]; }
    __device__ const T& get_unchecked(detail::index i) const { return elements[i.value]; }
    __device__ usize len() const { return N; }
    __device__ bool is_empty() const { return N == 0; }
    template <class Index>
    __device__ atomic_element<T>
    atomic(Index i, unsigned line = __builtin_LINE(), unsigned column = __builtin_COLUMN()) {
        return {&elements[detail::index(i).below(N, detail::site_of(line, column))]};
    }
};

// The block's dynamic shared memory as `T`s: `auto bins = dynamic_shared<u32>();`.
template <class T>
struct dynamic_shared_array : slice_mut<T> {};

template <class T>
__device__ inline dynamic_shared_array<T> dynamic_shared() {
    unsigned bytes; // PTX ISA, %dynamic_smem_size
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return {{reinterpret_cast<T*>(phalanx_dynamic_shared), bytes / static_cast<unsigned>(sizeof(T))}};
}

} // namespace phalanx
