//! Loops whose bounds are tested before them: which accesses a test is about, and which keep their checks.

use super::{check, text};

/// Returns the test before the first loop of a body, and the statements of the loop without checks.
#[track_caller]
fn tested(signature: &str, body: &str) -> (String, Vec<String>) {
    let text = text(&format!("#[device] fn subject({signature}) {{ {body} }}"), |_| None).replace("<digits1>", "4");
    let mut lines = text.lines().map(str::trim);
    let condition =
        lines.find_map(|line| line.strip_prefix("if (")?.strip_suffix(") {").filter(|test| test.contains("covers")));
    let unchecked = lines.take_while(|line| *line != "} else {").skip(1).map(String::from).collect::<Vec<_>>();
    (condition.unwrap_or_default().into(), unchecked)
}

const MEMORY: &str = "m: &mut [u32], w: &[u32], rows: &[[u32; 8]], a: usize, b: usize, r: &mut u32";

/// Asserts that the loop in `body` has this test, and runs these statements without checks.
#[track_caller]
fn hoists(body: &str, test: &str, statements: &[&str]) {
    let (found, unchecked) = tested(MEMORY, body);
    assert_eq!(found, test);
    assert_eq!(unchecked[..statements.len()], *statements, "{unchecked:#?}");
}

#[track_caller]
fn checks_all(body: &str) {
    assert_eq!(tested(MEMORY, body).0, "");
}

#[test]
fn both_loops() {
    check(
        "for i in 0..a { m[i] = i; }",
        "const auto steps = range(0, a);
         if (covers(m, values_of(steps))) {
             for (auto i : unclamped(steps)) {
                 m.get_unchecked(i) = i;
             }
         } else {
             for (auto i : steps) {
                 m[i] = i;
             }
         }",
    );
}

#[test]
fn arithmetic() {
    hoists(
        "for i in 0..a { m[b * 4 + i] = 1; }",
        "covers(m, b * 4 + values_of(steps))",
        &["m.get_unchecked(b * 4 + i) = 1;"],
    );
    hoists("for i in 0..a { m[(i * b + 3) / 2 % 5] = 1; }", "covers(m, (values_of(steps) * b + 3) / 2 % 5)", &[]);
    hoists("for i in 0..a { m[b / 2] += w[0]; }", "covers(m, values_of(b / 2)) && covers(w, values_of(0))", &[]);
    hoists("for i in 0..a { m[i >> 2 ^ b] = 1; }", "covers(m, values_of(steps) >> 2 ^ b)", &[]);
    hoists("for i in 0..a as u32 { m[i as usize] = 1; }", "covers(m, as<usize>(values_of(steps)))", &[]);
    hoists("for i in (0..a).rev() { m[a - 1 - i] = 1; }", "covers(m, a - 1 - values_of(steps))", &[]);
    hoists("for i in 0..a { let j = i + b; let k = j * 2; m[k] = 1; }", "covers(m, (values_of(steps) + b) * 2)", &[]);
    hoists("for i in 0..a { let j = b & 3; m[j + 1] = 1; }", "covers(m, values_of(b & 3) + 1)", &[]);
}

#[test]
fn a_variable_that_the_loop_does_not_change() {
    hoists("let mut at = b; at += 1; for i in 0..a { m[at + i] = 1; }", "covers(m, at + values_of(steps))", &[]);
    hoists("let mut at = b; for i in 0..a { m[at] = 1; at += 1; }", "covers(m, increased(at, 1, steps))", &[]);
    checks_all("for mut i in 0..a { i += 1; m[i] = 1; }");
    checks_all("for i in 0..a { let mut j = i; j += b; m[j] = 1; }");
}

#[test]
fn inner_loops() {
    hoists(
        "for i in 0..a { for j in 0..b { m[i * b + j] = 1; } }",
        "covers(m, values_of(steps) * b + values_of(range(0, b)))",
        &["for (auto j : range(0, b)) {", "m.get_unchecked(i * b + j) = 1;"],
    );
    // The inner range depends on the outer variable, so that the test is before the inner loop.
    hoists(
        "for i in 0..a { for j in i..b { m[j] = 1; } }",
        "covers(m, values_of(steps))",
        &["m.get_unchecked(j) = 1;"],
    );
    // A step of zero would fail before the loop.
    hoists("for i in 0..a { for j in (0..b).step_by(a) { m[j] = 1; } }", "covers(m, values_of(steps))", &[]);
}

#[test]
fn a_variable_that_occurs_twice() {
    checks_all("for i in 0..a { m[2 * i - i % b] = 1; }");
    checks_all("for i in 0..a { let low = i / 2; m[low * b + i] = 1; }");
}

#[test]
fn indexes_from_memory() {
    hoists(
        "for i in 0..a { m[w[i] as usize] = 1; }",
        "covers(w, values_of(steps))",
        &["m[as<usize>(w.get_unchecked(i))] = 1;"],
    );
    checks_all("for i in 0..a { let part = &w[i..]; let j = part[0] as usize; m[j] = 1; }");
}

#[test]
fn rows() {
    hoists(
        "for i in 0..a { m[0] += rows[i][b]; }",
        "covers(m, values_of(0)) && covers_row<decltype(rows.get_unchecked(0))>(values_of(b)) && covers(rows, values_of(steps))",
        &["m.get_unchecked(0) += rows.get_unchecked(i).get_unchecked(b);"],
    );
}

#[test]
fn vectors() {
    hoists(
        "for i in (0..a).step_by(4) { let v = w.load_vec::<4>(i); m.store_vec(i + b, v); }",
        "covers_vectors<4>(w, values_of(steps)) && covers_vectors<4>(m, values_of(steps) + b)",
        &["auto v = load_vec_unchecked<4>(w, i);", "store_vec_unchecked(m, i + b, v);"],
    );
    hoists(
        "for i in 0..a { let v = rows[b].load_vec::<4>(i); *r += v[0]; }",
        "covers_row_vectors<4>(rows, values_of(steps)) && covers(rows, values_of(b))",
        &["const auto v = load_vec_unchecked<4>(row_of_unchecked(rows, b), i);"],
    );
}

#[test]
fn memory_that_the_loop_declares() {
    checks_all("for i in 0..a { let part = &w[i..]; m[part[b] as usize] = 1; }");
    // The inner loop has a test of its own.
    hoists(
        "for i in 0..a { let part = &w[i..]; for j in 0..b { m[0] += part[j]; } }",
        "covers(m, values_of(0))",
        &[
            "auto part = subslice_from(w, i);",
            "const auto steps_2 = range(0, b);",
            "if (covers(part, values_of(steps_2))) {",
        ],
    );
}

#[test]
fn a_range_up_to_the_length() {
    checks_all("for i in 0..m.len() { m[i] = 1; }");
    checks_all("for i in b..m.len() { m[i] += 1; }");
    hoists("for i in 0..=m.len() { m[i] = 1; }", "covers(m, values_of(steps))", &[]);
    hoists("for i in (0..m.len()).step_by(2) { m[i] = 1; }", "covers(m, values_of(steps))", &[]);
    hoists("for i in 0..m.len() { m[i] = w[i]; }", "covers(w, values_of(steps))", &["m[i] = w.get_unchecked(i);"]);
}

#[test]
fn accesses_that_need_not_happen() {
    checks_all("for i in 0..a { if i > 0 { m[i - 1] = 1; } }");
    checks_all("for i in 0..a { if i == 0 || w[i - 1] > 0 { *r += 1; } }");
    checks_all("for i in 0..a { if i + b >= a { break; } m[i + b] = 1; }");
    checks_all("for i in 0..a { *r += match b { 0 => w[i], _ => 1 }; }");
    hoists(
        "for i in 0..a { let left = if i == 0 { b } else { w[i - 1] }; m[i + 1] = left; }",
        "covers(m, values_of(steps) + 1)",
        &["auto left = i == 0 ? b : w[i - 1];", "m.get_unchecked(i + 1) = left;"],
    );
}

#[test]
fn calls() {
    // The runtime prints the test if nothing in the callee is done by threads together.
    hoists("for i in 0..a { m[i] = f(w[i]); }", "covers(m, values_of(steps)) && covers(w, values_of(steps))", &[]);
    checks_all("for i in 0..a { let mut f = |x: usize| m[x] = 1; f(i); }");
    // A method may take its receiver by `&mut`.
    hoists("let mut at = b; for i in 0..a { at.advance(); m[at] = w[i]; }", "covers(w, values_of(steps))", &[]);
    hoists("let mut at = b; for i in 0..a { advance(&mut at); m[at] = w[i]; }", "covers(w, values_of(steps))", &[]);
}

#[test]
fn closures() {
    hoists(
        "let f = |x: usize| x * 3 + b; for i in 0..a { m[f(b) + i] = 1; }",
        "covers(m, f(b) + values_of(steps))",
        &[],
    );
    hoists(
        "let f = |x: usize| x * 3; for i in 0..a { m[f(i)] = w[i]; }",
        "covers(w, values_of(steps))",
        &["auto value = w.get_unchecked(i);"],
    );
    hoists(
        "let f = |x: usize| w[x]; for i in 0..a { m[i] = f(i); }",
        "covers(m, values_of(steps))",
        &["m.get_unchecked(i) = f(i);"],
    );
    checks_all("let mut n = 0; let mut f = |x: usize| { n += x; n }; for i in 0..a { m[i] = f(i) as u32; }");
    checks_all("for i in 0..a { let f = |x: usize| x + b; m[f(i)] = 1; }");
}

#[test]
fn a_body_that_is_not_printed_twice() {
    checks_all("for i in 0..a { this_thread_block().sync(); m[i] = 1; }");
    checks_all("for i in 0..a { println!(\"{i}\"); m[i] = 1; }");
    checks_all("for i in 0..a { while m[i] == 0 {} }");
    checks_all(&format!("for i in 0..a {{ {} }}", "m[i] = m[i] * 3 + 1;".repeat(50)));
}
