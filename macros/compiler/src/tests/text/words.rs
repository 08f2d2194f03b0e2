//! Tests of what the host has to know of operations on words, and of accesses of vectors, before a launch.

use proc_macro2::{TokenStream, TokenTree};

use super::super::{errors, expand};
use super::at_launch::{KERNEL, WORDS, all_checks, checks, infix};
use super::{list, text};

/// Returns the numbers in a body that are to be words.
#[track_caller]
fn words(body: &str) -> Vec<String> {
    let all = all_checks(&format!("{KERNEL} {{ {body} }}"));
    let words = all.iter().filter_map(|check| check.strip_suffix(WORDS));
    words.map(|number| number.trim_end().to_string()).collect()
}

#[track_caller]
fn has(body: &str, expected: &[&str]) {
    assert_eq!(words(body), expected, "{body}");
}

#[track_caller]
fn has_none(body: &str) {
    has(body, &[]);
}

#[test]
fn operations_on_words() {
    has("let (a, b) = (n * 4, w); out[a / b % n] = 1.0;", &["max((p2 * 4), p3)", "max(div((p2 * 4), p3), p2)"]);
    // A constant is multiplied by its inverse, of 64 bits if the other operand may have so many.
    has_none("out[n / 8 + n / 3] = 1.0;");
    has("out[n * w / 3 + n * w / 4] = 1.0;", &["max((p2 * p3), 3)"]);
    // A product of words is known to be one; of a product with another number it is not.
    has_none("out[n * w] = 1.0; out[(n + 1) * w] = 1.0;");
    has("out[(n * w + 1) * n] = 1.0;", &["max(((p2 * p3) + 1), p2)"]);
    has("let plane = n * w; out[plane * w] = 1.0;", &["max((p2 * p3), p3)"]);
    // A loop steps by the product instead.
    has_none("for k in 0..n { out[(k * n + w) * n] = 1.0; }");
    has("out[n.min(w)] = x[n.max(w).saturating_sub(1)];", &["max(p2, p3)", "max(max(p2, p3), 1)"]);
    has("out[n.clamp(1, w)] = 1.0;", &["max(max(p2, 1), p3)"]);
    has("let rank = this_thread_block().thread_rank(); out[rank.min(7) as usize] = 1.0;", &[]);
    // Of a conversion, it is the integer. What is converted of a parameter is known.
    has_none("out[0] = n as f32;");
    has("out[0] = (n * w + 1) as f32;", &["((p2 * p3) + 1)"]);
    has("let k = x[n].max(0.0).min(5.0) as usize; out[k] = 1.0;", &["T(min(max(?, 0.0), 5.0))"]);
    has_none("out[0] = x[n] as f32 / x[w]; out[1] = (x[n] * x[w]) * x[0];");
    let text = text(&format!("{KERNEL} {{ let k = n / w; out[0] = k as f32; }}"), |kind| {
        (kind == "AtLaunch").then(String::new)
    });
    assert!(text.contains("word_at_launch<0>(n) / w"), "{text}");
}

#[test]
fn comparisons_in_loops_are_of_words() {
    has_none("if n < w { out[0] = 1.0; }");
    has("for k in 0..4 { if n != w { out[k] = 1.0; } }", &["max(p2, p3)"]);
    // The compiler unrolls a loop by its own condition.
    has(
        "let mut k = 0; while k < n { if k + 1 < w { out[k] = 1.0; } k += 1; }",
        &["max((((? + 1) or 0){<p2} + 1), p3)"],
    );
    has("let mut k = n; while w > 0 { loop { if n == w { break; } } }", &["max(p2, p3)"]);
}

#[test]
fn remainders_of_little_more_than_the_divisor() {
    let twice = |body: &str| {
        let all = all_checks(&format!("{KERNEL} {{ {body} }}"));
        all.into_iter().filter(|check| check.contains("< (2 * ")).collect::<Vec<String>>()
    };
    assert_eq!(twice("out[(n + 1) % w] = 1.0;"), ["(p2 + 1) < (2 * p3)"]);
    let rank = "let block = this_thread_block();";
    assert_eq!(
        twice(&format!("{rank} out[((block.thread_rank() + 1) % block.num_threads()) as usize] = 1.0;")),
        ["(RankInBlock + 1) < (2 * ThreadsOfBlock)"]
    );
    assert!(
        twice("out[n % w] = 1.0; out[(n + 1) % 7] = 1.0; out[(n * w) % w] = 1.0; out[0] = (x[0] + 1.0) % x[1];")
            .is_empty()
    );
    let text = text(&format!("{KERNEL} {{ out[(n + 1) % w] = 1.0; }}"), |kind| (kind == "AtLaunch").then(String::new));
    assert!(text.contains("once_at_launch<1>(word_at_launch<0>((n + 1))) % w"), "{text}");
}

#[test]
fn indexes_without_neighbours() {
    let is_word = |body: &str| {
        let text = text(&format!("{KERNEL} {{ {body} }}"), |kind| (kind == "AtLaunch").then(String::new));
        text.contains("scattered_at_launch<") || text.contains("word_of(")
    };
    let cell = "let (i, j) = (x[0].clamp(0.0, 9.0) as usize, n.min(9));";
    for body in [
        "out[0] = x[i * w + j];",
        "let row = j * w; out[0] = x[row + i] + out[row + i];",
        // The loads of a run that is tested before it.
        "let next = (i + 1).min(9); out[0] = x[i * w + j] + x[next * w + j];",
        "let at = |i: usize, j: usize| x[i * w + j]; out[0] = at(i, j) + at(i, (j + 1).min(9));",
    ] {
        assert!(is_word(&format!("{cell} {body}")), "{body}");
    }
    for body in [
        "out[0] = x[i + j];",
        "out[0] = x[n * w + 9];",
        "out[0] = x[i * w + j] + x[i * w + j + 1];",
        "out[0] = x[i * 3 + j];",
        "for k in 0..9 { out[k] = x[i * w + k]; }",
        "for k in 0..9 { out[k] = x[k * w + i]; }",
        "let at = |i: usize, j: usize| x[i * w + j]; out[0] = at(i, j) + at(i, j + 1);",
        "let at = |i: usize, j: usize| x[i * w + j]; out[0] = at(i, j) + at(n, w);",
    ] {
        assert!(!is_word(&format!("{cell} {body}")), "{body}");
    }
}

/// Returns what is to be aligned of each access of a vector: the element with which it begins, counted from an address, and the lanes.
#[track_caller]
fn vectors(source: &str) -> Vec<String> {
    let expansion = expand(source);
    assert!(errors(&expansion).is_empty(), "{:#?}", errors(&expansion));
    let of_check = |check: Vec<TokenTree>| {
        let [.., TokenTree::Group(fields)] = &check[..] else { return None };
        let TokenTree::Group(vector) = inside_some(fields.stream())? else { return None };
        let of = |name| list(vector.stream(), name).filter(|terms| terms.iter().any(|term| !term.is_empty()));
        let [element, lanes] = ["element", "lanes"].map(|name| infix(of(name).unwrap()));
        let start = of("start").map_or("array".into(), infix);
        Some(format!("{start}[{element}], {lanes}"))
    };
    list(expansion, "checks").unwrap().into_iter().filter_map(of_check).collect()
}

/// Returns the fields of the struct in `vector: Some(VectorCheck { .. })`.
fn inside_some(fields: TokenStream) -> Option<TokenTree> {
    fields.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.stream().to_string().starts_with("VectorCheck") => {
            group.stream().into_iter().nth(1)
        }
        _ => None,
    })
}

#[test]
fn accesses_of_vectors() {
    let has = |body: &str, checked: &[&str], aligned: &[&str]| {
        let source = format!("{KERNEL} {{ {body} }}");
        assert_eq!(
            (&checks(&source)[..], &vectors(&source)[..]),
            (&strings(checked)[..], &strings(aligned)[..]),
            "{body}"
        );
    };
    has(
        "out.store_vec(4 * n, x.load_vec::<4>(w * 8));",
        &["end((p3 * 8), C0) <= len0", "end((4 * p2), C0) <= len1"],
        &["address0[(0 + (p3 * 8))], C0", "address1[(0 + (4 * p2))], C0"],
    );
    has(
        "let part = &x[n * 4..]; let v = part.load_vec::<2>(w); out[0] = v[0];",
        &["(p2 * 4) <= len0", "end(p3, C0) <= (len0 - (p2 * 4))", "0 < len1"],
        &["address0[((0 + (p2 * 4)) + p3)], C0"],
    );
    has(
        "let b = this_thread_block(); let t = shared_array::<[f32; 64], 8>(); if b.thread_rank() < 8 { t[b.thread_rank()][w] = 0.0; } b.sync();
        let mut v = t[n].load_vec::<4>(w); v[0] = 1.0; out.store_vec(n, v);",
        &["RankInBlock{<8} < C1", "p3 < C0", "p2 < C1", "end(p3, C2) <= C0", "end(p2, C2) <= len1"],
        &["array[(((0 + p2) * C0) + p3)], C2", "address1[(0 + p2)], C2"],
    );
    // Each of the numbers of a range is a multiple of what its start and its step are multiples of.
    let stepped = "stepped((0..64), or(0, 4))";
    has(
        "for k in (0..64).step_by(4) { out.store_vec(k, f32x4([0.0; 4])); }",
        &[&format!("end({stepped}, lanes5) <= len1")],
        &[&format!("address1[(0 + {stepped})], lanes5")],
    );
    // Backwards, they are those of its end.
    has(
        "for k in (0..64).rev().step_by(4) { out.store_vec(k, f32x4([0.0; 4])); }",
        &["end((0..64), lanes5) <= len1"],
        &["address1[(0 + (0..64))], lanes5"],
    );
    // A long loop keeps its test.
    has("for k in n..w { out.store_vec(4 * k, f32x4([0.0; 4])); }", &[], &[]);
}

fn strings(of: &[&str]) -> Vec<String> {
    of.iter().map(|text| text.to_string()).collect()
}

#[test]
fn words_in_memory() {
    let source = "#[cluster_kernel] fn k(x: &[u32], y: &[u64], out: &mut [f32], w: usize) {
        out[x[0] as usize / w] = 1.0;
        out[y[0] as usize / w] = 1.0;
    }";
    let words = all_checks(source).into_iter().filter(|check| check.ends_with(WORDS)).count();
    assert_eq!(words, 1, "{:?}", all_checks(source));
}

/// What is computed before a loop may be outside of what its accesses are.
#[test]
fn tests_before_loops_are_no_operations_on_words() {
    let source = format!(
        "{KERNEL} {{ let plane = n * w; for k in 0..w {{ if k < n {{ out[plane * n + k] = x[plane * n + k]; }} }} }}"
    );
    let text = text(&source, |kind| (kind == "AtLaunch").then(String::new));
    let (test, rest) = text.split_once("for (").unwrap();
    assert!(!test.contains("word_at_launch") && rest.contains("word_at_launch"), "{text}");
}
