//! Operators of values whose type the text does not show.

use super::{check, text};

#[test]
fn operators_of_unknown_values() {
    check(
        "let x = h(a); let y = x * 2.0 + x; let z = -y;",
        "auto x = <callee0>(a);
         auto y = ((x * <slot1 2.0>) + x);
         auto z = (-y);",
    );
    check(
        "let mut x = h(a); x += h(b); x *= 0.5;",
        "auto x = <callee0>(a);
         x += <callee1>(b);
         x *= <slot3 0.5>;",
    );
}

/// Where a number must stand, and beside integers, operators are those of numbers.
#[test]
fn operators_of_numbers() {
    check("let x = h(a); let y = m[x + h(b)];", "auto x = <callee0>(a);\nauto y = m[x + <callee1>(b)];");
    check("let x = h(a) + 1;", "auto x = <callee0>(a) + 1;");
    check("let x = h(a) % b;", "auto x = <callee0>(a) % b;");
    check("let x = h(a); let y = x * x < 2.0;", "auto x = <callee0>(a);\nauto y = x * x < <slot2 2.0>;");
}

/// What is refused of functions may be right of numbers.
#[test]
fn what_only_numbers_satisfy() {
    let kernel = "#[cluster_kernel(block = 64)] fn subject(x: &[P], out: &mut [f32]) {
        let block = this_thread_block();
        let s = shared_array::<f32, 64>();
        let t = block.thread_rank();
        let low = x[0].low + x[1].low;
        s[t] = 1.0;
        block.sync();
        out[t] = s[63 - t] + low;
    }";
    assert!(text(kernel, |_| None).contains("auto low = (x"), "a call has no effect on what is shared");
}
