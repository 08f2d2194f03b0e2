// What a thread has read of its peers' shared memory since its last arrival at the cluster's barrier, so that the arrival can wait for it.
// The peer may overwrite that memory, or leave, once all have arrived: a read must end before its thread arrives. A full fence sees to
// that, and waits for everything else, too. A branch on what was read waits for the reads alone.
//
// PTX ISA, memory consistency model, causality order, orders no read before a relaxed arrival. But the arrival depends on the values, and
// each later write of the peer on the arrival: a read that saw such a write would be a cycle of dependencies and of what is read from where,
// which the axiom No-Thin-Air forbids.
#pragma once
#include <phalanx/launch.cuh>
#include <phalanx/scalar.cuh>

namespace phalanx {

namespace detail {

// The largest words that a value of so many bytes consists of.
template <unsigned long long rest>
struct word_of_size {
    using type = unsigned char;
};
template <>
struct word_of_size<0> {
    using type = unsigned;
};
template <>
struct word_of_size<2> {
    using type = unsigned short;
};

} // namespace detail

class reads_of_peers {
    unsigned bits = 0;

  public:
    // Returns the value, whose every word the next arrival depends on.
    template <class T>
    __device__ __forceinline__ T of(const T& place) {
        using word = typename detail::word_of_size<sizeof(T) % 4>::type;
        struct words {
            word all[sizeof(T) / sizeof(word)];
        };
        const T value = place;
        const words parts = __builtin_bit_cast(words, value);
#pragma unroll
        for (unsigned long long i = 0; i < sizeof(T) / sizeof(word); ++i) {
            // In PTX, as the compiler may take what is between the members of a value for anything.
            asm("or.b32 %0, %0, %1;" : "+r"(bits) : "r"(static_cast<unsigned>(parts.all[i])));
        }
        return value;
    }

    // Waits for what has been read: leaves the kernel if a bit of it is set that is set in 0.
    __device__ __forceinline__ void wait() {
        asm volatile("{\n\t.reg .pred is_set;\n\t.reg .b32 zero;\n\tld.param.b32 zero, [" PHALANX_LAUNCH
                     "+%1];\n\tand.b32 zero, zero, %0;\n\tsetp.ne.b32 is_set, zero, 0;\n\t@is_set exit;\n\t}"
                     :
                     : "r"(bits), "n"(PHALANX_OFFSET_OF(launch_block, zero))
                     : "memory");
        bits = 0;
    }
};

} // namespace phalanx
