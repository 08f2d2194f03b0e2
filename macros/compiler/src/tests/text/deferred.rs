//! Loops whose accesses are reported after them, because their indexes come from memory, and those for which that could be
//! observed.

use super::text;

const MEMORY: &str = "m: &mut [u32], w: &[u32], x: &[f32], s: &SharedSlice<u32>, t: &mut SharedSlice<[u32; 8]>, a: usize, b: usize, r: &mut u32";

/// Returns the text of a body, without the memory that it names and without indentation.
#[track_caller]
fn lines(body: &str) -> Vec<String> {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None).replace("<digits1>", "2");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[track_caller]
fn has(body: &str, expected: &[&str]) {
    let lines = lines(body);
    let mut rest = lines.iter();
    for line in expected {
        assert!(rest.any(|other| other == line), "`{line}` is missing in {lines:#?}");
    }
}

#[track_caller]
fn defers_none(body: &str) {
    let lines = lines(body);
    assert!(lines.iter().all(|line| !line.contains("deferred")), "{lines:#?}");
}

#[test]
fn a_sum_of_gathered_elements() {
    let body = "let mut sum = 0.0f32; for i in 0..a { sum += x[w[i] as usize]; }";
    has(
        body,
        &[
            "unsigned outside = !(covers(w, values_of(steps)) && covers(x, values_of(0)));",
            "if (!outside) {",
            "for (auto i : unclamped(steps)) {",
            "sum += x.get_unchecked(deferred(x, as<usize>(w.get_unchecked(i)), outside));",
            "if (outside) {",
            "for (auto i : steps) {",
            "sum += x[as<usize>(w[i])];",
        ],
    );
}

#[test]
fn vectors_and_chains_of_indexes() {
    has(
        "let mut sum = 0.0f32; for i in 0..a { let v = x.load_vec::<2>(w[i] as usize * b); sum += v[0] * v[1]; }",
        &[
            "unsigned outside = !(covers(w, values_of(steps)) && covers_vectors<2>(x, values_of(0)));",
            "const auto v = load_vec_unchecked<2>(x, deferred_vector<2>(x, as<usize>(w.get_unchecked(i)) * b, outside));",
        ],
    );
    has(
        "let mut sum = 0.0f32; for i in 0..a { let next = w[w[i] as usize] as usize; sum += x[next]; }",
        &[
            "unsigned outside = !(covers(w, values_of(steps)) && covers(w, values_of(0)) && covers(x, values_of(0)));",
            "auto next = as<usize>(w.get_unchecked(deferred(w, as<usize>(w.get_unchecked(i)), outside)));",
            "sum += x.get_unchecked(deferred(x, next, outside));",
        ],
    );
}

/// No exit at two accesses of one statement, either.
#[test]
fn two_gathered_elements() {
    has(
        "let mut sum = 0.0f32; for i in 0..a { let k = w[i] as usize; sum += x[k] / w[k] as f32; }",
        &[
            "unsigned outside = !(covers(w, values_of(steps)) && covers(x, values_of(0)) && covers(w, values_of(0)));",
            "auto k = as<usize>(w.get_unchecked(i));",
            "sum += x.get_unchecked(deferred(x, k, outside)) / as<f32>(w.get_unchecked(deferred(w, k, outside)));",
            "if (outside) {",
            "require(within(x, k) & within(w, k));",
        ],
    );
}

#[test]
fn stores_are_made_once_and_while_all_is_well() {
    has(
        "for i in 0..a { m[i] = w[w[i] as usize] + 1; }",
        &[
            "const bool tested = covers(m, values_of(steps)) && covers(w, values_of(steps)) && covers(w, values_of(0));",
            "unsigned outside = !tested;",
            "if (!outside) {",
            "auto value = w.get_unchecked(deferred(w, as<usize>(w.get_unchecked(i)), outside)) + 1;",
            "auto& value_2 = m.get_unchecked(i);",
            "if (!outside) {",
            "value_2 = value;",
            "if (outside) {",
            "auto& value_4 = m[i];",
            "if (!tested) {",
            "value_4 = value_3;",
        ],
    );
    has(
        "for i in 0..a { let outside = w[i] > 3; t[i / 8][i % 8] = if outside { w[w[i] as usize] } else { w[w[i] as usize / 2] }; m[i] = w[w[i] as usize * 2]; }",
        &["auto& value_2 = t.get_unchecked(i / 8).get_unchecked(i % 8);", "if (!outside_2) {", "value_2 = value;"],
    );
    // An element that is stored to is found before the condition is looked at.
    has(
        "for i in 0..a { m[w[i] as usize] += 1; }",
        &[
            "auto& value = m.get_unchecked(deferred(m, as<usize>(w.get_unchecked(i)), outside));",
            "if (!outside) {",
            "value += 1;",
        ],
    );
}

#[test]
fn accesses_under_conditions() {
    has(
        "let mut sum = 0.0f32; for i in 0..a { sum += x[w[i] as usize]; if w[i] > 3 { sum += x[w[i] as usize - 3]; } }",
        &["sum += x.get_unchecked(deferred(x, as<usize>(w.get_unchecked(i)) - 3, outside));"],
    );
    has(
        "let mut sum = 0.0f32; for i in 0..a { sum += x[w[i] as usize]; if i % 3 > 0 && x[i - 1] > sum { sum += 1.0; } }",
        &["if (i % 3 > 0 && x.get_unchecked(deferred(x, i - 1, outside)) > sum) {"],
    );
    defers_none("let mut sum = 0.0f32; for i in 0..a { if w[i] > 3 { sum += x[w[i] as usize - 3]; } }");
    // The condition may be another one in the second run.
    defers_none("let mut sum = 0.0f32; for i in 0..a { if sum < 3.0 { sum += x[w[i] as usize]; } }");
    defers_none("let mut sum = 0.0f32; for i in 0..a { if sum < 3.0 && x[w[i] as usize] > 1.0 { sum += 1.0; } }");
}

/// A `while` loop that counts runs again from the counter's first value.
#[test]
fn while_loops() {
    let counted = |condition: &str, step: &str| {
        format!("let (mut sum, mut e) = (0.0f32, a); while {condition} {{ sum += x[w[e] as usize]; {step} }}")
    };
    has(
        &counted("e < b", "e += 32;"),
        &[
            "const auto begin = e;",
            "sum += x.get_unchecked(deferred(x, as<usize>(w.get_unchecked(e)), outside));",
            "e = begin;",
            "while (e < b) {",
        ],
    );
    defers_none(&counted("e < b && sum < 9.0", "e += 32;"));
    defers_none(&counted("e < b", "e += w[e] as usize;"));
    defers_none(&counted("e < b", "if sum > 3.0 { break; } e += 32;"));
}

#[test]
fn loops_over_local_arrays() {
    has(
        "let mut sums = [0.0f32; 2]; for i in 0..a { let v = x.load_vec::<2>(w[i] as usize * 2); for c in 0..2 { sums[c] += v[c]; } }",
        &[
            "const auto v = load_vec_unchecked<2>(x, deferred_vector<2>(x, as<usize>(w.get_unchecked(i)) * 2, outside));",
        ],
    );
    defers_none("let mut sums = [0; 2]; for i in 0..a { let v = w[w[i] as usize]; for c in 0..a { sums[c] += v; } }");
    defers_none("let mut sums = [0; 2]; for i in 0..a { let v = w[w[i] as usize]; sums[v as usize] += v; }");
    // The inner loop has its own.
    has(
        "let mut sum = 0.0f32; for i in 0..a { sum *= 2.0; for c in 0..2 { sum += x[w[i] as usize + c]; } }",
        &["if (covers(w, values_of(steps))) {", "for (auto i : unclamped(steps)) {"],
    );
}

#[test]
fn what_could_be_observed() {
    // The index depends on what the loop has done.
    defers_none("let mut at = 0; for _ in 0..a { at = w[at as usize]; }");
    defers_none("let mut at = b; for i in 0..a { m[i] = w[w[at] as usize]; at += 1; }");
    // Other threads write the index.
    defers_none("let mut sum = 0.0f32; for i in 0..a { sum += x[m[i] as usize]; }");
    defers_none("let mut sum = 0.0f32; for i in 0..a { sum += x[s[i] as usize]; }");
    // Something else fails, leaves the loop, or is seen by others.
    defers_none("for i in 0..a { *r += w[w[i] as usize]; }");
    defers_none("let mut sum = 0; for i in 0..a { sum += w[w[i] as usize] / w[i]; }");
    defers_none("let mut sum = 0; for i in 0..a { if w[i] == 0 { break; } sum += w[w[i] as usize]; }");
    defers_none("for i in 0..a { let _ = m.atomic(w[i] as usize).fetch_add(1, Relaxed); }");
    defers_none("let mut sum = 0; for i in 0..a { assert!(sum < 9); sum += w[w[i] as usize]; }");
}
