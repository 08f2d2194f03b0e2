//! Loops over the neighbours of a cell: one test of the box around them, and indexes whose conversions come before their sums.

use super::bounds::tested;

const CELLS: &str = "m: &mut [u32], w: &[u32], x: u32, y: u32, nx: u32, i: usize, n: usize, d: i32";

/// Returns the test of a loop, and the first statement of the loop without checks.
#[track_caller]
fn of(body: &str) -> (String, String) {
    let (test, statements) = tested(CELLS, body);
    (test, statements.into_iter().next().unwrap_or_default())
}

#[track_caller]
fn prints(body: &str, statement: &str) {
    assert_eq!(of(body).1, statement, "{body}");
}

#[test]
fn one_test_of_a_box() {
    let at = |x: &str, y: &str| format!("covers(w, as<usize>({y}) * as<usize>(nx) + as<usize>({x}))");
    let (left, right, down) = ("x - values_of(steps)", "x + values_of(steps)", "y + values_of(steps)");
    let whole = at(&format!("hull({left}, {right}, x)"), &format!("hull(y, {down})"));
    let each = [at(left, "y"), at(right, "y"), at("x", down)].join(" && ");
    let body = "let at = |x: u32, y: u32| y as usize * nx as usize + x as usize;
                for r in 1..5 { m[0] = w[at(x - r, y)] + w[at(x + r, y)] + w[at(x, y + r)]; }";
    assert_eq!(of(body).0, format!("covers(m, values_of(0)) && ({whole} || {each})"));
}

#[test]
fn what_has_no_box() {
    for body in [
        // Two tests cost no more than those of a box and of both.
        "for r in 0..4 { m[0] = w[r * n + i] + w[i * n + r]; }",
        // Nothing is around the terms.
        "for r in 0..4 { m[0] = w[i - r] + w[i + r * n] + w[r * i]; }",
        // Of different memory.
        "for r in 0..4 { m[(i - r) * n] = w[(i + r) * n] + w[i * n]; }",
    ] {
        assert!(!of(body).0.contains("hull"), "{body}: {}", of(body).0);
    }
}

#[test]
fn literals_have_the_type_of_the_others() {
    let (test, _) = of("for r in 0..4 { m[0] = w[(i + r) * n + 1] + w[(i - r) * n + 2] + w[i * n + 3]; }");
    assert!(!test.contains("hull(1"), "{test}");
}

#[test]
fn conversions_before_sums() {
    prints(
        "for r in 1..5 { m[0] = w[(y - r) as usize * n + x as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked((as<usize>(y) - as<usize>(r)) * n + as<usize>(x));",
    );
    prints(
        "let at = |x: u32, y: u32| y as usize * n + x as usize; for r in 1..5 { m[0] = w[at(x + r + 2, y)]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(y) * n + (as<usize>(x) + as<usize>(r) + 2));",
    );
    prints(
        "for r in -2..=2 { m[0] = w[(d + r) as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(d) + as<usize>(r));",
    );
    // Of a product in a sum, the test does not know whether it has wrapped before.
    prints(
        "for r in 1..5 { m[0] = w[(r * 4 + x) as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(r * 4 + x));",
    );
    // What does not change is one value.
    prints(
        "for r in 1..5 { m[0] = w[(x * y + r) as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(x * y) + as<usize>(r));",
    );
    // A narrow conversion may wrap.
    prints(
        "for r in 1..5 { m[0] = w[((n as u32 + x) as u16 + r) as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(as<u16>(as<u32>(n) + x)) + as<usize>(r));",
    );
    prints(
        "for r in 1..5usize { m[0] = w[(r as u32 + x) as usize]; }",
        "m.get_unchecked(0) = w.get_unchecked(as<usize>(as<u32>(r) + x));",
    );
    // The compiler does not unroll the loop.
    prints("for r in 1..x { m[0] = w[(y + r) as usize]; }", "m.get_unchecked(0) = w.get_unchecked(as<usize>(y + r));");
}
