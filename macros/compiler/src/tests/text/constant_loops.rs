//! Loops with a constant number of iterations: how far they are unrolled.

use super::bounds::MEMORY;
use super::text;

/// What follows `#pragma unroll` in a function's text: a number, or nothing.
fn unrolled(body: &str) -> Vec<String> {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    let pragmas = text.lines().filter_map(|line| line.trim().strip_prefix("#pragma unroll"));
    pragmas.map(|number| number.trim().to_string()).collect()
}

#[test]
fn arrays_that_a_loop_indexes_stay_in_registers() {
    let rounds = |index: &str, count: usize| {
        format!(
            "let mut x = [0usize; 16]; for t in 0..{count} {{ x[{index}] = x[{index}] * 3 + x[(t + 9) % 16] + b; }}
             *r = x[3];"
        )
    };
    assert_eq!(unrolled(&rounds("t % 16", 64)), [""]);
    assert_eq!(unrolled(&rounds("(t + 1) % 16", 64)), [""]);
    // A variable that is computed of the loop's.
    let through = "let mut x = [0usize; 16]; for t in 0..64 { let k = (t * 5) % 16; x[k] = x[k] * 3 + x[15 - k] + b; } *r = x[3];";
    assert_eq!(unrolled(through), [""]);
    // A loop inside counts with its iterations. This one is small enough for the compiler.
    let nested =
        "let mut x = [[0usize; 8]; 8]; for i in 0..8 { for k in 0..8 { x[i][k] = x[k][i] * a + b; } } *r = x[1][2];";
    assert_eq!(unrolled(nested), [""]);
    // The inner loop alone indexes the array, and the compiler unrolls it by itself.
    let apart = "let mut x = [0usize; 8]; for t in 0..64 { for k in 0..8 { x[k] = x[k] * a + w[t] * b; } } *r = x[1];";
    assert!(unrolled(apart).is_empty());
    // Few, which the compiler unrolls by itself, and too many.
    assert!(unrolled(&rounds("t % 16", 2)).is_empty());
    assert!(unrolled(&rounds("t % 16", 4096)).is_empty());
    // The array lies in memory in any case.
    assert!(unrolled(&rounds("(t + b) % 16", 64)).is_empty());
    let counts = "let mut x = [0usize; 16]; for t in 0..64 { x[w[t] % 16] += x[t % 16] * 3 + b; } *r = x[3];";
    assert!(unrolled(counts).is_empty());
    let changed = "let mut x = [0usize; 16]; for t in 0..64 { let mut k = t % 16; if b > t { k = 3; } x[k] = x[k] * 3 + b; } *r = x[3];";
    assert!(unrolled(changed).is_empty());
    // Of memory nothing is kept, and how often an inner loop runs is not known.
    assert!(unrolled("for t in 0..64 { m[t % 16] = w[t] * 3 + w[(t + 1) % 16] * 5 + b; }").is_empty());
    let inner = "let mut x = [0usize; 16]; for t in 0..64 { for k in 0..a { x[t % 16] += w[k] * 3 + x[(t + 1) % 16]; } } *r = x[3];";
    assert!(unrolled(inner).is_empty());
    // What the kernel says, holds.
    let said = "let mut x = [0usize; 16]; #[unroll(2)] for t in 0..64 { x[t % 16] = x[t % 16] * 3 + x[(t + 9) % 16] + b; } *r = x[3];";
    assert_eq!(unrolled(said).len(), 1);
    assert_ne!(unrolled(said), [""]);
}

#[test]
fn loops_of_a_triangle() {
    let triangle = |ends: &str| {
        format!(
            "let mut x = [0usize; 16]; for k in 0..16 {{ for j in {ends} {{ x[j] = x[j] * a + x[k] * b + j; }} }}
             *r = x[3];"
        )
    };
    assert_eq!(unrolled(&triangle("k + 1..16")), ["", ""]);
    assert_eq!(unrolled(&triangle("0..k")), ["", ""]);
    assert_eq!(unrolled(&triangle("k..k + 4")), ["", ""]);
    // What the inner loop begins or ends with is not known before the launch, or may be anything.
    assert!(unrolled(&triangle("a..16")).is_empty());
    assert!(unrolled(&triangle("k..a")).is_empty());
    assert!(unrolled(&format!("const N: usize = 4; {}", triangle("k..N"))).is_empty());
    // Too many.
    let large = "let mut x = [0usize; 64]; for k in 0..64 { for j in k + 1..64 { x[j] = x[j] * a + x[k] * b + j; } } *r = x[3];";
    assert!(unrolled(large).is_empty());
}

#[test]
fn loops_whose_variable_is_scaled() {
    let stages = |init: &str, condition: &str, step: &str| {
        format!("let mut h = {init}; while {condition} {{ m[a % h] = w[a / h * h * 2]; {step} }}")
    };
    for (init, condition, step) in [
        ("1", "h < 1024", "h *= 2;"),
        ("1", "h <= 1024", "h <<= 1;"),
        ("512", "h > 0", "h /= 2;"),
        ("512", "h != 0", "h = h >> 1;"),
        ("1", "h < N", "h *= N;"),
    ] {
        let body = format!("const N: usize = 4; {}", stages(init, condition, step));
        assert_eq!(unrolled(&body), [""], "{body}");
    }
    for (init, condition, step) in [
        ("b", "h < 1024", "h *= 2;"),
        ("1", "h < b", "h *= 2;"),
        ("1", "h < 1024", "h *= b;"),
        ("1", "h < 1024", "h += 2;"),
        ("1", "h < 1024", "if h < a { h *= 2; }"),
        ("1", "h < 1024", "h *= 2; h *= 2;"),
        ("1", "h < 1024 && h < b", "h *= 2;"),
    ] {
        assert!(unrolled(&stages(init, condition, step)).is_empty(), "{init} {condition} {step}");
    }
    // The inner one begins with the variable of the outer one.
    let nested = "let mut size = 2; while size <= 64 { let mut h = size / 2; while h > 0 { m[a * h] += w[a + size]; h /= 2; } size *= 2; }";
    assert_eq!(unrolled(nested), ["", ""]);
    // Too large.
    let many = "m[a] += w[h]; ".repeat(100);
    assert!(unrolled(&stages("1", "h < 1024", &format!("{many} h *= 2;"))).is_empty());
}
