// `Option<T>` and `Result<T, E>`, with the operations that kernels have: creation, tests and access to the value. An
// absent value is never read, because `value` is then uninitialized.
#pragma once
#include <phalanx/failure.cuh>

namespace phalanx {

enum none_type { none };

// `option<cluster_group::arrival_token> t = none; t = some(token); if (t.is_some()) use(t.value);`
template <class T>
struct option {
    T value;
    bool present;

    option() = default; // For a variable that the arms of an `if` assign.
    __device__ __forceinline__ option(none_type) : present(false) {}
    __device__ __forceinline__ option(T value, bool present) : value(value), present(present) {}

    __device__ __forceinline__ bool is_some() const { return present; }
    __device__ __forceinline__ bool is_none() const { return !present; }

    __device__ __forceinline__ option take() {
        const option taken = *this;
        present = false;
        return taken;
    }

    // It is a template, like all methods with a site (failure.cuh).
    template <class Value = T>
    __device__ __forceinline__ Value unwrap(PHALANX_SITE) const {
        if (!present) {
            detail::fail(detail::panic, site);
        }
        return value;
    }
    __device__ __forceinline__ T unwrap_or(T other) const { return present ? value : other; }

    // `f(..).then(if_some([&](auto value) { .. }))`
    template <class Then>
    __device__ __forceinline__ void then(const Then& next) const {
        if (present) {
            next.some(value);
        }
    }

    __device__ __forceinline__ friend constexpr bool operator==(const option& a, const option& b) {
        return a.present == b.present && (!a.present || a.value == b.value);
    }
};

static_assert(sizeof(option<detail::recorded>) == sizeof(detail::recorded) + 8, "the host passes a byte behind the value");

template <class T>
__device__ __forceinline__ option<T> some(T value) {
    return {value, true};
}

// What a function that returns an `Option` does in place of a return: it returns the whole of it,
template <class Option>
struct whole {
    using result = Option;

    template <class T>
    __device__ __forceinline__ Option some(T value) const {
        return {value, true};
    }
    __device__ __forceinline__ Option none() const { return phalanx::none; }
};

// or it goes on in its caller, if there is a value.
template <class Next>
struct continuation {
    using result = void;

    const Next& next;

    template <class T>
    __device__ __forceinline__ void some(T value) const {
        next(value);
    }
    __device__ __forceinline__ void none() const {}
};

template <class Next>
__device__ __forceinline__ continuation<Next> if_some(const Next& next) {
    return {next};
}

// `()` in a `Result`.
struct unit {
    __device__ __forceinline__ friend constexpr bool operator==(unit, unit) { return true; }
};

// `result<u32, fault> r = result<u32, fault>::ok(x); if (r.is_ok()) use(r.value);`. That of `compare_exchange` has one type for both cases.
template <class T, class E = T>
struct result {
    T value;
    E error;
    bool success;

    __device__ __forceinline__ static result ok(T value) {
        result r;
        r.value = value;
        r.success = true;
        return r;
    }
    __device__ __forceinline__ static result err(E error) {
        result r;
        r.error = error;
        r.success = false;
        return r;
    }

    __device__ __forceinline__ bool is_ok() const { return success; }
    __device__ __forceinline__ bool is_err() const { return !success; }

    template <class Value = T>
    __device__ __forceinline__ Value unwrap(PHALANX_SITE) const {
        if (!success) {
            detail::fail(detail::panic, site);
        }
        return value;
    }
    __device__ __forceinline__ T unwrap_or(T other) const { return success ? value : other; }

    __device__ __forceinline__ friend constexpr bool operator==(const result& a, const result& b) {
        return a.success == b.success && (a.success ? a.value == b.value : a.error == b.error);
    }
};

} // namespace phalanx
