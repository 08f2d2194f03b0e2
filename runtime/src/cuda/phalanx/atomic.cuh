// `x.atomic(i)`: one element as Rust's atomic integers. Relaxed only, at device scope, which is wider than what shared
// memory and a cluster need. For `i32`, `u32`, `i64` and `u64`; wraps.
#pragma once
#include <phalanx/option.cuh>
#include <phalanx/scalar.cuh>

namespace phalanx {

// Rust's `Ordering::Relaxed`.
enum memory_ordering { relaxed };

// The place of the atomic; `Remote` if it may be in the shared memory of a peer.
template <class T, bool Remote = false>
struct atomic_element;

template <class Raw, bool Remote>
    requires(sizeof(Raw) == 4 || sizeof(Raw) == 8)
struct atomic_element<integer<Raw>, Remote> {
    using value_type = integer<Raw>;

    value_type* element;

    __device__ value_type load(memory_ordering) const {
        return __nv_atomic_load_n(raw(), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
    __device__ void store(value_type value, memory_ordering) const {
        __nv_atomic_store_n(raw(), value.value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
    __device__ value_type swap(value_type value, memory_ordering) const { return atomicExch(bits(), of(value)); }

    // The value before, `Ok` if it was `current` and was replaced.
    __device__ result<value_type>
    compare_exchange(value_type current, value_type replacement, memory_ordering, memory_ordering) const {
        const value_type before = atomicCAS(bits(), of(current), of(replacement));
        return {before, before == current};
    }

    __device__ value_type fetch_add(value_type value, memory_ordering) const { return atomicAdd(bits(), of(value)); }
    __device__ value_type fetch_sub(value_type value, memory_ordering) const { return atomicAdd(bits(), of(-value)); }

    __device__ value_type fetch_min(value_type value, memory_ordering) const {
        if constexpr (looped) {
            return update([value](value_type old) { return value < old ? value : old; });
        } else {
            return atomicMin(raw(), value.value);
        }
    }
    __device__ value_type fetch_max(value_type value, memory_ordering) const {
        if constexpr (looped) {
            return update([value](value_type old) { return old < value ? value : old; });
        } else {
            return atomicMax(raw(), value.value);
        }
    }
    __device__ value_type fetch_and(value_type value, memory_ordering) const {
        if constexpr (looped) {
            return update([value](value_type old) { return old & value; });
        } else {
            return atomicAnd(bits(), of(value));
        }
    }
    __device__ value_type fetch_or(value_type value, memory_ordering) const {
        if constexpr (looped) {
            return update([value](value_type old) { return old | value; });
        } else {
            return atomicOr(bits(), of(value));
        }
    }
    __device__ value_type fetch_xor(value_type value, memory_ordering) const {
        if constexpr (looped) {
            return update([value](value_type old) { return old ^ value; });
        } else {
            return atomicXor(bits(), of(value));
        }
    }

  private:
    // Of 64 bits in a peer's shared memory, sm_90 has no min, max, and, or, xor; ptxas (13.0 and 13.5) then makes a plain load
    // and store of them, and updates are lost. The others are right, measured on an H100.
    enum : bool { looped = Remote && sizeof(Raw) == 8 };

    template <class Operation>
    __device__ value_type update(Operation operation) const {
        value_type before = load(relaxed);
        for (;;) {
            const result<value_type> attempt = compare_exchange(before, operation(before), relaxed, relaxed);
            if (attempt.is_ok()) {
                return before;
            }
            before = attempt.value;
        }
    }

    __device__ Raw* raw() const { return &element->value; }
    // Builtins that don't care about the sign are there for unsigned types only.
    __device__ detail::bits_of<Raw>* bits() const { return reinterpret_cast<detail::bits_of<Raw>*>(raw()); }
    __device__ static detail::bits_of<Raw> of(value_type value) { return static_cast<detail::bits_of<Raw>>(value.value); }
};

} // namespace phalanx
