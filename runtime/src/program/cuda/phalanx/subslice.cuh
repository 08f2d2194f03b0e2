// Parts of memory: `subslice(a, 2, 5)` for `&a[2..5]`, rows of arrays of arrays, chunks and halves. A part is a slice
// in the same memory space. A failure's site is the function's name.
#pragma once
#include <phalanx/memory.cuh>

namespace phalanx {

template <class T, unsigned long long N>
struct swizzled;

namespace detail {

template <unsigned long long Bytes>
__device__ __forceinline__ unsigned exchange(unsigned first, unsigned row);

// A swizzled row as the destination of a copy (swizzled.cuh).
template <class T, unsigned long long N>
struct swizzled_row {
    T* data;
    unsigned exchange; // what is exclusive-ored with the place of a byte
    static constexpr unsigned long long length = N;
};

// Returns the whole memory as a slice.
template <template <class> class Slice, class T>
__device__ __forceinline__ Slice<T> whole(Slice<T> memory) {
    return memory;
}
template <class T, unsigned long long N>
__device__ __forceinline__ shared_slice<T> whole(shared_array<T, N>& memory) {
    return memory;
}
template <class T, unsigned long long N>
__device__ __forceinline__ remote_slice<T> whole(remote_array<T, N> memory) {
    return memory;
}

template <class T, unsigned long long N>
__device__ __forceinline__ swizzled_row<T, N> whole(swizzled_row<T, N> row) {
    return row;
}

// Returns the address of an element, of which only the low bits matter. In the block's shared memory it is that of the shared
// window: the compiler knows the alignment of variables there, and loses it in the generic address space.
template <class Slice, class T>
__device__ __forceinline__ unsigned long long address_of(Slice, const T* place) {
    return reinterpret_cast<unsigned long long>(place);
}
template <class T>
__device__ __forceinline__ unsigned long long address_of(shared_slice<T>, const T* place) {
    return shared_address(place);
}

template <class T, unsigned long long N>
__device__ __forceinline__ unsigned long long address_of(swizzled_row<T, N>, const T* place) {
    return shared_address(place);
}

template <template <class> class Slice, class T>
__device__ __forceinline__ Slice<T> part(Slice<T> memory, unsigned long long start, unsigned long long length) {
    return {memory.data + start, static_cast<slice_length>(length)};
}

template <template <class> class Slice, class T, unsigned long long N>
__device__ __forceinline__ Slice<T> row(Slice<local_array<T, N>> memory, unsigned long long index) {
    return {memory.data[index].elements, N};
}
template <class T, unsigned long long N>
__device__ __forceinline__ swizzled_row<T, N> row(shared_slice<swizzled<T, N>> memory, unsigned long long index) {
    return {memory.data[index].elements, exchange<sizeof(T) * N>(shared_address(memory.data), static_cast<unsigned>(index)) * 16};
}
// What is no array is passed to a function by its value, which nothing writes while the kernel runs.
template <class T>
__device__ __forceinline__ T row(readonly_slice<T> memory, unsigned long long index) {
    return load_readonly(memory.data + index);
}
template <class T>
__device__ __forceinline__ T row(slice<T> memory, unsigned long long index) {
    return memory.data[index];
}
template <class T, unsigned long long N>
__device__ __forceinline__ auto row(readonly_slice<local_array<T, N>> memory, unsigned long long index) {
    return readonly_slice<T>{memory.data[index].elements, N};
}
template <class T, unsigned long long N>
__device__ __forceinline__ auto row(slice<local_array<T, N>> memory, unsigned long long index) {
    return slice<T>{memory.data[index].elements, N};
}

// `&array[..]` of a thread's own array, as which a device function takes it. The assembler keeps the array in registers where the function
// is inlined and all indexes are constants.
template <class T, unsigned long long N>
__device__ __forceinline__ slice<T> all_of(const local_array<T, N>& array) {
    return {array.elements, N};
}

template <class Slice>
struct halves {
    Slice left, right;
};

} // namespace detail

// `&array[..]`
template <class Array>
__device__ __forceinline__ auto slice_of(const Array& array) {
    return detail::all_of(array);
}

// `&mut array[..]`
template <class T, unsigned long long N>
__device__ __forceinline__ slice_mut<T> slice_of_mut(local_array<T, N>& array) {
    return {array.elements, N};
}

// `&memory[start..end]`
template <class Memory, class Start, class End>
__device__ __forceinline__ auto subslice(Memory&& memory, Start start, End end, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const detail::index from(start), to(end);
    detail::check_range(from, to, whole.length, site);
    return detail::part(whole, from.value, to.value - from.value);
}

// The same without its check: a test before it has shown that it holds.
template <class Memory, class Start, class End>
__device__ __forceinline__ auto subslice_unchecked(Memory&& memory, Start start, End end) {
    const detail::index from(start), to(end);
    return detail::part(detail::whole(memory), from.value, to.value - from.value);
}

// `&memory[start..=end]`
template <class Memory, class Start, class End>
__device__ __forceinline__ auto subslice_inclusive(Memory&& memory, Start start, End end, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const detail::index from(start), to(end);
    detail::check_range_inclusive(from, to, whole.length, site);
    return detail::part(whole, from.value, to.value + 1 - from.value);
}

// `&memory[start..]`
template <class Memory, class Start>
__device__ __forceinline__ auto subslice_from(Memory&& memory, Start start, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    return subslice(whole, start, usize(whole.length), site);
}

// The same without its check: a test before it has shown that it holds.
template <class Memory, class Start>
__device__ __forceinline__ auto subslice_from_unchecked(Memory&& memory, Start start) {
    const auto whole = detail::whole(memory);
    return subslice_unchecked(whole, start, usize(whole.length));
}

// `&memory[index]`, if the elements are arrays; or an element as an argument.
template <class Memory, class Index>
__device__ __forceinline__ auto row_of(Memory&& memory, Index index, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    return detail::row(whole, detail::index(index).below(whole.length, site));
}

// The same without its check: a test before it has shown that it holds.
template <class Memory, class Index>
__device__ __forceinline__ auto row_of_unchecked(Memory&& memory, Index index) {
    return detail::row(detail::whole(memory), detail::index(index).value);
}

// `&memory.chunks(size)[index]`: the last may be shorter.
template <class Memory, class Size, class Index>
__device__ __forceinline__ auto chunk_of(Memory&& memory, Size size, Index index, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const unsigned long long each = detail::index(size).value;
    if (each == 0) {
        detail::fail(detail::panic, site);
    }
    const unsigned long long chunks = whole.length / each + (whole.length % each != 0);
    const unsigned long long start = detail::index(index).below(chunks, site) * each;
    const unsigned long long rest = whole.length - start;
    return detail::part(whole, start, rest < each ? rest : each);
}

// An item of `memory.chunks_exact(size)`, for whose index the loop over the items answers.
template <class Memory, class Size, class Index>
__device__ __forceinline__ auto exact_chunk_of(Memory&& memory, Size size, Index index) {
    const unsigned long long each = detail::index(size).value;
    return detail::part(detail::whole(memory), detail::index(index).value * each, each);
}

// `memory.split_at(mid)`: `auto [left, right] = split_at(memory, mid);`
template <class Memory, class Mid>
__device__ __forceinline__ auto split_at(Memory&& memory, Mid mid, PHALANX_SITE) {
    const auto whole = detail::whole(memory);
    const detail::index at(mid);
    detail::check_range(0, at, whole.length, site);
    const auto left = detail::part(whole, 0, at.value);
    return detail::halves<decltype(detail::whole(left))>{left, detail::part(whole, at.value, whole.length - at.value)};
}

} // namespace phalanx
