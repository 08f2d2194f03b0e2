//! Tests that deeply nested code, as other macros generate it, is expanded without a stack overflow.

use super::{errors, expand};
use crate::stack::with_large_stack;

const LEVELS: usize = 300;

/// Returns `inner` with so many `before` in front and as many `after` behind.
fn nested(before: &str, inner: &str, after: &str) -> String {
    levels(LEVELS, before, inner, after)
}

fn levels(count: usize, before: &str, inner: &str, after: &str) -> String {
    format!("{}{inner}{}", before.repeat(count), after.repeat(count))
}

#[track_caller]
fn expands(body: &str) {
    let source = format!("#[cluster_kernel(block = 32)] fn deep(n: u32, out: &mut [u32]) {{ {body} }}");
    let errors = with_large_stack(|| errors(&expand(&source)));
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn blocks_and_parentheses() {
    expands(&nested("{", "out[0] = n;", "}"));
    expands(&nested("if n > 3 {", "out[0] = n;", "}"));
    expands(&nested("if n > 3 {} else {", "out[0] = n;", "}"));
    expands(&format!("out[0] = {};", nested("(", "n", ")")));
    expands(&format!("out[0] = {};", nested("if n > 3 { n } else {", "n", "}")));
}

/// The depth is a few times that of handwritten code: the text grows with its square, as each level indents.
#[test]
fn all_that_nests() {
    let nested = |before: &str, inner: &str, after: &str| levels(LEVELS / 3, before, inner, after);
    for (before, after) in [
        ("for i in 0..n {", "}"),
        ("for i in 0..1 {", "}"),
        ("for i in 0..2 {", "}"),
        ("while n > 3 {", "}"),
        ("match n { 0 => {", "} _ => {} }"),
        ("if let Some(n) = Some(n) {", "}"),
    ] {
        expands(&nested(before, "out[0] = n;", after));
    }
    for (before, after) in [
        ("{", "}"),
        ("!", ""),
        ("(n + ", ")"),
        ("", " + n"),
        ("", ".min(n)"),
        ("n.min(", ")"),
        ("u32::max(n, ", ")"),
        ("called(", ")"),
        ("match n { 0 => n, _ => ", " }"),
        ("loop { break ", " }"),
        ("out[", "]"),
        ("[", "][0]"),
        ("(n, ", ").1"),
        ("Some(", ").unwrap()"),
        ("", " as u32"),
        ("unsafe { ", " }"),
    ] {
        expands(&format!("out[0] = {};", nested(before, "n", after)));
    }
    expands(&format!("let {} = {};", nested("(", "x", ", _)"), nested("(", "n", ", n)")));
    expands(&format!("if let {} = {} {{}}", nested("Some(", "_", ")"), nested("Some(", "n", ")")));
    expands(&format!("let x: {} = {};", nested("[", "u32", "; 1]"), nested("[", "n", "]")));
}
