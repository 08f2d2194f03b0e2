//! Operators of values whose type the text does not show to be a number's.

use super::{check, text};

/// The text of a function that has a value of a type with a name.
fn of_named(body: &str) -> String {
    text(&format!("#[device] fn subject(v: V, b: i32) {{ {body} }}"), |_| None)
}

#[test]
fn operators_of_types_with_names() {
    let text = of_named("let y = v * 2.0 + v; let z = -v; let mut x = v; x += h(b); x *= 0.5;");
    for line in ["((v * <slot", "2.0>) + v);", "auto z = (-v);", "x += <callee", "x *= <slot"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Where a number must stand, beside integers, and in a file without operators, operators are those of numbers.
#[test]
fn operators_of_numbers() {
    check("let x = h(a); let y = m[x + h(b)];", "auto x = <callee0>(a);\nauto y = m[x + <callee1>(b)];");
    check("let x = h(a) + 1;", "auto x = <callee0>(a) + 1;");
    check("let x = h(a) % b;", "auto x = <callee0>(a) % b;");
    check("let x = h(a); let y = x * x + x;", "auto x = <callee0>(a);\nauto y = x * x + x;");
    assert!(of_named("let y = v + b;").contains("auto y = v + b;"));
}

/// What is refused of functions may be right of numbers.
#[test]
fn what_only_numbers_satisfy() {
    let kernel = "#[cluster_kernel(block = 64)] fn subject(x: &[P], out: &mut [P]) {
        let block = this_thread_block();
        let s = shared_array::<f32, 64>();
        let t = block.thread_rank();
        let low = x[0] + x[1];
        s[t] = 1.0;
        block.sync();
        out[t] = low;
    }";
    assert!(text(kernel, |_| None).contains("auto low = (x"), "a call has no effect on what is shared");
}
