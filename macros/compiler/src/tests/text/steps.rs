//! The tests before loops of variables that a statement of the body moves on.

use super::bounds::{checks_all, hoists};

#[test]
fn variables_that_change_by_a_step() {
    let hoists = |body: &str, test: &str| hoists(body, test, &[]);
    hoists(
        "let mut at = b; for _ in 0..a { *r += w[at + 1]; at += b; *r += w[at]; }",
        "covers(w, increased(at, b, steps) + 1) && covers(w, increased(at + b, b, steps))",
    );
    hoists("let mut at = b; for _ in 0..a { at -= 4; m[at] = 1; }", "covers(m, decreased(at - 4, 4, steps))");
    hoists("let mut at = b; for _ in 0..a { m[at] = 1; at = at + a; }", "covers(m, increased(at, a, steps))");
    hoists("let mut at = b; for _ in 0..a { m[at] = 1; at = 2 + at; }", "covers(m, increased(at, 2, steps))");
    // A variable has the value that it has where it is bound.
    hoists("let mut at = b; for _ in 0..a { let k = at; at += 1; m[k] = 1; }", "covers(m, increased(at, 1, steps))");
    hoists(
        "let mut at = b; for _ in 0..a { for j in 0..b { m[at * 8 + j] = 1; } at += 1; }",
        "covers(m, increased(at, 1, steps) * 8 + values_of(range(0, b)))",
    );
    // It changes in another way, too, or together with the loop's variable.
    checks_all("let mut at = b; for _ in 0..a { m[at] = 1; at += 1; at += 1; }");
    checks_all("let mut at = b; for i in 0..a { m[at] = 1; at *= 2; }");
    checks_all("let mut at = b; for i in 0..a { m[at] = 1; at = a - at; }");
    checks_all("let mut at = b; for i in 0..a { m[at - i] = 1; at += 2; }");
    checks_all("let mut at = b; let mut n = 1; for i in 0..a { m[at] = 1; at += n; n += at; }");
    checks_all("let mut at = b; for i in 0..a { m[at] = 1; at += 1; advance(&mut at); }");
    checks_all("let mut at = 1.0; for i in 0..a { m[at as usize] = 1; at += 1.0; }");
}

/// Variables that count what is kept.
#[test]
fn variables_that_change_in_some_iterations() {
    let hoists = |body: &str, test: &str| hoists(body, test, &[]);
    hoists("let mut at = b; for i in 0..a { m[at] = 1; if i > 3 { at += 1; } }", "covers(m, increased(at, 1, steps))");
    // In the statement that changes it, the access may come behind that.
    hoists(
        "let mut at = b; for i in 0..a { if w[i] < 7 { m[at] = w[i]; at += 1; } }",
        "covers(w, values_of(steps)) && covers(m, increased_at_most(at, 1, steps))",
    );
    hoists(
        "let mut p = a; let mut q = b; for _ in 0..a { if *r > 3 { *r += m[p]; p += 1; } else { *r += w[q]; q -= 2; } }",
        "covers(m, increased_at_most(p, 1, steps)) && covers(w, decreased_at_most(q, 2, steps))",
    );
    // A truth value is a step of one or none.
    hoists(
        "let mut at = b; for i in 0..a { let keeps = w[i] < 7; m[at] = 1; at += keeps as usize; *r += m[at]; }",
        "covers(w, values_of(steps)) && covers(m, increased(at, 1, steps)) && covers(m, increased_at_most(at, 1, steps))",
    );
    // The condition before an access is about the value that it has there.
    hoists(
        "let mut q = a; for i in 0..b { if q < 9 { *r += m[q]; } let moves = *r > i; q += moves as usize; }",
        "covers(m, confined(increased(q, 1, steps), less_than(9)))",
    );
    hoists(
        "let mut p = a; let mut q = b; for _ in 0..8 { let is_p = q >= 9 || p < 7 && m[p] <= w[q]; p += is_p as usize; q += !is_p as usize; }",
        "covers(m, confined(increased(p, 1, steps), less_than(7))) && covers(w, confined(increased(q, 1, steps), less_than(9)))",
    );
    hoists(
        "let mut q = a; for _ in 0..b { if q < 9 { *r += m[q]; } q += 2; }",
        "covers(m, confined(increased(q, 2, steps), less_than(9)))",
    );
    // It has changed since.
    hoists(
        "let mut q = a; for _ in 0..b { if q < 9 { q += 1; *r += m[q]; } }",
        "covers(m, increased_at_most(q, 1, steps))",
    );
    checks_all("let mut q = a; for i in 0..b { let fits = q < 9; q += 1; if fits { *r += m[q]; } }");
    checks_all("let mut at = b; for i in 0..a { if i > 3 { m[at] = 1; at += 1; } else { at += 2; } }");
    checks_all("let mut at = b; for i in 0..a { if i > 3 { for _ in 0..b { at += 1; } m[at] = 1; } }");
    // The steps before may be those of other conditions than the access.
    hoists(
        "let mut at = b; for i in 0..a { if i > 3 { m[at] = 1; at += i; } }",
        "covers(m, increased_at_most(at, values_of(steps), steps))",
    );
    hoists(
        "let mut at = b; for i in 0..a { if i < 3 { m[at] = 1; } at += i; }",
        "covers(m, increased(at, values_of(steps), steps))",
    );
}
