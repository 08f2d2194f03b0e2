//! The tests before loops that count by `while`, that are left early, whose ranges depend on each other, and whose accesses are under
//! conditions that they do not change.

use super::bounds::{MEMORY, checks_all, hoists};
use super::{check, text};

#[test]
fn while_loops_that_count() {
    check(
        "let mut i = a; while i < b { m[i] = i; i += c; }",
        "auto i = a;
         const auto steps = counting(i, b, c);
         if (is_counting(steps) && covers(m, values_of(steps))) {
             for ([[maybe_unused]] auto i_2 : unclamped(steps)) {
                 m.get_unchecked(i) = i;
                 i += c;
             }
         } else {
             while (i < b) {
                 m[i] = i;
                 i += c;
             }
         }",
    );
    let whole = |body: &str| text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    let counts = |body: &str, steps: &str| {
        let text = whole(body);
        assert!(text.contains(&format!("const auto steps = {steps};")), "{text}");
    };
    counts("let mut i = a; while b >= i { m[i] = 1; i = i + 1; }", "counting_through(i, b, 1)");
    counts("let mut i = 0usize; while i < m.len() { m[i / 4] = 1; i += 4; }", "counting(i, m.len(), 4)");
    // The loop may be empty, and the accesses be within bounds.
    assert!(
        whole("let mut i = a; while i < b { m[0] = 1; i += 1; }")
            .contains("if (is_counting(steps) && covers(m, values_of(0)))")
    );
    // Threads do something together in it, so that it is printed once.
    counts("let mut i = a; while i < b { m[i] = 1; nanosleep(9); i += 1; }", "counting(i, b, 1)");
    for body in [
        // The bound or the step may be another one in the next iteration, or is evaluated by a call.
        "let mut i = a; let mut n = b; while i < n { m[i] = 1; n -= 1; i += 1; }",
        "let mut i = a; while i < w[0] as usize { m[i] = 1; i += 1; }",
        "let mut i = a; while i < b { m[i] = 1; i += m[0] as usize; }",
        // It is written elsewhere, shrinks, or does not grow last.
        "let mut i = a; while i < b { m[i] = 1; if b > 4 { i += 2; } i += 1; }",
        "let mut i = a; while i < b { m[i] = 1; i -= 1; }",
        "let mut i = a; while i < b { i += 1; m[i] = 1; }",
        "let mut i = a; while i != b { m[i] = 1; i += 1; }",
    ] {
        let text = whole(body);
        assert!(!text.contains("counting"), "{text}");
    }
}

/// Other conditions may end a loop that counts, before or after its bound.
#[test]
fn while_loops_that_count_under_conditions() {
    check(
        "let mut i = a; while i < b && m[i] == 0 { m[i] = 1; i += 1; }",
        "auto i = a;
         const auto steps = counting(i, b, 1);
         if (is_counting(steps) && covers(m, values_of(steps))) {
             while (i < b && m.get_unchecked(i) == 0) {
                 m.get_unchecked(i) = 1;
                 i += 1;
             }
         } else {
             while (i < b && m[i] == 0) {
                 m[i] = 1;
                 i += 1;
             }
         }",
    );
}

/// The counter of a `while` inside of a loop is below its bound in its own loop, whatever else ends that.
#[test]
fn while_loops_inside_that_count() {
    check(
        "for i in 0..a { let mut j = 0usize; while j < b && i > j { j += 1; } m[j] = 1; }",
        "for (auto i : range(0, a)) {
             auto j = usize(0);
             while (j < b & i > j) {
                 j += 1;
             }
             m[j] = 1;
         }",
    );
    hoists(
        "for i in 0..a { let mut j = 0usize; while j < b && m[i + j] == w[j] { j += 1; } if j == b { *r += 1; } }",
        "covers(m, values_of(steps) + counted_below(values_of(usize(0)), b, 1)) && covers(w, counted_below(values_of(usize(0)), b, 1))",
        &["auto j = usize(0);", "while (j < b && m.get_unchecked(i + j) == w.get_unchecked(j)) {", "j += 1;", "}"],
    );
}

/// A counter starts at what its first value is where it is declared.
#[test]
fn a_counter_that_starts_at_a_variable_that_changes() {
    hoists(
        "let mut at = b; for i in 0..a { let mut j = at; at += 1; while j < b { m[j] = 1; j += 1; } }",
        "covers(m, counted_below(increased(at, 1, steps), b, 1))",
        &[],
    );
}

/// The range of a loop inside may start and end at the variable of one around it.
#[test]
fn ranges_that_depend_on_loops() {
    hoists(
        "for i in 0..a { for j in i + 1..b { m[j] = 1; } }",
        "covers(m, values_below(values_of(steps) + 1, b))",
        &["for (auto j : range(i + 1, b)) {", "m.get_unchecked(j) = 1;", "}"],
    );
    hoists(
        "for i in 0..a { for j in 0..=i { m[j] = 1; } }",
        "covers(m, values_through(values_of(0), values_of(steps)))",
        &["for (auto j : range_inclusive(0, i)) {", "m.get_unchecked(j) = 1;", "}"],
    );
    // Both vary together, so that the interval of the difference would be too large.
    checks_all_of_outer("for i in 0..a { for j in i..b { m[j - i] = 1; } }");
}

#[track_caller]
fn checks_all_of_outer(body: &str) {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    assert!(text.contains("for (auto i : range(0, a)) {"), "{text}");
}

/// What is not understood is within bounds where a value limits it that the loop does not change.
#[test]
fn limited_by_a_value() {
    hoists(
        "for i in 0..a { *r += w[(m[i] as usize).min(w.len() - 1)]; }",
        "covers(w, min(anything_like(w.len() - 1), w.len() - 1)) && covers(m, values_of(steps))",
        &[],
    );
}

/// A loop that may be left early is tested for all iterations that it could have.
#[test]
fn loops_that_are_left() {
    hoists(
        "for i in 0..a { if m[i] == 0 { break; } m[i] = w[i]; }",
        "covers(m, values_of(steps)) && covers(w, values_of(steps))",
        &["if (m.get_unchecked(i) == 0) {", "break;", "}", "m.get_unchecked(i) = w.get_unchecked(i);"],
    );
    hoists(
        "for i in 0..a { if i >= b { break; } m[i] = 0; }",
        "covers(m, limited(values_of(steps), less_than(b)))",
        &["if (i >= b) {", "break;", "}", "m.get_unchecked(i) = 0;"],
    );
}

/// A condition that the loop does not change is made before it, too.
#[test]
fn accesses_under_fixed_conditions() {
    hoists(
        "let at = a * b; for i in 0..a { if b > 3 { m[0] = w[at + i - 1]; } }",
        "covers(m, values_of(0)) && (!(b > 3) || covers(w, at + values_of(steps) - 1))",
        &[],
    );
    hoists(
        "let mut c = b; let inside = c > 0; c -= 1; for i in 0..a { if inside { m[c + i - 1] = 1; } }",
        "!inside || covers(m, c + values_of(steps) - 1)",
        &[],
    );
    // Beside what limits the index.
    hoists(
        "let at = a * b; for i in 0..a { if b > 3 && i > 0 { m[at + i - 1] = 1; } }",
        "!(b > 3) || covers(m, at + limited(values_of(steps), more_than(0)) - 1)",
        &[],
    );
    // A float may be another one in the test.
    checks_all("let (at, f) = (a * b, *r as f32); for i in 0..a { if f * f > f { m[at + i - 1] = 1; } }");
}

/// A variable that grows by a number of threads in each iteration, as where a warp keeps some of its values.
#[test]
fn masks_of_a_warp() {
    let text = text(
        "#[device] fn subject(m: &mut [u32], w: &[u32], a: u32) { let warp = tiled_partition::<32>(&this_thread_block()); let lane = warp.thread_rank(); let mut n = 0;
         for i in 0..a { let kept = warp.ballot(w[i] > 3); if w[i] > 3 { m[a + n + (kept & 7).count_ones()] = 1; } n += kept.count_ones(); } }",
        |_| None,
    );
    assert!(text.contains("covers(m, a + increased(n, threads_of_warp(), steps) + threads_of_warp())"), "{text}");
}

/// The threads of a block share few elements, so that all rounds are taken at a time.
#[test]
fn strided_loops() {
    let unrolled = |range: &str, body: &str| {
        let text = text(
            &format!(
                "#[device] fn subject({MEMORY}) {{ let block = this_thread_block(); let i = block.thread_rank(); for k in {range} {{ {body} }} }}"
            ),
            |_| None,
        );
        text.matches("#pragma unroll\n").count()
    };
    assert_eq!(unrolled("(i..1296).step_by(256)", "m[k] = w[k];"), 1);
    assert_eq!(unrolled("(block.thread_rank() * 4..4096).step_by(1024)", "m[k] = w[k];"), 1);
    assert_eq!(unrolled("(i..1296).step_by(64)", "m[k] = w[k];"), 0, "many rounds");
    assert_eq!(unrolled("(a..1296).step_by(256)", "m[k] = w[k];"), 0, "the number of rounds is not known");
    assert_eq!(unrolled("(i..1296).step_by(256)", &"m[k] = w[k];".repeat(40)), 0, "a large body");
}
