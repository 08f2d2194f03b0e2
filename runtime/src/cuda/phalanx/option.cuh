// `Option<T>` and `Result<T, T>`, as far as kernels have them: made, asked and taken apart.
#pragma once

namespace phalanx {

enum none_type { none };

// `option<arrival_token> t = none; t = some(token); if (t.is_some()) use(t.value);`
template <class T>
struct option {
    T value;
    bool present;

    option() = default; // Assigned by the arms of an `if`.
    __device__ option(none_type) : present(false) {}
    __device__ option(T value, bool present) : value(value), present(present) {}

    __device__ bool is_some() const { return present; }
    __device__ bool is_none() const { return !present; }

    __device__ option take() {
        const option taken = *this;
        present = false;
        return taken;
    }
};

template <class T>
__device__ inline option<T> some(T value) {
    return {value, true};
}

// The same type in both cases, as `compare_exchange` gives it.
template <class T>
struct result {
    T value;
    bool success;

    __device__ bool is_ok() const { return success; }
    __device__ bool is_err() const { return !success; }
};

} // namespace phalanx
