//! What is nested deeply, as other macros write it, is expanded like the rest: no stack ends.

use super::{expand, faults};
use crate::room::with_room;

const LEVELS: usize = 300;

/// `before`, so many times, `inner`, and `after` as often.
fn nested(before: &str, inner: &str, after: &str) -> String {
    format!("{}{inner}{}", before.repeat(LEVELS), after.repeat(LEVELS))
}

#[track_caller]
fn expands(body: &str) {
    let source = format!("#[cluster_kernel(block = 32)] fn deep(n: u32, out: &mut [u32]) {{ {body} }}");
    let faults = with_room(|| faults(&expand(&source)));
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn statements() {
    expands(&nested("{", "out[0] = n;", "}"));
    expands(&nested("if n > 3 {", "out[0] = n;", "}"));
    expands(&nested("if n > 3 {} else {", "out[0] = n;", "}"));
    expands(&nested("for i in 0..n {", "out[0] = n;", "}"));
    expands(&nested("while n > 3 {", "out[0] = n;", "}"));
    expands(&nested("loop {", "break;", "}"));
    expands(&nested("match n { 0 => {", "out[0] = n;", "} _ => {} }"));
    expands(&nested("if let Some(n) = Some(n) {", "out[0] = n;", "}"));
}

#[test]
fn values() {
    for (before, after) in [
        ("(", ")"),
        ("{", "}"),
        ("!", ""),
        ("(n + ", ")"),
        ("n + ", ""),
        ("", " + n"),
        ("", ".min(n)"),
        ("n.min(", ")"),
        ("u32::max(n, ", ")"),
        ("called(", ")"),
        ("if n > 3 { n } else { ", " }"),
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
}

#[test]
fn patterns_and_types() {
    expands(&format!("let {} = {};", nested("(", "x", ", _)"), nested("(", "n", ", n)")));
    expands(&format!("if let {} = {} {{}}", nested("Some(", "_", ")"), nested("Some(", "n", ")")));
    expands(&format!("let x: {} = {};", nested("[", "u32", "; 1]"), nested("[", "n", "]")));
}
