// What a thread has read of its peers' shared memory since its last arrival at the cluster's barrier, so that the arrival can wait for it.
// The peer may overwrite that memory, or leave, once all have arrived: a read must end before its thread arrives. A full fence sees to
// that, and waits for everything else, too. A branch on what was read waits for the reads alone.
//
// PTX ISA, memory consistency model, causality order, orders no read before a relaxed arrival. But the arrival depends on the values, and
// each later write of the peer on the arrival: a read that saw such a write would be a cycle of dependencies and of what is read from where,
// which the axiom No-Thin-Air forbids.
#pragma once
#include <phalanx/launch.cuh>

namespace phalanx {

class reads_of_peers {
    unsigned bits = 0;

    // Written in PTX, as the bytes between the members of a value may be anything.
    template <class Word>
    __device__ __forceinline__ void depend_on(const void* value, unsigned long long at) {
        Word word;
        __builtin_memcpy(&word, static_cast<const char*>(value) + at, sizeof(Word));
        asm("or.b32 %0, %0, %1;" : "+r"(bits) : "r"(static_cast<unsigned>(word)));
    }

  public:
    // Returns the value, whose every word the next arrival depends on.
    template <class T>
    __device__ __forceinline__ T of(const T& place) {
        const T value = place;
#pragma unroll
        for (unsigned long long at = 0; at < sizeof(T) / 4 * 4; at += 4) {
            depend_on<unsigned>(&value, at);
        }
        if constexpr (sizeof(T) % 4 >= 2) {
            depend_on<unsigned short>(&value, sizeof(T) / 4 * 4);
        }
        if constexpr (sizeof(T) % 2 == 1) {
            depend_on<unsigned char>(&value, sizeof(T) - 1);
        }
        return value;
    }

    // Waits for what has been read: leaves the kernel if a bit of it is set that is set in 0.
    __device__ __forceinline__ void wait() {
        asm volatile("{\n\t.reg .pred is_set;\n\t.reg .b32 zero;\n\tld.param.b32 zero, [" PHALANX_LAUNCH
                     "+%1];\n\tand.b32 zero, zero, %0;\n\tsetp.ne.b32 is_set, zero, 0;\n\t@is_set exit;\n\t}"
                     :
                     : "r"(bits), "n"(__builtin_offsetof(launch_block, zero))
                     : "memory");
        bits = 0;
    }
};

} // namespace phalanx
