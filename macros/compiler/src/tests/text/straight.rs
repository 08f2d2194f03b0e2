//! Straight-line code whose bounds are tested before it: which accesses meet in a test, what ends a run, and where the
//! next one begins.

use super::text;

const MEMORY: &str = "m: &mut [u32], w: &[u32], rows: &[[u32; 8]], a: usize, b: usize, f: f32, r: &mut u32";

/// Returns the tests of a body's runs, in order, and its other statements.
#[track_caller]
fn printed(body: &str) -> (Vec<String>, Vec<String>) {
    let text = text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None).replace("<digits1>", "4");
    let (mut fronts, mut statements) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("require(").and_then(|line| line.strip_suffix(");")) {
            Some(test) => fronts.push(test.to_string()),
            None => statements.push(line.to_string()),
        }
    }
    (fronts, statements)
}

/// Asserts that the body has these tests.
#[track_caller]
fn fronts(body: &str, expected: &[&str]) {
    let (fronts, statements) = printed(body);
    assert_eq!(fronts, expected, "{statements:#?}");
}

/// Asserts that all accesses keep their checks.
#[track_caller]
fn checks_all(body: &str) {
    fronts(body, &[]);
}

#[test]
fn accesses_that_meet() {
    let (found, statements) = printed("let x = w[a]; m[b] = x + w[a + 1];");
    assert_eq!(found, ["within(w, a) & within(w, a + 1) & within(m, b)"]);
    let expected = ["auto x = w.get_unchecked(a);", "m.get_unchecked(b) = x + w.get_unchecked(a + 1);"];
    assert_eq!(statements[1..3], expected);
    // As in Rust, the value of an assignment is evaluated before its place.
    fronts("m[a] = w[b] + w[0];", &["within(w, b) & within(w, 0) & within(m, a)"]);
    // A load and a store are in the order of their checks anyway.
    checks_all("m[a] = w[b];");
    fronts("m[a] += w[b];", &["within(w, b) & within(m, a)"]);
    // A test that is there already is not repeated, and one alone stays where it is.
    fronts("m[a] = m[a] + m[b];", &["within(m, a) & within(m, b)"]);
    checks_all("m[a] = m[a] + 1;");
}

#[test]
fn vectors_and_rows() {
    fronts(
        "let v = w.load_vec::<4>(a); m.store_vec(b, v); *r = w[b];",
        &["vector_within<4>(w, a) & vector_within<4>(m, b) & within(w, b)"],
    );
    fronts(
        "*r = rows[a][b] + rows[a][a];",
        &[
            "within(rows, a) & within_row<decltype(rows.get_unchecked(0))>(b) & within_row<decltype(rows.get_unchecked(0))>(a)",
        ],
    );
    fronts(
        "let v = rows[a].load_vec::<4>(b); *r = w[a];",
        &["within(rows, a) & row_vector_within<4>(rows, a, b) & within(w, a)"],
    );
    // The compiler of CUDA C++ decides what is constant.
    checks_all("*r = w[0] + rows[0][1];");
}

#[test]
fn variables_of_the_run() {
    fronts(
        "*r = w[a]; let i = a + 1; let j = i * 2; *r += w[j - i];",
        &["within(w, a) & within(w, (a + 1) * 2 - (a + 1))"],
    );
    fronts("*r = w[a]; let i: usize = 3; *r += w[i * b];", &["within(w, a) & within(w, usize(3) * b)"]);
    fronts("*r = w[a]; let i = b.min(7) / 2 % 5; *r += w[i];", &["within(w, a) & within(w, min(b, 7) / 2 % 5)"]);
    // What the run changes is not known before it, so that the next run begins there.
    fronts("let mut i = a; *r = w[i]; i += 1; *r += w[i] + w[b];", &["within(w, i) & within(w, b)"]);
    fronts("let mut i = a; *r = w[i] + w[b]; i = b; *r += w[i];", &["within(w, i) & within(w, b)"]);
    fronts("let mut i = a; *r = w[b]; if f > 0.5 { i += 1; } *r += w[i];", &[]);
    fronts("let i; *r = w[a]; i = b; *r += w[i];", &[]);
    fronts(
        "let mut i = a; *r = w[b] + w[0]; advance(&mut i); *r += w[i] + w[0];",
        &["within(w, b) & within(w, 0)", "within(w, i) & within(w, 0)"],
    );
    // An index from memory keeps its check, and those before it meet.
    let (found, statements) = printed("*r = m[w[a] as usize] + w[b];");
    assert_eq!(found, Vec::<String>::new(), "{statements:#?}");
    fronts("*r = w[b] + m[w[a] as usize] + w[0];", &["within(w, b) & within(w, a)"]);
    fronts(
        "let (x, y) = (w[a] as usize, w[b] as usize); *r = m[x] + m[y];",
        &["within(w, a) & within(w, b)", "within(m, x) & within(m, y)"],
    );
}

/// A part is tested before the run as what is loaded of it is, unless its bounds are not known there.
#[test]
fn parts_of_memory() {
    fronts(
        "*r = w[a] + w[b]; let part = &w[a..]; *r += part[b];",
        &["within(w, a) & within(w, b) & from_within(w, a) & within(subslice_from_unchecked(w, a), b)"],
    );
    fronts(
        "let (first, second) = (&w[a..][..8], &w[b..a]); *r = first[a] + second[b];",
        &["from_within(w, a) & range_within(subslice_from_unchecked(w, a), 0, 8) & range_within(w, b, a) \
           & within(subslice_unchecked(subslice_from_unchecked(w, a), 0, 8), a) & within(subslice_unchecked(w, b, a), b)"],
    );
    fronts(
        "*r = w[a] + w[b]; let part = &w[..=a]; *r += part[a] + part[b];",
        &["within(w, a) & within(w, b)", "within(part, a) & within(part, b)"],
    );
    fronts(
        "let mut part = &w[a..]; *r = part[b] + w[b]; part = &w[b..]; *r += part[a] + part[b];",
        &[
            "from_within(w, a) & within(subslice_from_unchecked(w, a), b) & within(w, b) & from_within(w, b)",
            "within(part, a) & within(part, b)",
        ],
    );
    fronts("let part = &w[w[a] as usize..]; *r = part[a] + part[b];", &["within(part, a) & within(part, b)"]);
}

/// What lanes exchange is no exit, and the tests of a short loop behind it stand before it, too.
#[test]
fn loops_behind_what_lanes_exchange() {
    let warp = "let warp = tiled_partition::<32>(&this_thread_block());";
    let meets = |body: &str, test: &str| fronts(&format!("{warp} let x = warp.reduce(*r, op::Plus); {body}"), &[test]);
    meets("*r = x + w[a] + w[b];", "within(w, a) & within(w, b)");
    meets(
        "for k in 0..2 { m[a + k] = x * w[k]; }",
        "within(w, <slot0 0> + 0) & within(m, a + (<slot0 0> + 0)) \
         & within(w, <slot0 0> + 1) & within(m, a + (<slot0 0> + 1))",
    );
    meets(
        "let v = [1, 2, 3]; for k in 1..3 { *r += v[k] * w[2 * k]; }",
        "within(w, 2 * (<slot1 1> + 0)) & within(w, 2 * (<slot1 1> + 1))",
    );
    let ends = |body: &str| fronts(&format!("{warp} let x = warp.reduce(*r, op::Plus); {body}"), &[]);
    // Too many iterations, an element beyond the array, a variable of the loop that is not known, and what leaves the loop.
    ends("for k in 0..5 { m[a + k] = x * w[k]; }");
    ends("let v = [1, 2, 3]; for k in 1..4 { *r += v[k] * w[2 * k]; }");
    ends("let mut i = a; for k in 0..2 { m[k] = w[i]; i += b; }");
    ends("for k in 0..2 { if w[k] > 7 { break; } m[k] = x; }");
    // Without a place where threads meet, the loop has a test of its own.
    fronts("let x = *r; for k in 0..2 { m[a + k] = x * w[k]; }", &[]);
}

/// What closures make of arrays is no exit if they only compute.
#[test]
fn mapped_arrays() {
    let of = |closure: &str| format!("let v = [w[a], w[b]].map(|x| {closure}); *r = v[0] + v[1] + m[a] + m[b];");
    fronts(&of("x * 3"), &["within(w, a) & within(w, b) & within(m, a) & within(m, b)"]);
    fronts(&of("w[x as usize]"), &["within(w, a) & within(w, b)", "within(m, a) & within(m, b)"]);
}

#[test]
fn what_ends_a_run() {
    let ends = |between: &str| {
        fronts(
            &format!("*r = w[a] + w[b]; {between} *r += w[a + 1] + w[b + 1];"),
            &["within(w, a) & within(w, b)", "within(w, a + 1) & within(w, b + 1)"],
        );
    };
    ends("if f > 0.5 { return; }");
    ends("if f > 0.5 { panic!(); }");
    ends("if w[b] > 5 { *r += w[0]; }");
    ends("if f * f + f > 0.5 { *r += w[0]; }");
    ends("assert!(f > 0.5);");
    ends("println!(\"{f}\");");
    ends("let q = a / b;");
    ends("let q = f > 0.5 && a % b == 0;");
    ends("*r /= 3 - *r;");
    ends("advance(r);");
    ends("let q = f as usize; let p = q.wrapping_div(b);");
    ends("m.atomic(a).fetch_add(1, Relaxed);");
    ends("fence(Release, Scope::Device);");
    ends("let part = &w[..=a];");
    ends("let (left, right) = w.split_at(a);");
    ends("while *r < 4 { *r += 1; }");
    ends("for i in 0..a { *r += 1; }");
    ends("let token = this_thread_block().barrier_arrive(); this_thread_block().barrier_wait(token);");
    ends("this_grid().sync();");
    // Loops that may fail, or end nobody knows when, or are seen.
    ends("for i in 0..4 { *r /= 3 - *r; }");
    ends("for i in 0..4 { m[i] = *r; }");
    ends("for i in 0..4 { if *r > 7 { break; } *r += 1; }");
    ends("for i in 0..4 { advance(r); }");
    ends("for i in (0..4).rev() { *r += 1; }");
    ends("let v = [1u32, 2]; for i in 0..3 { *r += v[i]; }");
    ends("let v = [1u32, 2]; for i in 0..=2 { *r += v[i]; }");
    ends("let v = [0u32; 4]; for i in 0..4 { *r += v[i + 1]; }");
    ends("let v = [1u32, 2]; *r += v[a];");
    ends("let x = match a { 0 => w[7], _ => 1 };");
    ends("let Some(x) = Some(a) else { return };");
    ends("let mut n = 0; let mut g = |x: usize| { n += x; n }; g(a);");
}

#[test]
fn what_does_not_end_a_run() {
    let goes_on = |between: &str| {
        fronts(&format!("*r = w[a]; {between} *r += w[b];"), &["within(w, a) & within(w, b)"]);
    };
    goes_on("if f > 0.5 { *r += 1; } else { *r ^= 3; }");
    goes_on("let x = if f > 0.5 { a } else { b };");
    goes_on("let x = match a { 0 => 2, 1 | 2 => 4, _ => 1 };");
    goes_on("let g = |x: usize| w[x];");
    goes_on("let g = |x: usize| x + a; let y = g(b);");
    goes_on("let q = a / 8 + b % 3;");
    goes_on("*r /= 8;");
    goes_on("let (x, y) = (a + 1, b);");
    goes_on("let x = { let y = a; y + 1 };");
    goes_on("this_thread_block().sync();");
    goes_on("if f > 0.5 { this_thread_block().sync(); }");
    goes_on("for i in 0..4 { *r += 1; if *r > 7 { *r ^= i as u32; } }");
    goes_on("let v = [1u32, 2]; for i in 0..2 { *r += v[i]; }");
    goes_on("let v = [1u32, 2]; for x in &v { *r += x; }");
    goes_on("let (u, v) = ([1u32, 2], [3u32, 4]); *r += u.iter().zip(&v).map(|(x, y)| x * y).sum::<u32>();");
    goes_on("let u = [1u32, 2].map(|x| x + 1); for i in 0..2 { *r += u[i]; }");
    goes_on("let mut v = [0u32; 4]; for i in 0..=3 { for k in 0..2 { *r += 1; } v[i] = *r; }");
}

#[test]
fn loops_over_the_elements_of_a_vector() {
    let in_a_loop = |end: u32| format!("let v = w.load_vec::<4>(a); for i in 0..{end} {{ *r += v[i]; }} *r += w[b];");
    fronts(&in_a_loop(4), &["vector_within<4>(w, a) & within(w, b)"]);
    checks_all(&in_a_loop(5));
}

#[test]
fn tests_before_a_barrier() {
    // A run may begin with a barrier, though nothing is accessed before it.
    fronts("this_thread_block().sync(); *r = w[a] + w[b];", &["within(w, a) & within(w, b)"]);
    let (_, statements) = printed("this_thread_block().sync(); let i = a + 1; *r = w[i] + w[b];");
    assert_eq!(statements[1], "this_thread_block().sync();");
    // What is read behind it is not known before it.
    fronts("this_thread_block().sync(); let i = m[b] as usize; *r = w[i] + w[b];", &["within(w, i) & within(w, b)"]);
}

#[test]
fn blocks_inside() {
    fronts("if f > 0.5 { *r = w[a] + w[b]; }", &["within(w, a) & within(w, b)"]);
    fronts("while w[a] > *r { *r += w[b] + m[b]; }", &["within(w, b) & within(m, b)"]);
    fronts("*r = w[a] + unsafe { let x = w[b]; x };", &["within(w, a) & within(w, b)"]);
    fronts("let g = |x: usize| { let y = w[x]; y + w[x + 1] }; h(g);", &["within(w, x) & within(w, x + 1)"]);
    // The test of a loop is about its accesses, and its other copy has all checks.
    fronts("for i in 0..a { m[i] = w[i]; }", &[]);
    fronts("for i in 0..a { m[i] = w[(i * 3 - i) % b] + w[m[i] as usize]; }", &[]);
    fronts("for i in 0..a { this_thread_block().sync(); m[i] += w[i]; }", &["within(w, i) & within(m, i)"]);
    // The condition is evaluated before the arms, which are tested by themselves.
    fronts("if w[a] > w[b] { m[a] += m[b]; }", &["within(w, a) & within(w, b)", "within(m, b) & within(m, a)"]);
}

#[test]
fn arms_of_branches() {
    fronts("*r = w[b]; if a > 0 { *r += w[a - 1]; }", &["within(w, b) & when(a > 0, within(w, a - 1))"]);
    fronts(
        "let x = if a > 0 { w[a - 1] } else { w[b] }; m[a] = x;",
        &["when(a > 0, within(w, a - 1)) & when(!(a > 0), within(w, b)) & within(m, a)"],
    );
    fronts(
        "*r = w[a]; if a < b && w[a + 1] > 3 { *r += 1; } else { *r += 2; }",
        &["within(w, a) & when(a < b, within(w, a + 1))"],
    );
    fronts("if a > b || w[b] > 3 { *r += 1; } *r += m[a];", &["when(!(a > b), within(w, b)) & within(m, a)"]);
    fronts(
        "*r = w[a]; if a > 0 { *r += w[a - 1]; if b > a { *r += w[b - a] + w[b]; } }",
        &["within(w, a) & when(a > 0, within(w, a - 1)) & when(a > 0 & b > a, within(w, b - a) & within(w, b))"],
    );
    // A test that holds on all paths is not repeated for one.
    fronts("*r = w[a] + w[b]; if a > 0 { *r += w[a]; }", &["within(w, a) & within(w, b)"]);
    fronts("if a > 0 { *r += w[b]; } *r += w[b];", &["when(a > 0, within(w, b)) & within(w, b)"]);
    // What the run computes is known, unless it may be a float that is contracted.
    fronts(
        "*r = w[a]; let i = a + b; let inside = i > 3; if inside && !(i == b) { *r += w[i]; }",
        &["within(w, a) & when(a + b > 3 & !(a + b == b), within(w, a + b))"],
    );
    fronts("*r = w[b]; if f > -0.5 { *r += w[a]; }", &["within(w, b) & when(f > -<slot0 0.5>, within(w, a))"]);
    checks_all("*r = w[b]; let g = f * f; if g > 0.5 { *r += w[a]; }");
    // What a reference refers to changes where it is not named.
    checks_all("let mut i = a; let to = &mut i; *r = w[b]; *to += 1; *r += w[i];");
    // What an arm changes is known on no path after it.
    checks_all("let mut i = a; *r = w[b]; if a > 3 { i += 1; } *r += w[i];");
    fronts(
        "let mut i = a; *r = w[b]; if a > 3 { *r += w[i]; i += 1; *r += w[i]; }",
        &["within(w, b) & when(a > 3, within(w, i))"],
    );
    // An arm by itself is a run of its own, and so is what a pattern binds.
    fronts("if a > 3 { *r += w[a] + w[b]; }", &["within(w, a) & within(w, b)"]);
    fronts(
        "*r = w[a]; if let Some(x) = Some(b) { *r += w[x] + w[x + 1]; } *r += w[b];",
        &["within(w, x) & within(w, x + 1)"],
    );
    fronts(
        "*r = w[a] + w[b]; match a { 0 => *r += m[b] + m[a], _ => {} }",
        &["within(w, a) & within(w, b)", "within(m, b) & within(m, a)"],
    );
    // What is tested anyway needs no test on an arm whose condition is not known, and what is not ends the run there.
    let (found, statements) = printed("if w[a] > m[b] { m[b] = w[a]; m[a] = 1; }");
    assert_eq!(found, ["within(w, a) & within(m, b)"]);
    assert!(statements.contains(&"m.get_unchecked(b) = w.get_unchecked(a);".into()), "{statements:#?}");
    assert!(statements.contains(&"m[a] = 1;".into()), "{statements:#?}");
    // What leaves the run on an arm ends it there.
    fronts("*r = w[a]; if a > 3 { *r += w[b]; return; } *r += w[b];", &["within(w, a) & when(a > 3, within(w, b))"]);
}

#[test]
fn variables_that_are_integers() {
    let known = |head: &str, condition: &str| {
        let (found, statements) = printed(&format!("{head} *r = w[a]; if {condition} {{ *r += w[b]; }}"));
        assert!(found.len() == 1 && found[0].contains("when("), "{found:?} {statements:#?}");
    };
    known("", "a * b + a > b");
    known("let s = a * 2;", "s * s > s");
    known("let s = this_thread_block().thread_rank();", "s * s > s");
    known("let s = f as u32;", "s + s * s > s");
    known("let s = *r; let t = s % 32;", "s * t > s");
    known("for s in 0..*r { m[0] = s * s; }", "a * b != b");
    known("let s: u32 = *r;", "s * s > s");
    known("", "a.min(b) > 3");
    let unknown = |head: &str, condition: &str| {
        checks_all(&format!("{head} *r = w[a]; if {condition} {{ *r += w[b]; }}"));
    };
    unknown("", "f * f > f");
    unknown("let s = f;", "s * 2.0 + s > f");
    unknown("let g = |x: f32| x * 2.0 + f;", "g(f) > f");
    unknown("let s = (f, f);", "s.0 * s.1 > f");
    unknown("", "f.to_degrees() > f");
}

#[test]
fn a_cast_of_arithmetic_in_a_device_function() {
    // The operand may be a float, whose second evaluation may be contracted and differ.
    checks_all("*r = w[(f * 2.0 + f) as usize] + w[a];");
    checks_all("let g = f * 2.0; *r = w[a]; let h = g; *r += w[(h + 1.0) as usize];");
    fronts("*r = w[f as usize] + w[a];", &["within(w, as<usize>(f)) & within(w, a)"]);
}

#[test]
fn accesses_of_closures() {
    let (found, statements) = printed("let at = |x: usize| w[x + b]; *r = at(a) + at(a + 1) + at(7) + at(7) + w[a];");
    let tests = "within(w, usize(a) + b) & within(w, usize(a + 1) + b) & within(w, usize(7) + b) & within(w, a)";
    assert_eq!(found, [tests], "{statements:#?}");
    let closure = |name: &str, value: &str| {
        let line = format!("auto {name} = [&](usize x) __attribute__((always_inline)) {{ return {value}; }};");
        assert!(statements.contains(&line), "{line}: {statements:#?}");
    };
    closure("at", "w[x + b]");
    closure("at_within", "w.get_unchecked(x + b)");
    let calls = statements.iter().filter(|line| line.contains("at_within(")).count();
    assert!(calls >= 1 && !statements.iter().any(|line| line.contains(" at(")), "{statements:#?}");
    // Its variables, at each call.
    fronts(
        "let at = |x: usize| { let y = x.min(b); w[y] }; *r = at(a) + at(b);",
        &["within(w, min(usize(a), b)) & within(w, min(usize(b), b))"],
    );
    // A closure that is made in the run captures what is not declared before it, and a run begins after it.
    fronts(
        "*r = w[a] + w[b]; let n = a + b; let at = |x: usize| w[x + n]; *r += at(a) + at(b);",
        &["within(w, a) & within(w, b)", "within(w, usize(a) + n) & within(w, usize(b) + n)"],
    );
    // A call after the run is another one.
    let (_, statements) =
        printed("let at = |x: usize| w[x]; *r = at(a) + at(b); fence(Release, Scope::Device); *r = at(a);");
    assert_eq!(statements.iter().filter(|line| line.contains("= at(")).count(), 1, "{statements:#?}");
}

/// A closure that only computes is called in the test, with the values of what the run declares.
#[test]
fn indexes_of_closures() {
    fronts(
        "let at = |x: usize, y: usize| y * 8 + x; *r = w[a]; let k = a + 1; *r += w[at(k, b)];",
        &["within(w, a) & within(w, at(a + 1, b))"],
    );
}

#[test]
fn closures_that_keep_their_checks() {
    checks_all("let mut n = 0; let mut at = |x: usize| { n += 1; w[x + n] }; *r = at(a) + at(b);");
    checks_all("let n = a; let at = move |x: usize| w[x + n]; *r = at(a) + at(b);");
    checks_all("let at = |x: usize| w[w[x] as usize / b]; *r = at(a) + at(b);");
}

#[test]
fn divisions_of_floats() {
    let floats = "v: &[f32], o: &mut [f32], a: usize, b: usize, s: f32";
    let tests = |body: &str| {
        let text = text(&format!("#[device] fn subject({floats}) {{ {body} }}"), |_| None);
        text.lines()
            .filter(|line| line.trim().starts_with("require("))
            .map(|line| line.trim().to_string())
            .collect::<Vec<_>>()
    };
    let all = ["require(within(v, a) & within(v, b) & within(o, a));"];
    assert_eq!(tests("o[a] = (v[a] + v[b]) / 2.0;"), all);
    assert_eq!(tests("o[a] = v[a] / v[b];"), all);
    assert_eq!(tests("let x = v[a]; let mut y = x; y /= s; o[a] = y + v[b];"), all);
    assert_eq!(tests("o[a] = (v[a].to_bits() / v[b].to_bits()) as f32;"), ["require(within(v, a) & within(v, b));"]);
}

#[test]
fn what_may_fail_in_every_launch_or_none() {
    // The bounds of a `clamp` are tested with the accesses, in their order.
    let (found, statements) = printed("let x = w[a]; m[b] = x + w[(a + 1).clamp(2, b)] + w[(b + 1).clamp(2, b)];");
    let expected = "within(w, a) & ordered(2, b) & within(w, clamped(a + 1, 2, b)) & within(w, clamped(b + 1, 2, b)) & within(m, b)";
    assert_eq!(found, [expected]);
    assert!(statements.iter().any(|line| line.contains("w.get_unchecked(clamped(a + 1, 2, b))")), "{statements:#?}");
    // A constant may be 0, which the division finds.
    let (found, statements) = printed("const N: usize = 4; let x = w[a / N]; m[b] = x + w[a % N];");
    assert_eq!(found, ["within(w, constant_quotient(a, N)) & within(w, constant_remainder(a, N)) & within(m, b)"]);
    assert!(statements.iter().any(|line| line.contains("w.get_unchecked(a / N)")), "{statements:#?}");
    // A variable may be, too, and bounds that are loaded are not known.
    checks_all("let x = w[a / b]; m[b] = x + w[a % b];");
    fronts("m[a] = w[a] + w[(a + 1).clamp(2, w[b] as usize)];", &["within(w, a) & within(w, b)"]);
}

#[test]
fn the_first_element_of_a_stage() {
    let of = |index: &str| printed(&format!("let g = |x: usize| x + w[x] as usize; m[{index}] = 1;")).1.join(" ");
    let rewritten = "m[2 * (a & !(a & b - 1)) + (a & b - 1)]";
    assert!(of("2 * a - (a & (b - 1))").contains(rewritten), "{}", of("2 * a - (a & (b - 1))"));
    assert!(of("a * 2 - (a & (b - 1))").contains(rewritten));
    // Another factor, another variable, and what must not be evaluated once more.
    for index in [
        "3 * a - (a & (b - 1))",
        "2 * a - (b & (a - 1))",
        "2 * a - (a & g(b))",
        "2 * w[0] as usize - (w[0] as usize & b)",
    ] {
        assert!(!of(index).contains('!'), "{}", of(index));
    }
}
