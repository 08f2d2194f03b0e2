//! What follows a loop and shares its test, and conditions of loops without branches inside.

use super::bounds::hoists;
use super::text;

const SUMS: &str = "covers(w, values_of(steps) + b)";

#[test]
fn the_store_after_a_loop() {
    let both = format!("{SUMS} && holds(within(m, b))");
    let sum = "s += w.get_unchecked(i + b);";
    hoists("let mut s = 0; for i in 0..a { s += w[i + b]; } m[b] = s;", &both, &[sum, "}", "m.get_unchecked(b) = s;"]);
    hoists(
        "let mut s = 0; for i in 0..a { s += w[i + b]; } let t = s * 2; m[b] = t;",
        &both,
        &[sum, "}", "auto t = s * 2;", "m.get_unchecked(b) = t;"],
    );
    // What stands between may do anything that leads on.
    hoists(
        "let mut s = 0; for i in 0..a { s += w[i + b]; } for k in 0..4 { s /= *r; s += k; } m[b] = s;",
        &both,
        &[sum, "}"],
    );
    hoists(
        "let (mut s, mut i) = (0, 0); while i < a { s += w[i + b]; i += 1; } m[b] = s;",
        "is_counting(steps) && covers(w, values_of(steps) + b) && holds(within(m, b))",
        &[],
    );
}

#[test]
fn what_has_a_test_of_its_own() {
    let sums = |rest: &str| format!("let mut s = 0; for i in 0..a {{ s += w[i + b]; }} {rest}");
    // The loop changes the index, the rest may not be reached, or is not printed twice.
    hoists(&sums("m[s as usize] = 1;"), SUMS, &[]);
    hoists(&format!("let mut at = b; {}", sums("at += 1; m[at] = s;")), SUMS, &[]);
    let through =
        "let (mut at, mut s) = (b, 0); let to = &mut at; for i in 0..a { s += w[i + b]; *to += 1; } m[at] = s;";
    hoists(through, SUMS, &[]);
    hoists(&sums("if s == 3 { return; } m[b] = s;"), SUMS, &[]);
    // What a function is given may wait in it.
    hoists(
        &format!("let f = |k: usize| m.atomic(k).load(Relaxed); {}", sums("let t = helper(&f); m[b] = t;")),
        SUMS,
        &[],
    );
    hoists(&sums("let f = |x: u32| x + 1; m[b] = f(s);"), SUMS, &[]);
    // What the rest tests before the store is another condition.
    let under = format!("{SUMS} && holds(when(b > 2, within(m, b - 2)))");
    hoists(&sums("if b > 2 { m[b - 2] = s; };"), &under, &[]);
    hoists(&sums("if b > 2 { m[b - 2] = s; }"), &under, &[]);
}

#[test]
fn a_condition_without_branches() {
    let condition = |condition: &str| {
        let body = format!("let (mut y, mut i) = (x, 0); while {condition} {{ y += x; i += 1; }} i");
        text(&format!("#[device] fn subject(m: &[u32], a: u32, x: f32) -> u32 {{ {body} }}"), |_| None)
    };
    let has = |text: &str, part: &str| assert!(text.contains(part), "{text}");
    has(&condition("i < a && y * y < 4.0"), "while (i < a & y * y < ");
    // What may fail, loads, or is much, is not made for nothing.
    has(&condition("i < a && m[i] > 0"), "while (i < a && m[i] > 0)");
    has(&condition("i < a && 8 / i > 0"), "while (i < a && 8 / i > 0)");
}
