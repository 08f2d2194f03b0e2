//! Loops that skip iterations, clamp an index or need the iteration before: the tests before them, and how far they are unrolled.

use super::bounds::{MEMORY, checks_all, hoists};
use super::text;

#[test]
fn iterations_that_are_skipped() {
    // One of all iterations changes no limit.
    let test = "covers(m, values_of(steps) * b + values_of(range(0, b)))";
    hoists("for i in 0..a { for j in 0..b { if i == 1 && j == 1 { continue; } m[i * b + j] = 1; } }", test, &[]);
    hoists("for i in 0..a { for j in 0..b { if i != 1 || !(j == 1) { m[i * b + j] = 1; } } }", test, &[]);
    // What is known where it goes on.
    hoists(
        "for i in 0..9 { if i >= a { continue; } m[i] = 1; }",
        "covers(m, limited(values_of(steps), less_than(a)))",
        &[],
    );
    hoists(
        "for i in 0..9 { if i == 0 || i == 8 { continue; } m[a + i - 1] = 1; }",
        "covers(m, a + limited(values_of(steps), other_than(0), other_than(8)) - 1)",
        &[],
    );
    hoists("for i in 0..9 { if w[i] > 3 { continue; } m[a + i] = 1; }", "covers(w, values_of(steps))", &[]);
    // The step of a variable may be skipped, and so may be more than the rest of a body.
    checks_all("let mut at = a; for i in 0..9 { if i == 4 { continue; } m[at] = 1; at += b; }");
    checks_all("'outer: for i in 0..9 { for j in 0..3 { if j == a { continue 'outer; } m[i + j] = 1; } }");
    checks_all("for i in 0..9 { if i == a { if b == 2 { continue; } } m[i] = 1; }");
    checks_all("let mut i = 0; while i < a { if i == b { continue; } m[i] = 1; i += 1; }");
}

#[test]
fn ranges_that_lengths_end() {
    let of = |body: &str| {
        let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
        (text.contains("w.get_unchecked("), text.contains("covers"))
    };
    assert_eq!(of("for i in 0..w.len().min(a) { *r += w[i]; }"), (true, false));
    assert_eq!(of("for x in w.iter().take(a) { *r += x; }"), (true, false));
    assert_eq!(of("for (x, y) in w.iter().zip(&w[a..]) { *r += x * y; }"), (true, false));
    assert_eq!(of("let sum: u32 = w.iter().take(a).sum(); *r = sum;"), (true, false));
    // Another index, a range that begins elsewhere, one that is too long, and a name of several memories.
    assert_eq!(of("for i in 0..w.len().min(a) { *r += w[i + 1]; }"), (true, true));
    assert_eq!(of("for i in b..w.len().min(a) { *r += w[i]; }"), (true, true));
    assert_eq!(of("for i in 0..w.len().max(a) { *r += w[i]; }"), (true, true));
    assert_eq!(of("let mut x = &w[a..]; for i in 0..x.len().min(b) { *r += x[i]; x = &w[b..]; }"), (false, false));
}

/// A sum at the end of a function has the type of its result, as with a turbofish.
#[test]
fn totals_of_results() {
    let of = |call: &str| {
        text(&format!("#[device] fn subject(v: &[f32]) -> f32 {{ v.iter().map(|x| x * x).{call} }}"), |_| None)
    };
    for (stated, written) in [("sum()", "sum::<f32>()"), ("product()", "product::<f32>()")] {
        assert_eq!(of(stated), of(written));
    }
}

#[test]
fn clamped_indexes() {
    hoists("for i in 0..5 { m[(a + i).clamp(0, b)] = 1; }", "covers(m, min(max(a + values_of(steps), 0), b))", &[]);
}

#[test]
fn recurrences() {
    let unrolled = |body: &str| {
        let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
        text.matches("#pragma unroll 8").count()
    };
    assert_eq!(unrolled("let mut s = 0; for i in 0..a { s = s / 2 + w[i * b]; m[i * b] = s; }"), 1);
    assert_eq!(unrolled("let mut s = 0; for i in 0..a { s += w[i]; m[i] = s; }"), 1);
    assert_eq!(unrolled("let (mut s, mut i) = (0, b); while i < a { s += w[i]; m[i] = s; i += 1; }"), 1);
    let of = |count: usize, body: &str| {
        let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
        text.matches(&format!("#pragma unroll {count}\n")).count()
    };
    // Stages take turns.
    let stages = |stage: &str| format!("for i in 0..a {{ m[{stage}] = w[i]; this_thread_block().sync(); }}");
    assert_eq!((of(2, &stages("i % 2")), of(3, &stages("i % 3 * 8 + b"))), (1, 1));
    assert_eq!((of(8, &stages("i % 8")), of(2, &stages("a % 2"))), (0, 0));
    let carried = "let mut s = 0; for i in 0..a { m[i % 2] = w[i]; this_thread_block().sync(); s = s * 3 + m[1 - i % 2] + w[i + 1] * 5 + w[i + 2] * 7 + w[i + 3] * 9 + w[i + 4] * 11 + w[i + 5]; m[i + 8] = s + w[i + 6] * 13 + w[i + 7]; }";
    assert_eq!((of(2, carried), of(8, carried)), (1, 0), "a recurrence that is too large for eight iterations");
    assert_eq!(of(2, "for i in 0..a { m[i % 2] = w[i]; }"), 0, "the compiler sees it by itself");
    // No iteration needs the one before, nothing is stored, or the compiler knows the number.
    assert_eq!(unrolled("for i in 0..a { m[i] = w[i]; }"), 0);
    assert_eq!(unrolled("let mut s = 0; for i in 0..a { s += w[i]; } *r = s;"), 0);
    assert_eq!(unrolled("let mut s = 0; for i in 0..16 { s += w[i]; m[i] = s; }"), 0);
    assert_eq!(unrolled("let mut s = b; for i in 0..a { m[s] = w[i]; s += 4; }"), 0);
    assert_eq!(unrolled("let mut s = 0; #[unroll(2)] for i in 0..a { s += w[i]; m[i] = s; }"), 0);
}

#[test]
fn warps_that_combine_what_they_load() {
    let of = |body: &str| {
        let head = "#[cluster_kernel(block = 64)] fn subject(k: &[f32], out: &mut [f32], a: u32, b: u32)";
        let of = "let warp = tiled_partition::<32>(&this_thread_block()); let i = this_grid().thread_rank(); let mut s = 0.0;";
        let text = text(&format!("{head} {{ {of} {body} }}"), |_| None);
        (text.matches("#pragma unroll 4\n").count(), text.contains("all_within"))
    };
    let row = |rest: &str| format!("for j in 0..a {{ let v = k.load_vec::<4>(j * b); {rest} }} out[i] = s;");
    // Four rows at a time, without tests between them.
    assert_eq!(of(&row("s += warp.reduce(v[0] * v[1], op::Plus);")), (1, false));
    assert_eq!(of(&row("if a > b { s += warp.shfl(v[0], 0); }")), (1, false));
    // Nothing waits for the warp, what is stored may be loaded, a load need not happen, or the body is large.
    assert_eq!(of(&row("s += v[0] * v[1];")).0, 0);
    assert_eq!(of(&row("s += warp.reduce(v[0], op::Plus); out[i] = s;")), (0, true));
    let conditional =
        "for j in 0..a { if j > b { s += k.load_vec::<4>(j * b)[0]; } s = warp.reduce(s, op::Plus); } out[i] = s;";
    assert_eq!(of(conditional).0, 0);
    let large = "s += warp.reduce(v[0] * v[1], op::Plus);".repeat(30);
    assert_eq!(of(&row(&large)), (0, true));
}

/// The array that a closure makes is filled by a loop, whose accesses are tested before it; a later loop over it is another one.
#[test]
fn arrays_that_closures_make() {
    let of = |body: &str| text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    let filled =
        of("let mut v: [u32; 4] = std::array::from_fn(|k| w[a + k]); for k in 0..4 { v[k] = v[k] + 1; } *r = v[0];");
    assert!(filled.contains("covers(w, a + values_of(steps))"), "{filled}");
    assert_eq!(filled.matches("for (auto k").count(), 3, "{filled}");
    // Two loops, of which one is inside.
    let rows =
        of("let v: [[u32; 2]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| w[a + 2 * i + j])); *r = v[0][1];");
    assert!(rows.contains("a + 2 * values_of(steps) + values_of(range(") && rows.contains("v[i][j] = "), "{rows}");
    // Two arrays in a tuple.
    let both = of(
        "let (v, u): ([u32; 2], [u32; 4]) = (std::array::from_fn(|k| w[a + k]), std::array::from_fn(|k| m[b + k])); *r = v[0] + u[1];",
    );
    assert!(both.contains("covers(w, ") && both.contains("covers(m, "), "{both}");
    // Its type stands with the function.
    let stated = of("*r = std::array::from_fn::<u32, 2, _>(|k| w[a + k])[0];");
    assert!(stated.contains("covers(w, a + values_of(steps))"), "{stated}");
    // What has no length in the text, a function makes.
    let whole = of("let v: [u32; 2 + 2] = std::array::from_fn(|k| w[a + k]); *r = v[0];");
    assert!(!whole.contains("covers"), "{whole}");
}

/// Loops in which functions get closures, whose own accesses keep their checks: it is not known how often they are called.
#[test]
fn loops_with_closures() {
    let test = "covers(m, values_of(steps)) && covers(w, values_of(steps))";
    hoists(
        "for i in 0..a { m[i] = helper(w[i], |x| x + 1); }",
        test,
        &[
            "m.get_unchecked(i) = <callee0>(w.get_unchecked(i), [&](auto x) __attribute__((always_inline)) { return x + 1; });",
        ],
    );
    hoists("for i in 0..a { let twice = |x: u32| 2 * x; m[i] = twice(w[i]); }", test, &[]);
    hoists(
        "for i in 0..a { m[i] = helper(|k| w[k] + w[i]); }",
        "covers(m, values_of(steps))",
        &["m.get_unchecked(i) = <callee0>([&](auto k) __attribute__((always_inline)) {"],
    );
    hoists(
        "let next = |x: u32| { let twice = 2 * x; twice + helper(x) }; for i in 0..a { m[i] = next(w[i]); }",
        test,
        &[],
    );
    hoists(
        "let next = |x: u32| { let twice = 2 * x; twice + 1 }; for i in 0..a { m[i] = helper(&next, w[i]); }",
        test,
        &[],
    );
    // What waits, is not printed twice, and neither is what may.
    checks_all("let now = |k: usize| { let at = k; m.atomic(at).load(Relaxed) }; for i in 0..a { m[i] = now(i); }");
    checks_all(
        "let now = |k: usize| { let at = k; m.atomic(at).load(Relaxed) }; for i in 0..a { m[i] = helper(now, i); }",
    );
    checks_all("for i in 0..a { m[i] = helper(|k| m.atomic(k).load(Relaxed)); }");
    let unknown =
        "#[device] fn subject(m: &mut [u32], f: impl Fn(u32) -> u32) { for i in 0..9 { m[i] = helper(&f, i) } }";
    assert!(!text(unknown, |_| None).contains("covers"));
}
