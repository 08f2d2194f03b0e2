// `x.atomic(i)`, atomic access to one element as in Rust, and `fence`. Orders and scopes are those of the PTX memory
// consistency model (PTX ISA, Memory Consistency Model). The compiler's builtins map to it as in "A Formal Analysis of
// the NVIDIA PTX Memory Consistency Model" (Lustig et al., ASPLOS 2019): `seq_cst` is `fence.sc` before an acquire, or
// before a relaxed store. Supported are integers of 32 and 64 bits, which wrap, all floats, and pairs of half floats.
#pragma once
#include <phalanx/lanes.cuh>
#include <phalanx/option.cuh>

namespace phalanx {

// Rust's `Ordering` and `Scope`. Each value is a type of its own, because the builtins take constants.
enum relaxed_type { relaxed };
enum acquire_type { acquire };
enum release_type { release };
enum acq_rel_type { acq_rel };
enum seq_cst_type { seq_cst };

enum block_scope_type { block_scope };
enum cluster_scope_type { cluster_scope };
enum device_scope_type { device_scope };
enum system_scope_type { system_scope };

namespace detail {

__device__ __forceinline__ constexpr int memory_order(relaxed_type) {
    return __NV_ATOMIC_RELAXED;
}
__device__ __forceinline__ constexpr int memory_order(acquire_type) {
    return __NV_ATOMIC_ACQUIRE;
}
__device__ __forceinline__ constexpr int memory_order(release_type) {
    return __NV_ATOMIC_RELEASE;
}
__device__ __forceinline__ constexpr int memory_order(acq_rel_type) {
    return __NV_ATOMIC_ACQ_REL;
}
__device__ __forceinline__ constexpr int memory_order(seq_cst_type) {
    return __NV_ATOMIC_SEQ_CST;
}

__device__ __forceinline__ constexpr int thread_scope(block_scope_type) {
    return __NV_THREAD_SCOPE_BLOCK;
}
__device__ __forceinline__ constexpr int thread_scope(cluster_scope_type) {
    return __NV_THREAD_SCOPE_CLUSTER;
}
__device__ __forceinline__ constexpr int thread_scope(device_scope_type) {
    return __NV_THREAD_SCOPE_DEVICE;
}
__device__ __forceinline__ constexpr int thread_scope(system_scope_type) {
    return __NV_THREAD_SCOPE_SYSTEM;
}

// PTX has one order for a compare-exchange, whether it stores or not. This is the weakest that is as strong as both.
__device__ __forceinline__ constexpr int stronger(int success, int failure) {
    if (success == __NV_ATOMIC_SEQ_CST || failure == __NV_ATOMIC_SEQ_CST) {
        return __NV_ATOMIC_SEQ_CST;
    }
    const bool acquires = success == __NV_ATOMIC_ACQUIRE || success == __NV_ATOMIC_ACQ_REL || failure == __NV_ATOMIC_ACQUIRE;
    const bool releases = success == __NV_ATOMIC_RELEASE || success == __NV_ATOMIC_ACQ_REL;
    return acquires ? (releases ? __NV_ATOMIC_ACQ_REL : __NV_ATOMIC_ACQUIRE)
                    : (releases ? __NV_ATOMIC_RELEASE : __NV_ATOMIC_RELAXED);
}

// The builtin accepts no constant that depends on a template (NVRTC 13.0).
__device__ __forceinline__ void fence_acq_rel(block_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
}
__device__ __forceinline__ void fence_acq_rel(cluster_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_CLUSTER);
}
__device__ __forceinline__ void fence_acq_rel(device_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ void fence_acq_rel(system_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
}
__device__ __forceinline__ void fence_sc(block_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
}
__device__ __forceinline__ void fence_sc(cluster_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_CLUSTER);
}
__device__ __forceinline__ void fence_sc(device_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}
__device__ __forceinline__ void fence_sc(system_scope_type) {
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
}

// The hardware's operations, through the compiler's builtins, which are inline PTX on generic addresses.
template <class Order, class Scope, class Failure = relaxed_type>
struct atomic_operations {
    enum : int {
        order = stronger(memory_order(Order()), memory_order(Failure())),
        failure = memory_order(Failure()),
        scope = thread_scope(Scope()),
    };

    template <class Raw>
    __device__ __forceinline__ static Raw add(Raw* place, Raw value) {
        return __nv_atomic_fetch_add(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw smaller(Raw* place, Raw value) {
        return __nv_atomic_fetch_min(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw larger(Raw* place, Raw value) {
        return __nv_atomic_fetch_max(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw both(Raw* place, Raw value) {
        return __nv_atomic_fetch_and(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw either(Raw* place, Raw value) {
        return __nv_atomic_fetch_or(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw differing(Raw* place, Raw value) {
        return __nv_atomic_fetch_xor(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw exchange(Raw* place, Raw value) {
        return __nv_atomic_exchange_n(place, value, order, scope);
    }
    template <class Raw>
    __device__ __forceinline__ static Raw exchange_if(Raw* place, Raw current, Raw replacement) {
        __nv_atomic_compare_exchange_n(place, &current, replacement, false, order, failure, scope);
        return current;
    }
};

// Relaxed operations use CUDA's functions, for which the compiler sees the memory space: `ATOMS` for shared memory, and
// `RED` if the result is unused, are several times faster.
#define PHALANX_RELAXED(Scope, suffix)                                                                                 \
    template <>                                                                                                        \
    struct atomic_operations<relaxed_type, Scope, relaxed_type> {                                                      \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw add(Raw* place, Raw value) {                                                             \
            return atomicAdd##suffix(place, value);                                                                    \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw smaller(Raw* place, Raw value) {                                                         \
            return atomicMin##suffix(place, value);                                                                    \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw larger(Raw* place, Raw value) {                                                          \
            return atomicMax##suffix(place, value);                                                                    \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw both(Raw* place, Raw value) {                                                            \
            return atomicAnd##suffix(place, value);                                                                    \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw either(Raw* place, Raw value) {                                                          \
            return atomicOr##suffix(place, value);                                                                     \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw differing(Raw* place, Raw value) {                                                       \
            return atomicXor##suffix(place, value);                                                                    \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw exchange(Raw* place, Raw value) {                                                        \
            return atomicExch##suffix(place, value);                                                                   \
        }                                                                                                              \
        template <class Raw>                                                                                           \
        __device__ __forceinline__ static Raw exchange_if(Raw* place, Raw current, Raw replacement) {                                  \
            return atomicCAS##suffix(place, current, replacement);                                                     \
        }                                                                                                              \
        /* Of 16 bits, CUDA has no function at every scope. */                                                         \
        __device__ __forceinline__ static unsigned short exchange_if(unsigned short* place, unsigned short current,                    \
                                                     unsigned short replacement) {                                     \
            __nv_atomic_compare_exchange_n(place, &current, replacement, false, __NV_ATOMIC_RELAXED,                   \
                                           __NV_ATOMIC_RELAXED, thread_scope(Scope()));                                \
            return current;                                                                                            \
        }                                                                                                              \
    };
PHALANX_RELAXED(block_scope_type, _block)
// CUDA has no function for the scope of a cluster; a wider scope is also correct.
PHALANX_RELAXED(cluster_scope_type, )
PHALANX_RELAXED(device_scope_type, )
PHALANX_RELAXED(system_scope_type, _system)
#undef PHALANX_RELAXED

// Adds to a pair of half floats in global memory; each lane is an atomic of its own (PTX ISA, atom, `.f16x2` and
// `.bf16x2`).
#define PHALANX_ADD_PAIR(Format, type, Scope, scope)                                                                   \
    __device__ __forceinline__ unsigned add_pair(Format, unsigned* place, unsigned value, Scope) {                              \
        unsigned before;                                                                                               \
        asm volatile("atom.relaxed." scope ".global.add.noftz." type " %0, [%1], %2;"                                  \
                     : "=r"(before)                                                                                    \
                     : "l"(__cvta_generic_to_global(place)), "r"(value)                                                \
                     : "memory");                                                                                      \
        return before;                                                                                                 \
    }
#define PHALANX_ADD_PAIRS(Scope, scope)                                                                                \
    PHALANX_ADD_PAIR(binary16, "f16x2", Scope, scope)                                                                  \
    PHALANX_ADD_PAIR(brain16, "bf16x2", Scope, scope)
PHALANX_ADD_PAIRS(block_scope_type, "cta")
PHALANX_ADD_PAIRS(cluster_scope_type, "cluster")
PHALANX_ADD_PAIRS(device_scope_type, "gpu")
PHALANX_ADD_PAIRS(system_scope_type, "sys")
#undef PHALANX_ADD_PAIRS
#undef PHALANX_ADD_PAIR

// Fences around the operation establish the order.
template <class Format, class Order, class Scope>
__device__ __forceinline__ unsigned add_pair(Format format, unsigned* place, unsigned value, Scope scope, Order order) {
    if constexpr (same<Order, seq_cst_type>) {
        fence_sc(scope);
    } else if constexpr (same<Order, release_type> || same<Order, acq_rel_type>) {
        fence_acq_rel(scope);
    }
    const unsigned before = add_pair(format, place, value, scope);
    if constexpr (memory_order(Order()) != __NV_ATOMIC_RELAXED && !same<Order, release_type>) {
        fence_acq_rel(scope);
    }
    return before;
}

// The atomic operations that a type supports.
template <class T>
struct atomic_traits {
    enum : bool { is_integer = false, is_pair = false, has_add = false };
};
template <class Raw>
struct atomic_traits<integer<Raw>> {
    enum : bool { is_integer = true, is_pair = false, has_add = true };
};
template <class Raw>
struct atomic_traits<floating<Raw>> {
    enum : bool { is_integer = false, is_pair = false, has_add = true };
};
template <class Format>
struct atomic_traits<vector<half_float<Format>, 2>> {
    using format = Format;
    enum : bool { is_integer = false, is_pair = true, has_add = false };
};

// The type that the builtins take: the value's bits as an unsigned integer.
template <unsigned long long Bytes>
struct atomic_bits;
template <> struct atomic_bits<2> { using type = unsigned short; };
template <> struct atomic_bits<4> { using type = unsigned; };
template <> struct atomic_bits<8> { using type = unsigned long long; };

template <class T>
__device__ __forceinline__ T sum_of(T a, T b) {
    return a + b;
}
template <class Half>
__device__ __forceinline__ vector<Half, 2> sum_of(vector<Half, 2> a, vector<Half, 2> b) {
    return {a.lanes[0] + b.lanes[0], a.lanes[1] + b.lanes[1]};
}
template <class T>
__device__ __forceinline__ T negative_of(T a) {
    return -a;
}
template <class Half>
__device__ __forceinline__ vector<Half, 2> negative_of(vector<Half, 2> a) {
    return {-a.lanes[0], -a.lanes[1]};
}

enum class space { global, shared, remote };

} // namespace detail

// An element in memory on which atomics operate.
template <class T, class Scope, detail::space Space>
struct atomic_element {
    using bits = typename detail::atomic_bits<sizeof(T)>::type;

    T* element;

    template <class Wanted>
    __device__ __forceinline__ auto scope(Wanted) const {
        // A block shares no memory with a peer, so the scope is at least the cluster.
        if constexpr (is_remote && detail::same<Wanted, block_scope_type>) {
            return atomic_element<T, cluster_scope_type, Space>{element};
        } else {
            return atomic_element<T, Wanted, Space>{element};
        }
    }

    template <class Order>
    __device__ __forceinline__ T load(Order) const {
        return of_bits(__nv_atomic_load_n(place(), detail::memory_order(Order()), scope_of));
    }
    template <class Order>
    __device__ __forceinline__ void store(T value, Order) const {
        __nv_atomic_store_n(place(), to_bits(value), detail::memory_order(Order()), scope_of);
    }
    template <class Order>
    __device__ __forceinline__ T swap(T value, Order order) const {
        if constexpr (sizeof(T) < 4) {
            return update([value](T) { return value; }, order);
        } else {
            return of_bits(on<Order>::exchange(place(), to_bits(value)));
        }
    }

    // Returns the previous value: `Ok` if its bits equalled those of `current` and it was replaced.
    template <class Success, class Failure>
    __device__ __forceinline__ result<T> compare_exchange(T current, T replacement, Success, Failure) const {
        const bits before =
            detail::atomic_operations<Success, Scope, Failure>::exchange_if(place(), to_bits(current), to_bits(replacement));
        const T previous = of_bits(before);
        return {previous, previous, before == to_bits(current)};
    }
    template <class Success, class Failure>
    __device__ __forceinline__ result<T> compare_exchange_weak(T current, T replacement, Success success, Failure failure) const {
        return compare_exchange(current, replacement, success, failure);
    }

    template <class Order>
    __device__ __forceinline__ T fetch_add(T value, Order order) const {
        if constexpr (traits::is_integer) {
            return of_bits(on<Order>::add(place(), to_bits(value)));
        } else if constexpr (traits::has_add && !is_remote) {
            return T(on<Order>::add(&element->value, value.value));
        } else if constexpr (traits::is_pair && Space == detail::space::global) {
            return of_bits(detail::add_pair(typename traits::format(), place(), to_bits(value), Scope(), order));
        } else {
            return update([value](T old) { return detail::sum_of(old, value); }, order);
        }
    }
    template <class Order>
    __device__ __forceinline__ T fetch_sub(T value, Order order) const {
        return fetch_add(detail::negative_of(value), order);
    }
    template <class Order>
    __device__ __forceinline__ T fetch_min(T value, Order order) const {
        if constexpr (looped) {
            return update([value](T old) { return value < old || old != old ? value : old; }, order);
        } else {
            return T(on<Order>::smaller(&element->value, value.value));
        }
    }
    template <class Order>
    __device__ __forceinline__ T fetch_max(T value, Order order) const {
        if constexpr (looped) {
            return update([value](T old) { return old < value || old != old ? value : old; }, order);
        } else {
            return T(on<Order>::larger(&element->value, value.value));
        }
    }
    template <class Order>
    __device__ __forceinline__ T fetch_and(T value, Order order) const {
        if constexpr (looped) {
            return update([value](T old) { return old & value; }, order);
        } else {
            return of_bits(on<Order>::both(place(), to_bits(value)));
        }
    }
    template <class Order>
    __device__ __forceinline__ T fetch_or(T value, Order order) const {
        if constexpr (looped) {
            return update([value](T old) { return old | value; }, order);
        } else {
            return of_bits(on<Order>::either(place(), to_bits(value)));
        }
    }
    template <class Order>
    __device__ __forceinline__ T fetch_xor(T value, Order order) const {
        if constexpr (looped) {
            return update([value](T old) { return old ^ value; }, order);
        } else {
            return of_bits(on<Order>::differing(place(), to_bits(value)));
        }
    }

    template <class Order>
    __device__ __forceinline__ T fetch_nand(T value, Order order) const {
        return update([value](T old) { return !(old & value); }, order);
    }

  private:
    using traits = detail::atomic_traits<T>;
    enum : bool { is_remote = Space == detail::space::remote };
    // The hardware has no min and max of floats. For 64 bits in a peer's shared memory, sm_90 has no min, max, and, or,
    // xor; ptxas (13.0 and 13.5) then emits a plain load and store, and updates are lost. The others are right,
    // measured on an H100. The add of floats there is a loop in any case, and so is each operation on 16 bits, and the
    // add of pairs in shared memory; for pairs in a peer's, ptxas would lose updates.
    enum : bool { looped = !traits::is_integer || (is_remote && sizeof(T) == 8) };
    enum : int { scope_of = detail::thread_scope(Scope()) };
    template <class Order>
    using on = detail::atomic_operations<Order, Scope>;

    template <class Operation, class Order>
    __device__ __forceinline__ T update(Operation operation, Order order) const {
        T before = load(relaxed);
        for (;;) {
            const result<T> attempt = compare_exchange(before, operation(before), order, relaxed);
            if (attempt.is_ok()) {
                return before;
            }
            before = attempt.value;
        }
    }

    __device__ __forceinline__ bits* place() const { return reinterpret_cast<bits*>(element); }
    __device__ __forceinline__ static bits to_bits(T value) { return __builtin_bit_cast(bits, value); }
    __device__ __forceinline__ static T of_bits(bits value) { return __builtin_bit_cast(T, value); }
};

// Atomics of global memory, shared memory and a peer's shared memory, with their default scopes.
template <class T>
struct global_atomic : atomic_element<T, device_scope_type, detail::space::global> {};
template <class T>
struct shared_atomic : atomic_element<T, cluster_scope_type, detail::space::shared> {};
template <class T>
struct remote_atomic : atomic_element<T, cluster_scope_type, detail::space::remote> {};

// Executes a fence: `.sc`, or `.acq_rel` for every weaker order (PTX ISA, fence).
template <class Order, class Scope>
__device__ __forceinline__ void fence(Order, Scope scope) {
    if constexpr (detail::same<Order, seq_cst_type>) {
        detail::fence_sc(scope);
    } else {
        detail::fence_acq_rel(scope);
    }
}

} // namespace phalanx
