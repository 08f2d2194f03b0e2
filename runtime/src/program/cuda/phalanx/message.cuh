// Messages: `if (!(i < n)) assertion_failed(here(), i, n);` for Rust's `assert!`, `panicked(here(), i);` for its
// `panic!`. The values go to the host as bytes, each starting at a new word; the host knows their types and the
// sentence around them from the site of `here`.
#pragma once
#include <phalanx/failure.cuh>

namespace phalanx {

// Returns the site of a message in the text. It is a template, because for any other function NVRTC reports the closing
// parenthesis.
struct place {
    unsigned site;
};
template <class = void>
__device__ __forceinline__ constexpr place here(PHALANX_SITE) {
    return {site};
}

// Defined in option.cuh and tuple.cuh, which a text that has such values includes.
template <class T>
struct option;
template <class... Parts>
struct tuple;

namespace detail {

// A value is written as its bytes.
template <class T>
struct written {
    __device__ __forceinline__ static consteval unsigned words() { return (sizeof(T) + 7) / 8; }

    __device__ __forceinline__ static void write(unsigned long long* to, const T& value) {
        struct two_words {
            unsigned long long low, high;
        };
        if constexpr (sizeof(T) == 1) {
            *to = __builtin_bit_cast(unsigned char, value);
        } else if constexpr (sizeof(T) == 2) {
            *to = __builtin_bit_cast(unsigned short, value);
        } else if constexpr (sizeof(T) == 4) {
            *to = __builtin_bit_cast(unsigned, value);
        } else if constexpr (sizeof(T) == 8) {
            *to = __builtin_bit_cast(unsigned long long, value);
        } else if constexpr (sizeof(T) == 16) {
            const auto words = __builtin_bit_cast(two_words, value);
            to[0] = words.low;
            to[1] = words.high;
        } else {
            memcpy(to, &value, sizeof(T));
        }
    }
};

// Writes whether the value exists, and then the value.
template <class T>
struct written<option<T>> {
    __device__ __forceinline__ static consteval unsigned words() { return 1 + written<T>::words(); }

    __device__ __forceinline__ static void write(unsigned long long* to, const option<T>& option) {
        *to = option.present;
        if (option.present) {
            written<T>::write(to + 1, option.value);
        }
    }
};

template <class... Values>
__device__ __forceinline__ consteval unsigned words_of() {
    return (0 + ... + written<Values>::words());
}

template <class... Values>
__device__ __forceinline__ void write_values(unsigned long long* to, const Values&... values) {
    ((written<Values>::write(to, values), to += written<Values>::words()), ...);
}

// Writes the parts in order.
template <class... Parts>
struct written<tuple<Parts...>> {
    __device__ __forceinline__ static consteval unsigned words() { return words_of<Parts...>(); }

    __device__ __forceinline__ static void write(unsigned long long* to, const tuple<Parts...>& tuple) {
        constexpr unsigned count = sizeof...(Parts);
        if constexpr (count == 1) {
            write_values(to, tuple._0);
        } else if constexpr (count == 2) {
            write_values(to, tuple._0, tuple._1);
        } else if constexpr (count == 3) {
            write_values(to, tuple._0, tuple._1, tuple._2);
        } else if constexpr (count == 4) {
            write_values(to, tuple._0, tuple._1, tuple._2, tuple._3);
        } else if constexpr (count == 5) {
            write_values(to, tuple._0, tuple._1, tuple._2, tuple._3, tuple._4);
        } else if constexpr (count == 6) {
            write_values(to, tuple._0, tuple._1, tuple._2, tuple._3, tuple._4, tuple._5);
        } else if constexpr (count == 7) {
            write_values(to, tuple._0, tuple._1, tuple._2, tuple._3, tuple._4, tuple._5, tuple._6);
        } else {
            write_values(to, tuple._0, tuple._1, tuple._2, tuple._3, tuple._4, tuple._5, tuple._6, tuple._7);
        }
    }
};

template <class... Values>
[[noreturn]] __device__ __forceinline__ void fail_with(unsigned cause, place at, const Values&... values) {
    static_assert(words_of<Values...>() <= most_words, "the host refuses a message of more");
    const launch_block* const launch = this_launch();
    failure_record* record = begin_failure(launch, cause, at.site, words_of<Values...>());
    write_values(record->values, values...);
    end_failure(launch, record);
}

} // namespace detail

template <class... Values>
[[noreturn]] __device__ __forceinline__ void assertion_failed(place at, Values... values) {
    detail::fail_with(detail::assertion, at, values...);
}

template <class... Values>
[[noreturn]] __device__ __forceinline__ void panicked(place at, Values... values) {
    detail::fail_with(detail::panic, at, values...);
}

} // namespace phalanx
