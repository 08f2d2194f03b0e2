// The division of words by a divisor that a check has found not to be 0, which is one case less than the assembler's own division
// has. The remainder comes out of the same steps, where the assembler multiplies the quotient once more.
#pragma once

namespace phalanx {
namespace detail {

// What a constant divides, the compiler multiplies. It knows all constants only after inlining, and a compiler before NVRTC 13.3 says
// nothing of it: there, each division is the assembler's.
#if defined(__CUDA_ARCH__) && defined(__has_builtin)
#if __has_builtin(__builtin_constant_p)
#define PHALANX_IS_CONSTANT_DIVISOR(value) __builtin_constant_p(value)
#endif
#endif
#ifndef PHALANX_IS_CONSTANT_DIVISOR
#define PHALANX_IS_CONSTANT_DIVISOR(value) true
#endif

struct divided_word {
    unsigned quotient, remainder;
};

// The inverse is at most a little too small, so that the quotient is too small by 2 at most, which the remainder shows: it is
// less than the divisor if the difference of both wraps. It is written in PTX because each division has a copy, and apart from the rest,
// so that a loop computes it once.
__device__ __forceinline__ divided_word divided(unsigned dividend, unsigned divisor) {
#ifdef __CUDA_ARCH__
    unsigned inverse, quotient, remainder;
    asm("{\n"
        ".reg .f32 scale;\n"
        ".reg .b32 bits;\n"
        "cvt.rp.f32.u32 scale, %1;\n"
        "rcp.approx.ftz.f32 scale, scale;\n"
        "mov.b32 bits, scale;\n"
        "add.u32 bits, bits, 0xffffffe;\n"
        "mov.b32 scale, bits;\n"
        "cvt.rzi.ftz.u32.f32 %0, scale;\n"
        "neg.s32 bits, %1;\n"
        "mul.lo.u32 bits, bits, %0;\n"
        "mul.hi.u32 bits, bits, %0;\n"
        "add.u32 %0, %0, bits;\n"
        "}"
        : "=&r"(inverse)
        : "r"(divisor));
    asm("{\n"
        ".reg .b32 part, rest;\n"
        ".reg .pred more;\n"
        "mul.hi.u32 %0, %2, %4;\n"
        "mul.lo.u32 part, %0, %3;\n"
        "sub.u32 rest, %2, part;\n"
        "setp.ge.u32 more, rest, %3;\n"
        "@more add.u32 %0, %0, 1;\n"
        "sub.u32 part, rest, %3;\n"
        "min.u32 rest, rest, part;\n"
        "setp.ge.u32 more, rest, %3;\n"
        "@more add.u32 %0, %0, 1;\n"
        "sub.u32 part, rest, %3;\n"
        "min.u32 %1, rest, part;\n"
        "}"
        : "=&r"(quotient), "=&r"(remainder)
        : "r"(dividend), "r"(divisor), "r"(inverse));
    return {quotient, remainder};
#else
    return {dividend / divisor, dividend % divisor};
#endif
}

} // namespace detail
} // namespace phalanx
