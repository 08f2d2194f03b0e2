//! Tests of literals, names and parentheses.

use super::{check, text};

/// A literal beside something with a type of its own is printed bare, with the suffix that keeps its value in C++.
#[test]
fn bare_literals() {
    check("let x = a + 1_000;", "auto x = a + 1000;");
    check("let x = a + 0xff + 0o17 + 0b1010;", "auto x = a + 0xff + 15 + 10;");
    check("let x = a as u64 + 2147483647;", "auto x = as<u64>(a) + 2147483647;");
    check("let x = a as u64 + 2147483648;", "auto x = as<u64>(a) + 2147483648u;");
    check("let x = a as u64 + 4294967295;", "auto x = as<u64>(a) + 4294967295u;");
    check("let x = a as i64 + -1;", "auto x = as<i64>(a) + -1;");
    check("let x = a as i64 + -2147483648;", "auto x = as<i64>(a) + -2147483648ll;");
    check("let x: u8 = 255; m[0] = -1; let y = [1, -2];", "u8 x = 255;\nm[0] = -1;\nauto y = <slot0>{1, -2};");
    check("*r += 0x7f; g(1, -1);", "r += 0x7f;\n<callee0>(1, -1);");
}

/// A literal beside nothing, or too large to stand bare in any type, asks rustc.
#[test]
fn typed_literals() {
    check("let x = 5; let y = -5;", "auto x = <slot0 5>;\nauto y = -<slot1 5>;");
    check("let x = 1 << 3;", "auto x = <slot0 1> << <slot1 3>;");
    check("let x = 0xff_ff;", "auto x = <slot0 0xffff>;");
    check("let x: i64 = -9223372036854775808;", "i64 x = -<slot0 9223372036854775808>;");
    check("let x: u64 = 18446744073709551615;", "u64 x = <slot0 18446744073709551615>;");
    check("let x = a as i128 + 0xffff_ffff_ffff_ffff;", "auto x = as<i128>(a) + <slot0 0xffffffffffffffff>;");
    check(
        "let x = 1.5; let y = 1.; let z = 1e-7;",
        "auto x = <slot0 1.5>;\nauto y = <slot1 1.>;\nauto z = <slot2 1e-7>;",
    );
}

#[test]
fn suffixed_literals() {
    check("let x = 5u8; let y = -5i64;", "auto x = u8(5);\nauto y = -i64(5);");
    check("let x = 0xff_u32 + 0b11u32;", "auto x = u32(0xff) + u32(3);");
    check("let x = 18446744073709551615u64;", "auto x = u64(18446744073709551615ull);");
    check("let x = 0xffff_ffff_ffff_ffff_ffffu128;", "auto x = u128(65535ull, 18446744073709551615ull);");
    check(
        "let x = 1.5f32; let y = 1e3f32; let z = 2f64; let w = 2_f32;",
        "auto x = f32(1.5f);\nauto y = f32(1e3f);\nauto z = f64(2.0);\nauto w = f32(2.0f);",
    );
    check("let x = true as i32;", "auto x = as<i32>(true);");
}

/// Shadowing needs no scopes: every variable has a name of its own.
#[test]
fn shadowing() {
    check(
        "let a = a + 1; { let a = a; let x = a; } let x = a;",
        "auto a_2 = a + 1;
         {
             auto a_3 = a_2;
             auto x = a_3;
         }
         auto x_2 = a_2;",
    );
    // What a block's value is made of stays in sight behind it, and means nothing else there.
    check(
        "let x = { let a = b; a + 1 } + a;",
        "auto a_2 = b;
         auto x = a_2 + 1 + a;",
    );
}

#[test]
fn names_that_are_taken() {
    check("let int = a; let int_2 = b; let int = c;", "auto int_2 = a;\nauto int_2_2 = b;\nauto int_3 = c;");
    check("let r#type = a; let r#try = b; let class = c;", "auto type = a;\nauto try_2 = b;\nauto class_2 = c;");
    check("let i32 = a; let range = b; let none = c;", "auto i32_2 = a;\nauto range_2 = b;\nauto none_2 = c;");
    check("let threadIdx = a; let asm = b;", "auto threadIdx_2 = a;\nauto asm_2 = b;");
    // C++ keeps these for itself.
    check("let _x = a; let y__z = b; let __ = c;", "auto x = a;\nauto y_z = b;\nauto unnamed = c;");
    check("let é = a; let ue9 = b;", "auto ue9 = a;\nauto ue9_2 = b;");
    // A variable's name is not what a helper variable is called.
    check(
        "let value = h(a) + h(b);",
        "auto value_2 = <callee0>(a);
         auto value = value_2 + <callee1>(b);",
    );
    check(
        "let l_break = a; 'l: { if p { break 'l; } }",
        "auto l_break = a;
         {
             if (p) {
                 goto l_break_2;
             }
         }
         l_break_2:;",
    );
    let keyword = text("#[device] fn subject(int: i32, float: i32) -> i32 { int + float }", |_| None);
    assert_eq!(keyword, "{\n    return int_2 + float_2;\n}");
}

#[test]
fn constants() {
    check(
        "const N: i32 = 4; let x = a + N; let y = u32::MAX; let N_2 = N; let z = std::f32::consts::PI;",
        "constexpr auto N = <value0>;
         constexpr auto u32_MAX = <value1>;
         constexpr auto consts_PI = <value2>;
         auto x = a + N;
         auto y = u32_MAX;
         auto N_2 = N;
         auto z = consts_PI;",
    );
    check("let x: [u8; 4] = [0; 4];", "local_array<u8, <digits0>> x = <slot0>::filled(0);");
}

#[test]
fn parentheses_by_precedence() {
    check("let x = a - (b - c); let y = (a - b) - c;", "auto x = a - (b - c);\nauto y = a - b - c;");
    check("let x = a % b / c * a; let y = a % (b / c);", "auto x = a % b / c * a;\nauto y = a % (b / c);");
    check("let x = a << (b << c); let y = a + b << c;", "auto x = a << (b << c);\nauto y = a + b << c;");
    // `&`, `|` and `^` are of `bool` or of numbers: rustc says which.
    check("let x = a | b ^ c & a;", "<slot0> x = a | b ^ c & a;");
    check("let x = ((a | b) ^ c) & a;", "<slot0> x = ((a | b) ^ c) & a;");
    // C++ binds comparisons tighter than `&`, `^` and `|`; Rust does not.
    check("let x = a & b == c;", "auto x = (a & b) == c;");
    check("let x = (a == b) & p;", "<slot0> x = a == b & p;");
    check("let x = a ^ b < c | a;", "auto x = (a ^ b) < (c | a);");
    check("let x = (a < b) == (b < c);", "auto x = a < b == b < c;");
    check("let x = p && (q || m[a] > b);", "auto x = p && (q || m[a] > b);");
    check("let x = p || q && m[a] > b;", "auto x = p || q && m[a] > b;");
    check("let x = (p || q) & p; let y = p | q && p;", "<slot0> x = (p || q) & p;\nauto y = p | q && p;");
    check("let x = (a + b) as u64 * 2; let y = -a as u64;", "auto x = as<u64>(a + b) * 2;\nauto y = as<u64>(-a);");
    check("let x = if p { a } else { b } as i64;", "auto x = as<i64>(p ? a : b);");
}

#[test]
fn prefix_operators() {
    check("let x = -(-a); let y = - -a; let z = a - -5;", "auto x = -(-a);\nauto y = -(-a);\nauto z = a - -5;");
    check(
        "let x = -(a + b); let y = -a * b; let z = -(a * b);",
        "auto x = -(a + b);\nauto y = -a * b;\nauto z = -(a * b);",
    );
    check(
        "let x = !a & b; let y = !(p && q); let z = !!p;",
        "<slot0> x = !a & b;\nauto y = !(p && q);\nauto z = !(!p);",
    );
    check("let x = !(-a); let y = -!a;", "auto x = !(-a);\nauto y = -(!a);");
    check("let x = (-a).min(b); let y = -a.min(b);", "auto x = min(-a, b);\nauto y = -min(a, b);");
}

#[test]
fn compound_assignments() {
    check("*r += a; *r -= b + c; *r *= 2; *r /= a; *r %= a;", "r += a;\nr -= b + c;\nr *= 2;\nr /= a;\nr %= a;");
    check("*r &= a; *r |= b; *r ^= c; *r <<= 2; *r >>= a;", "r &= a;\nr |= b;\nr ^= c;\nr <<= 2;\nr >>= a;");
    check("m[a] += b; m[m[a]] -= 1;", "m[a] += b;\nm[m[a]] -= 1;");
    check("let mut x = a; x += x * 2; x = -x;", "auto x = a;\nx += x * 2;\nx = -x;");
}
