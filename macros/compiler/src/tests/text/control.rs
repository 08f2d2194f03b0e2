//! Tests of values of `if`, loops and blocks, and of jumps: C++ has neither, so values are assigned and far jumps are
//! `goto`s. A label stands where no jump to it passes over a declaration.

use super::check;

#[test]
fn values_of_if() {
    check("let x = if p { a } else { b };", "auto x = p ? a : b;");
    check("let x = if p { a } else if q { b } else { c };", "auto x = p ? a : q ? b : c;");
    // The division is not evaluated where it would fail.
    check("let x = if b != 0 { a / b } else { c };", "auto x = b != 0 ? a / b : c;");
    check("let x = (if p { a } else { b }) * c;", "auto x = (p ? a : b) * c;");
    check(
        "let x = if p { let y = h(a); y } else { b };",
        "<slot1> x;
         if (p) {
             auto y = <callee0>(a);
             x = y;
         } else {
             x = b;
         }",
    );
    check(
        "let x: i32 = if p { return; } else { a };",
        "i32 x;
         if (p) {
             return;
         } else {
             x = a;
         }",
    );
    check(
        "let x; if p { x = a; } else { x = b; } let y = x;",
        "<slot0> x;
         if (p) {
             x = a;
         } else {
             x = b;
         }
         auto y = x;",
    );
    check(
        "if p { *r = 1; } else if k() && { *r += 1; q } { *r = 2; }",
        "if (p) {
             r = 1;
         } else {
             bool value = <callee0>();
             if (value) {
                 r += 1;
                 value = q;
             }
             if (value) {
                 r = 2;
             }
         }",
    );
}

#[test]
fn conditions_of_both_operators_have_no_branch() {
    check("let x = a > b || a == b && c < 3;", "auto x = bool(a > b | a == b & c < 3);");
    check("let x = (a > b || p) && c < 3 && q;", "auto x = bool((a > b | p) & c < 3 & q);");
    check("let x = m[a] > 0 || p && q;", "auto x = bool(m[a] > 0 | p & q);");
    check(
        "if a > b || p && q { *r = 1; }",
        "if (a > b | p & q) {
             r = 1;
         }",
    );
    // The compiler of CUDA C++ needs no help with one operator.
    check("let x = a > b && b > c && p;", "auto x = a > b && b > c && p;");
    // What may fail, or is much, is evaluated only if it has to be.
    check("let x = p || q && m[a] > 0;", "auto x = p || q && m[a] > 0;");
    check("let x = p || q && a / b > 0;", "auto x = p || q && a / b > 0;");
    check(
        "let x = p || q && a * b + c > a + b * c - a * c + b * a - c;",
        "auto x = p || q && a * b + c > a + b * c - a * c + b * a - c;",
    );
    // C++ could evaluate the right operand first.
    check(
        "let mut z = a; let x = h(&mut z) > 0 || p && z > b;",
        "auto z = a;\nauto x = <callee0>(z) > 0 || p && z > b;",
    );
}

#[test]
fn values_of_blocks() {
    check(
        "let x = { let y = a; y + b };",
        "auto y = a;
         auto x = y + b;",
    );
    check(
        "let x = 'l: { if p { break 'l a; } b };",
        "<slot0> x;
         {
             if (p) {
                 x = a;
                 goto l_break;
             }
             x = b;
         }
         l_break:;",
    );
    check(
        "let x = 'l: { for i in 0..a { if i == b { break 'l i; } } -1 };",
        "<slot1> x;
         {
             for (auto i : range(0, a)) {
                 if (i == b) {
                     x = i;
                     goto l_break;
                 }
             }
             x = -<slot0 1>;
         }
         l_break:;",
    );
}

#[test]
fn values_of_loops() {
    check(
        "let x = loop { let y = h(a); if y > b { break y; } *r = y; };",
        "<slot1> x;
         while (true) {
             auto y = <callee0>(a);
             if (y > b) {
                 x = y;
                 break;
             }
             r = y;
         }",
    );
    check(
        "let x = 'o: loop { loop { break 'o a; } };",
        "<slot0> x;
         while (true) {
             while (true) {
                 x = a;
                 goto o_break;
             }
         }
         o_break:;",
    );
}

#[test]
fn conditions_that_take_statements() {
    check("while p && k() { *r = 1; }", "while (p && <callee0>()) {\nr = 1;\n}");
    // `continue` comes back to the test.
    check(
        "while { *r += 1; p } { if q { continue; } *r += 2; }",
        "while (true) {
             r += 1;
             if (!p) {
                 break;
             }
             if (q) {
                 continue;
             }
             r += 2;
         }",
    );
    // Found at the loop's start in each round.
    check(
        "while let Err(x) = m.atomic(a).compare_exchange(a, b, Relaxed, Relaxed) { *r = x; }",
        "while (true) {
             auto value = m.atomic(a).compare_exchange(a, b, relaxed, relaxed);
             if (!value.is_err()) {
                 break;
             }
             auto x = value.error;
             r = x;
         }",
    );
}

#[test]
fn ranges() {
    check("for i in 0..a { *r = i; }", "for (auto i : range(0, a)) {\nr = i;\n}");
    check("for i in (0..=a).step_by(2) {}", "for (auto i : range_inclusive(0, a).step_by(2)) {\n}");
    check("for i in (a..b).rev().step_by(3) {}", "for (auto i : range(a, b).rev().step_by(3)) {\n}");
    check("for _ in 0..a {}", "for ([[maybe_unused]] auto i : range(0, a)) {\n}");
    check("for mut i in 0..a { i += 1; }", "for (auto i : range(0, a)) {\ni += 1;\n}");
}

#[test]
fn jumps_to_the_innermost_loop() {
    check(
        "'l: loop { if p { break 'l; } if q { continue 'l; } }",
        "while (true) {
             if (p) {
                 break;
             }
             if (q) {
                 continue;
             }
         }",
    );
    // A labelled block is no loop in C++.
    check(
        "loop { 'k: { if p { break 'k; } if q { break; } } *r = 1; }",
        "while (true) {
             {
                 if (p) {
                     goto k_break;
                 }
                 if (q) {
                     break;
                 }
             }
             k_break:;
             r = 1;
         }",
    );
}

#[test]
fn jumps_to_outer_loops() {
    // The body is in braces of its own: `y` is not in scope at the label.
    check(
        "'o: for i in 0..a { for j in 0..b { if p { continue 'o; } if q { break 'o; } } let y = i; } let z = a;",
        "for (auto i : range(0, a)) {
             {
                 for (auto j : range(0, b)) {
                     if (p) {
                         goto o_continue;
                     }
                     if (q) {
                         goto o_break;
                     }
                 }
                 auto y = i;
             }
             o_continue:;
         }
         o_break:;
         auto z = a;",
    );
    // Two loops of one label have two labels.
    check(
        "'o: loop { 'o: loop { loop { break 'o; } } loop { break 'o; } }",
        "while (true) {
             while (true) {
                 while (true) {
                     goto o_break;
                 }
             }
             o_break:;
             while (true) {
                 goto o_break_2;
             }
         }
         o_break_2:;",
    );
}

#[test]
fn joined_arrivals() {
    let waits = |between: &str, text: &str| {
        check(
            &format!(
                "let block = this_thread_block(); let mut x = a;
                 let t = block.barrier_arrive(); {between} block.barrier_wait(t);"
            ),
            &format!("auto block = this_thread_block();\nauto x = a;\n{text}"),
        );
    };
    waits("", "block.sync();");
    waits(
        "let y = x * b; x += y / c; let i = block.thread_rank();",
        "auto y = x * b;
         x += y / c;
         auto i = block.thread_rank();
         block.sync();",
    );
    // Here a warp may be late.
    let splits = |between: &str, text: &str| {
        let text = format!("auto t = block.barrier_arrive();\n{text}\nblock.barrier_wait(t);");
        waits(between, &text);
    };
    splits("x = m[b];", "x = m[b];");
    splits("let y = h(x);", "auto y = <callee0>(x);");
    splits("if p { x = b; }", "if (p) {\nx = b;\n}");
}

#[test]
fn options() {
    check(
        "let block = this_thread_block();
         let mut o = if p { Some(block.barrier_arrive()) } else { None };
         if let Some(t) = o { block.barrier_wait(t); } else { block.sync(); }
         o = Some(block.barrier_arrive());
         while let Some(t) = o.take() { block.barrier_wait(t); }",
        "auto block = this_thread_block();
         option<thread_block::arrival_token> o;
         if (p) {
             o = some(block.barrier_arrive());
         } else {
             o = none;
         }
         if (o.is_some()) {
             auto t = o.value;
             block.barrier_wait(t);
         } else {
             block.sync();
         }
         o = some(block.barrier_arrive());
         while (true) {
             auto value = o.take();
             if (!value.is_some()) {
                 break;
             }
             auto t_2 = value.value;
             block.barrier_wait(t_2);
         }",
    );
}

#[test]
fn unrolled_loops() {
    check(
        "let mut y = true; #[unroll] for _ in 0..4 { y = false; } #[unroll(8)] while p { y = true; }
         #[unroll(8 / 2)] loop { y = false; }",
        "auto y = true;
         #pragma unroll
         for ([[maybe_unused]] auto i : range(<slot0 0>, <slot1 4>)) {
             y = false;
         }
         #pragma unroll <digits0>
         while (p) {
             y = true;
         }
         #pragma unroll <digits1>
         while (true) {
             y = false;
         }",
    );
}

/// The count of rounds goes on before the body, which may leave the round early.
#[test]
fn enumerated_ranges() {
    check(
        "for (k, i) in (a..b).step_by(2).enumerate() { if i == c { continue; } g(k); }",
        "{
             auto next = usize(0);
             for (auto i : range(a, b).step_by(2)) {
                 auto k = next;
                 next += 1;
                 if (i == c) {
                     continue;
                 }
                 <callee0>(k);
             }
         }",
    );
    check("for (_, i) in (a..b).enumerate() { g(i); }", "for (auto i : range(a, b)) {\n<callee0>(i);\n}");
}
