//! Checks of accesses that follow each other: which are made together, and what keeps its own.

use super::{check, text};

const MEMORY: &str = "m: &mut [u32], w: &[u32], rows: &[[u32; 8]], a: usize, b: usize, r: &mut usize, p: bool";

/// Returns the tests in a body, each as the line and column of its accesses, and all of its lines.
#[track_caller]
fn lines(body: &str) -> Vec<String> {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None).replace("<digits1>", "4");
    text.lines().map(|line| line.trim().to_string()).collect()
}

/// Asserts that a body makes the checks of these tests together, in this order.
#[track_caller]
fn makes(body: &str, tests: &[&str]) {
    let found = |line: &String| Some(line.strip_prefix("if (!(")?.strip_suffix(")) {")?.to_string());
    let found: Vec<String> = lines(body).iter().filter_map(found).filter(|test| test.contains("within")).collect();
    assert_eq!(found, tests);
}

#[test]
fn in_their_order() {
    check(
        "let x = m[b] * m[c]; m[a] = x;",
        "if (!(within(m, b) & within(m, c) & within(m, a))) {
             check(m, b);
             check(m, c);
             check(m, a);
             unreachable();
         }
         auto x = m.get_unchecked(b) * m.get_unchecked(c);
         m.get_unchecked(a) = x;",
    );
}

#[test]
fn one_check_stays_where_it_is() {
    makes("let x = w[a]; let y = w[a]; m[b * 2] = x + y;", &["within(w, a) & within(m, b * 2)"]);
    makes("m[a] = 1;", &[]);
    makes("m[a] += m[a];", &[]);
}

#[test]
fn the_value_comes_before_the_place() {
    makes("m[a] = w[b];", &["within(w, b) & within(m, a)"]);
    makes("m[a] += w[b];", &["within(w, b) & within(m, a)"]);
}

#[test]
fn variables_of_the_run() {
    makes("let x = w[a]; let j = a + 1; let k = j * 2; m[k] = x;", &["within(w, a) & within(m, (a + 1) * 2)"]);
    makes("let j = a + 1; let x = w[a]; m[j] = x;", &["within(w, a) & within(m, j)"]);
    makes("let x = w[a]; let (i, j) = (a + 1, b); m[j] = w[i];", &["within(w, a) & within(w, a + 1) & within(m, b)"]);
    makes("let x = w[a]; let j = a as u32; m[j as usize] = x;", &["within(w, a) & within(m, as<usize>(as<u32>(a)))"]);
    // A variable that is assigned has another value before the run, and the type of a literal is that of its declaration.
    makes("let x = w[a]; let mut j = a; j += 1; m[j] = x;", &[]);
    makes("let mut j = a; let x = w[j]; j += 1; m[j] = x;", &[]);
    makes("let mut j = a; j += 1; let x = w[j]; m[j] = x;", &["within(w, j) & within(m, j)"]);
    makes("let x = w[a]; let j = 7; m[j] = x;", &[]);
    makes("let x = w[*r]; m[a] = x;", &[]);
}

#[test]
fn the_arms_of_branches() {
    makes("if p { m[a] = w[a - 1] + w[a + 1]; }", &["within(w, a - 1) & within(w, a + 1) & within(m, a)"]);
    // What need not be executed is not tested before, and has a test of its own.
    makes("let x = w[a]; if p { m[b] = 1; } m[a] = x;", &[]);
    makes("let x = w[a]; if p { m[b] = w[b]; }", &["within(w, b) & within(m, b)"]);
    makes("let x = w[a]; let y = if p { 1 } else { 2 }; m[b] = x + y;", &["within(w, a) & within(m, b)"]);
    makes("let x = w[a]; let y = p && w[b] > 1; m[b] = x;", &[]);
}

#[test]
fn an_index_from_memory() {
    makes("let x = w[a] + w[b]; m[w[a] as usize] = x;", &["within(w, a) & within(w, b)"]);
    // It ends a run, and may begin the next one.
    makes("let k = w[a] as usize; m[k] = 1; m[k + 1] = 2;", &["within(m, k) & within(m, k + 1)"]);
    makes("let k = w[a] as usize; m[k] = w[b];", &["within(w, a) & within(w, b)"]);
    makes("let x = w[a] + w[w[b] as usize] + w[a + b];", &["within(w, a) & within(w, b)"]);
}

#[test]
fn what_may_fail_ends_a_run() {
    makes("let x = w[a]; let y = a / b; m[a + 1] = x;", &[]);
    makes("let x = w[a]; let y = a / 2; m[b] = x;", &["within(w, a) & within(m, b)"]);
    makes("let x = w[a]; assert!(p); m[b] = x;", &[]);
    makes("let x = w[a]; if p { return; } m[b] = x;", &[]);
    makes("let x = w[a]; for i in 0..2 {} m[b] = x;", &[]);
    makes("let x = [w[a], 2]; let y = x[b]; m[b] = y;", &[]);
    makes(
        "let x = w[a] + w[b]; let y = a / b; m[y] = w[y];",
        &["within(w, a) & within(w, b)", "within(w, y) & within(m, y)"],
    );
}

#[test]
fn rows_and_vectors() {
    makes("m[b] = rows[a][b];", &["within(rows, a) & within_row<decltype(rows.get_unchecked(0))>(b) & within(m, b)"]);
    makes("let v = w.load_vec::<4>(a); m.store_vec(b, v);", &["within_vector<4>(w, a) & within_vector<4>(m, b)"]);
}

#[test]
fn accesses_that_a_test_before_their_loop_covers() {
    // The loop that runs if that test fails makes all checks, one by one.
    makes("for i in 0..a { m[i] = w[i + b]; }", &[]);
    makes("for i in 0..a { if p { m[i] = w[i + b]; } }", &["within(w, i + b) & within(m, i)"]);
}
