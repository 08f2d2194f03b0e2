//! Loops whose bounds are tested before them: which accesses a test is about, and which keep their checks.

use super::{check, text};

/// Returns the test before the first loop of a body, and the statements of the loop without checks.
#[track_caller]
pub(super) fn tested(signature: &str, body: &str) -> (String, Vec<String>) {
    let text = text(&format!("#[device] fn subject({signature}) {{ {body} }}"), |_| None).replace("<digits1>", "4");
    let mut lines = text.lines().map(str::trim).filter(|line| !line.starts_with("#pragma"));
    let condition =
        lines.find_map(|line| line.strip_prefix("if (")?.strip_suffix(") {").filter(|test| test.contains("covers")));
    let unchecked = lines.take_while(|line| *line != "} else {").skip(1).map(String::from).collect::<Vec<_>>();
    (condition.unwrap_or_default().into(), unchecked)
}

pub(super) const MEMORY: &str = "m: &mut [u32], w: &[u32], rows: &[[u32; 8]], a: usize, b: usize, r: &mut u32";

/// Asserts that the loop in `body` has this test, and runs these statements without checks.
#[track_caller]
pub(super) fn hoists(body: &str, test: &str, statements: &[&str]) {
    let (found, unchecked) = tested(MEMORY, body);
    assert_eq!(found, test);
    assert_eq!(unchecked[..statements.len()], *statements, "{unchecked:#?}");
}

#[track_caller]
pub(super) fn checks_all(body: &str) {
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
    hoists("for i in 0..a as u32 { m[i as usize] = 1; }", "covers_as<usize>(m, values_of(steps))", &[]);
    hoists("for i in (0..a).rev() { m[a - 1 - i] = 1; }", "covers(m, a - 1 - values_of(steps))", &[]);
    hoists("for i in 0..a { let j = i + b; let k = j * 2; m[k] = 1; }", "covers(m, (values_of(steps) + b) * 2)", &[]);
    hoists("for i in 0..a { m[(i + b).min(a - 1)] = 1; }", "covers(m, min(values_of(steps) + b, a - 1))", &[]);
    hoists("for i in 0..a { m[i.saturating_sub(b)] = 1; }", "covers(m, saturating_sub(values_of(steps), b))", &[]);
    hoists("for i in 0..a { m[b.max(i)] = 1; }", "covers(m, max(values_of(b), values_of(steps)))", &[]);
    hoists("for i in 0..a.min(b) { m[i + b.max(3)] = 1; }", "covers(m, values_of(steps) + max(b, 3))", &[]);
    hoists("for i in 0..a { let j = b & 3; m[j + 1] = 1; }", "covers(m, values_of((b & 3) + 1))", &[]);
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
    // The inner range depends on what is not known before the outer loop, so that the test is before the inner loop.
    hoists(
        "for i in 0..a { let n = i * i; for j in n..b { m[j] = 1; } }",
        "covers(m, values_of(steps))",
        &["m.get_unchecked(j) = 1;"],
    );
    // A step of zero fails where the inner loop begins, and not in the test.
    hoists(
        "for i in 0..a { for j in (0..b).step_by(a) { m[j] = 1; } }",
        "covers(m, values_of(range(0, b).stepped(a)))",
        &[],
    );
}

#[test]
fn a_variable_that_occurs_twice() {
    checks_all("for i in 0..a { m[2 * i - i % b] = 1; }");
    checks_all("for i in 0..a { m[i.min(b + i)] = 1; }");
    checks_all("for i in 0..a { let low = i / 2; m[low * b + i] = 1; }");
}

#[test]
fn indexes_from_memory() {
    hoists(
        "for i in 0..a { *r = 1; m[w[i] as usize] = 1; }",
        "covers(w, values_of(steps))",
        &["r = 1;", "m[as<usize>(w.get_unchecked(i))] = 1;"],
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
        "covers(rows, values_of(b)) && covers_row_vectors<4>(rows, values_of(steps))",
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
    checks_all("for i in 0..a { if i * b > 9 { m[i - 1] = 1; } }");
    checks_all("for i in 0..a { *r += match b { 0 => w[i], _ => 1 }; }");
    hoists(
        "for i in 0..a { *r = 1; let left = if i % b == 0 { b } else { w[i - 1] }; m[i + 1] = left; }",
        "covers(m, values_of(steps) + 1)",
        &["r = 1;", "auto left = i % b == 0 ? b : w[i - 1];", "m.get_unchecked(i + 1) = left;"],
    );
}

/// Comparisons before an access say for which values of a variable it is made.
#[test]
fn accesses_under_comparisons() {
    let is_tested = |body: &str, test: &str| hoists(&format!("for i in 0..a {{ {body} }}"), test, &[]);
    is_tested("if i > 0 { m[i - 1] = 1; }", "covers(m, limited(values_of(steps), more_than(0)) - 1)");
    is_tested("if i == 0 || w[i - 1] > 0 { *r += 1; }", "covers(w, limited(values_of(steps), other_than(0)) - 1)");
    is_tested("if 1 > i { *r = 2; } else { *r = w[i - 1]; }", "covers(w, limited(values_of(steps), at_least(1)) - 1)");
    is_tested(
        "if i >= b && !(i + 2 > b + a) { *r = w[i]; }",
        "covers(w, limited(values_of(steps), at_least(b), at_most(b + a, up_by(2))))",
    );
    is_tested(
        "if i - b == 7 { *r = w[i]; }",
        "covers(w, limited(values_of(steps), at_least(7, down_by(b)), at_most(7, down_by(b))))",
    );
    // What is compared with bounds a value from both sides, whatever the thread's own values are.
    is_tested(
        "let at = i + b; if at < a { if at >= 2 { *r = w[at - 2]; } }",
        "covers(w, confined(values_of(steps) + b, less_than(a), at_least(2)) - 2)",
    );
    is_tested("if b > 3 { *r = w[b + i]; }", "covers(w, confined(values_of(b), more_than(3)) + values_of(steps))");
    // A vector's index is known to be a multiple by the thread's own values.
    is_tested(
        "let at = i * 4; if at < a && at >= b { *r = w.load_vec::<4>(at)[0]; }",
        "covers_vectors<4>(w, limited(values_of(steps) * 4, less_than(a), at_least(b)))",
    );
    // A condition may have a name, as long as it says of the variables what they are at the access.
    is_tested(
        "let inside = i > 0 && i < b; if inside { m[i - 1] = 1; }",
        "covers(m, limited(values_of(steps), more_than(0), less_than(b)) - 1)",
    );
    is_tested(
        "let outside = i == 0; *r += if !outside { w[i - 1] } else { 0 };",
        "covers(w, limited(values_of(steps), other_than(0)) - 1)",
    );
    // The index does not depend on what is compared.
    is_tested("if i > 3 { *r = w[b]; }", "covers(w, values_of(b))");
    checks_all("let at = a * b; for i in 0..a { if i > 3 { *r = w[at - 1]; } }");
    // What is not understood, also beside what is.
    checks_all("for i in 0..a { if i > 0 && i * b > 9 { m[i - 1] = 1; } }");
    checks_all("for i in 0..a { if i * 2 > b { m[i - 1] = 1; } }");
    checks_all("for i in 0..a { if i > 0 || b > 0 { m[i - 1] = 1; } }");
    checks_all("let mut c = b; for i in 0..a { if c > 0 { m[c - 1] = 1; } c /= 2; }");
    checks_all("for i in 0..a { if let Some(c) = Some(i) { m[c] = 1; } }");
    // A name that is set to something else, of a condition on a variable that has changed since, or that the loop does not declare.
    checks_all("for i in 0..a { let mut inside = i > 0; inside |= b > 0; if inside { m[i - 1] = 1; } }");
    checks_all("for i in 0..a { let inside; inside = i > 0; if inside { m[i - 1] = 1; } }");
    checks_all("let mut c = b; for i in 0..a { let inside = c > 0; c += 1; if inside { m[c - 1] = 1; } }");
    checks_all("let mut c = b; for i in 0..a { let inside = c > 0; c /= 2; if inside { m[c - 1] = 1; } }");
    checks_all("for i in 0..a { let mut c = i; let inside = c > 0; c -= b; if inside { m[c - 1] = 1; } }");
    checks_all("for i in 0..a { let inside = i > 0 || b > 0; if inside { m[i - 1] = 1; } }");
}

/// An index with an element of a local array may be with any of them.
#[test]
fn elements_of_local_arrays() {
    hoists(
        "let picks = [b, a, b + 1]; for i in 0..3 { m[picks[i] * a + i] = 1; }",
        "covers(m, values_in(picks) * a + values_of(steps))",
        &["m.get_unchecked(picks[i] * a + i) = 1;"],
    );
    hoists(
        "let picks = [b, a, b + 1]; for pick in picks { m[pick] = 1; }",
        "covers(m, values_in(picks))",
        &["auto pick = picks[position];", "m.get_unchecked(pick) = 1;"],
    );
    // Of floats there are no intervals, and what the loop writes is not known before it.
    checks_all("let places = [0.5, 1.5]; for i in 0..2 { m[places[i] as usize] = 1; }");
    checks_all("let mut picks = [b, a]; for i in 0..2 { m[picks[i]] = 1; picks[i] = 0; }");
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
        "covers(m, values_of(steps) * 3) && covers(w, values_of(steps))",
        &["auto value = w.get_unchecked(i);", "m.get_unchecked(f(i)) = value;"],
    );
    // A parameter is what its argument is, also where that is computed by a closure.
    hoists(
        "let at = |x: u32, y: u32| y as usize * b + x as usize; let twice = |x: u32| 2 * x; let c = b as u32;
         for i in 0..4u32 { m[at(c - i, 7)] += m[at(c, twice(i))]; }",
        "covers(m, as<usize>(<slot1 7>) * b + as<usize>(c - values_of(steps))) && covers(m, as<usize>(2 * values_of(steps)) * b + as<usize>(c))",
        &[],
    );
    // Here the values of its parts vary together.
    checks_all("let at = |x: usize, y: usize| y * b + x; for i in 0..a { m[at(i, i)] = 1; }");

    hoists(
        "let f = |x: usize| w[x]; for i in 0..a { m[i] = f(i); }",
        "covers(m, values_of(steps))",
        &["m.get_unchecked(i) = f(i);"],
    );
    checks_all("let mut n = 0; let mut f = |x: usize| { n += x; n }; for i in 0..a { m[i] = f(i) as u32; }");
    checks_all("for i in 0..a { let f = |x: usize| x + b; m[f(i)] = 1; }");
}

/// Returns the tests of a loop that is printed once: the one before it, then those inside of it.
#[track_caller]
fn tested_once(body: &str) -> Vec<String> {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None).replace("<digits1>", "4");
    let is_test = |line: &&str| line.contains("all_within") || line.starts_with("require");
    text.lines().map(str::trim).filter(is_test).map(String::from).collect()
}

#[test]
fn a_body_that_is_printed_once() {
    check(
        "for i in 0..a { this_thread_block().sync(); m[i] = i; }",
        "const auto steps = range(0, a);
         const bool all_within = covers(m, values_of(steps));
         keep_test(all_within);
         for (auto i : steps) {
             if (!all_within) {
                 require(within(m, i));
             }
             this_thread_block().sync();
             m.get_unchecked(i) = i;
         }",
    );
    let all_within = |body: &str, test: &str| {
        let found = tested_once(body);
        assert_eq!(found.first().map(String::as_str), Some(&*format!("const bool all_within = {test};")), "{found:#?}");
    };
    all_within("for i in 0..a { println!(\"{i}\"); m[i] = 1; }", "covers(m, values_of(steps))");
    all_within("for i in 0..a { while *r > m[i] { *r -= m[i + 1]; } }", "covers(m, values_of(steps))");
    let long = "m[i] = m[i] * 3 + 1;".repeat(50);
    all_within(&format!("for i in 0..a {{ {long} }}"), "covers(m, values_of(steps))");
    // What ends a round early, or changes what is not known.
    let keeps = |body: &str| assert_eq!(tested_once(body), Vec::<String>::new());
    keeps("for i in 0..a { this_thread_block().sync(); if i * b >= a { m[i] = 1; } }");
    keeps("for i in 0..a { println!(\"{i}\"); let f = |x: usize| x + b; m[f(i)] = 1; }");
    keeps("for i in 0..a { this_thread_block().sync(); let j = w[i / 2 + i] as usize; m[j] = 1; }");
}

#[test]
fn loops_in_a_body_that_is_printed_once() {
    let sync = "this_thread_block().sync();";
    assert_eq!(
        tested_once(&format!("for i in 0..a {{ {sync} for j in 0..b {{ m[i * b + j] = w[b + j]; }} }}")),
        [
            "const bool all_within = covers(m, values_of(steps) * b + values_of(range(0, b))) && covers(w, b + values_of(range(0, b)));",
            "keep_test(all_within);",
            "if (all_within || covers(m, i * b + values_of(steps_2)) && covers(w, b + values_of(steps_2))) {",
        ],
    );
    // The outer test is about what can be computed before the loop, and the inner one is about the rest, too.
    assert_eq!(
        tested_once(&format!("for i in 0..a {{ {sync} let n = w[i] as usize; for j in 0..b {{ m[j] = w[n + j]; }} }}")),
        [
            "const bool all_within = covers(w, values_of(steps)) && covers(m, values_of(range(0, b)));",
            "keep_test(all_within);",
            "if (!all_within) {",
            "require(within(w, i));",
            "if ((all_within || covers(m, values_of(steps_2))) && covers(w, n + values_of(steps_2))) {",
        ],
    );
    // The range of the middle loop is known in the outer one only, and so is the test of its accesses.
    assert_eq!(
        tested_once(&format!(
            "for i in 0..a {{ m[i] = 1; let n = i * i; for j in n..b {{ {sync} m[j] = w[b + j]; }} }}"
        )),
        [
            "const bool all_within = covers(m, values_of(steps));",
            "keep_test(all_within);",
            "if (!all_within) {",
            "require(within(m, i));",
            "const bool all_within_2 = covers(m, values_of(steps_2)) && covers(w, b + values_of(steps_2));",
            "keep_test(all_within_2);",
            "if (!all_within_2) {",
            "require(within(w, b + j) & within(m, j));",
        ],
    );
    // What the compiler decides is tested by itself, behind the others.
    assert_eq!(
        tested_once(&format!("for i in 0..a {{ {sync} *r += rows[i][0]; if i == 3 {{ *r += rows[b][1]; }} }}")),
        [
            "const bool all_within = covers(rows, values_of(steps)) && covers(rows, values_of(b));",
            "keep_test(all_within);",
            "if (!all_within) {",
            "require(within(rows, i) & within_row<decltype(rows.get_unchecked(0))>(0) & when(i == 3, within(rows, b)) & when(i == 3, within_row<decltype(rows.get_unchecked(0))>(1)));",
            "require(within_row<decltype(rows.get_unchecked(0))>(0) & when(i == 3, within_row<decltype(rows.get_unchecked(0))>(1)));",
        ],
    );
    // An access on an arm keeps its test, in the order of the accesses.
    assert_eq!(
        tested_once(&format!(
            "for i in 0..a {{ {sync} *r += w[i]; if b * i > 3 {{ *r += w[i + b]; }} *r += w[i + 1]; }}"
        )),
        [
            "const bool all_within = covers(w, spread_by(values_of(steps), up_by(0), up_by(1)));",
            "keep_test(all_within);",
            "require(when(!all_within, within(w, i)) & when(b * i > 3, within(w, i + b)) & when(!all_within, within(w, i + 1)));",
        ],
    );
}

#[test]
fn quotients_and_remainders() {
    hoists(
        "for i in 0..a { m[i / 8 * b + i % 8] = 1; }",
        "covers(m, values_of(steps) / 8 * b + values_of(steps) % 8)",
        &[],
    );
    hoists(
        "for i in 0..a { m[i / 8 / 4 * b + i / 8 % 4 + i % 8] = 1; }",
        "covers(m, values_of(steps) / 8 / 4 * b + values_of(steps) / 8 % 4 + values_of(steps) % 8)",
        &[],
    );
    hoists(
        "for i in 0..a { let (y, x) = (i / 8, i % 8); m[y * b + x] = 1; }",
        "covers(m, values_of(steps) / 8 * b + values_of(steps) % 8)",
        &[],
    );
    checks_all("for i in 0..a { let (mut y, x) = (i / 8, i % 8); y += 1; m[y * b + x] = 1; }");
    checks_all("for i in 0..a { m[i / 8 * b + i % 4] = 1; }");
    checks_all("for i in 0..a { m[i / 8 * b + i / 8] = 1; }");
}

#[test]
fn rows_with_a_name() {
    hoists(
        "for i in 0..a { let row = &rows[i % 2]; *r += row[b] + row.load_vec::<4>(4)[0]; }",
        "covers(rows, values_of(steps) % 2) && covers_row<decltype(rows.get_unchecked(0))>(values_of(b)) && covers_row_vectors<4>(rows, values_of(4))",
        &["auto row = row_of_unchecked(rows, i % 2);"],
    );
}

/// Accesses whose indexes differ by what the loop does not change have one test.
#[test]
fn neighbours() {
    hoists(
        "for i in 1..a { m[i] = w[i * b + 1] + w[i * b - 1] + w[2 + i * b - a] + w[i * b]; }",
        "covers(m, values_of(steps)) && covers(w, spread_by(values_of(steps) * b, up_by(1), down_by(1), up_by(2).down_by(a), up_by(0)))",
        &[],
    );
    hoists(
        "for i in 1..a { m[i] = w[b - i] + w[i * 2 + 1]; }",
        "covers(m, values_of(steps)) && covers(w, b - values_of(steps)) && covers(w, values_of(steps) * 2 + 1)",
        &[],
    );
}

/// A closure that computes a condition limits what it is called with, as the condition does.
#[test]
fn conditions_of_closures() {
    let test = |inside: &str, condition: &str| {
        let body = format!("{inside} let mut s = 0; for i in 0..a {{ if {condition} {{ s += w[i + 3]; }} }} *r = s;");
        tested(MEMORY, &body).0
    };
    let direct = test("", "i + 3 >= 2 && i + 3 < b");
    assert!(direct.contains("less_than(b"), "{direct}");
    assert_eq!(test("let inside = |x: usize| x >= 2 && x < b;", "inside(i + 3)"), direct);
    assert_eq!(test("let outside = |x: usize, end: usize| !(x >= 2 && x < end);", "!outside(i + 3, b)"), direct);
    // One that reads memory is no such condition.
    assert_eq!(test("let inside = |x: usize| x < w[0] as usize;", "inside(i + 3)"), "");
}

/// A number that may be negative is compared as a natural one.
#[test]
fn comparisons_of_casts() {
    let test = |condition: &str, index: &str| {
        let body = format!(
            "let mut s = 0; for i in 0..a {{ let at = i as isize - b as isize; if {condition} {{ s += w[{index}]; }} }} *r = s;"
        );
        tested(MEMORY, &body).0
    };
    let limited = "less_than(w.len())";
    assert!(test("at >= 0 && (at as usize) < w.len()", "at as usize").contains(limited));
    assert!(test("w.len() > at as usize", "at as usize").contains(limited));
    // A smaller type does not have all numbers; what is larger than a bound may have been negative.
    assert_eq!(test("(at as u8) < b as u8", "at as usize"), "");
    assert_eq!(test("(at as usize) > b", "at as usize"), "");
}

/// What comparisons of sums leave of variables takes longer to find than the checks of nine accesses; what those of a name leave of it does not.
#[test]
fn short_nests() {
    let test = |rows: &str, condition: &str| {
        let body = format!(
            "let mut s = 0; for y in {rows} {{ for x in 0..3 {{ if {condition} {{ s += w[(a + y) * 8 + x]; }} }} }} *r = s;"
        );
        tested(MEMORY, &body).0
    };
    assert_eq!(test("0..3", "a + y < b"), "");
    assert!(test("0..30", "a + y < b").contains("less_than(b"));
    assert!(test("0..3", "y != 1 || x != 1").contains("covers"), "this one leaves out a single iteration");
    let body = "let mut s = 0; for y in 0..3 { for x in 0..3 { let row = a + y; if row < b { s += w[row * 8 + x]; } } } *r = s;";
    assert!(tested(MEMORY, body).0.contains("less_than(b"));
}
