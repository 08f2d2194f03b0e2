//! Tests of what the host checks before a launch: the indexes and the lengths as expressions of the parameters and the launch. `a..b` is a number
//! from `a` to `b`, `x{<n}` one that is less than `n`, `x{+k<n}` one whose sum with `k` is, `x{_ % 2 == 0}` one of which a condition holds, and `?` one
//! of which nothing is known.

use proc_macro2::{TokenStream, TokenTree};

use super::super::{errors, expand};
use super::{list, text};

/// Returns the checks of a function's accesses, each as `index < length`, or as `end <= length`.
#[track_caller]
pub(super) fn checks(source: &str) -> Vec<String> {
    all_checks(source).into_iter().filter(|check| !check.ends_with(WORDS)).collect()
}

/// What a number is less than if it is a word.
pub(super) const WORDS: &str = "< 4294967296";

#[track_caller]
pub(super) fn all_checks(source: &str) -> Vec<String> {
    let expansion = expand(source);
    assert!(errors(&expansion).is_empty(), "{:#?}", errors(&expansion));
    let of_check = |check: &Vec<TokenTree>| {
        let [.., TokenTree::Group(fields)] = &check[..] else { panic!("{check:?}") };
        let [index, length] = ["index", "length"].map(|name| infix(list(fields.stream(), name).unwrap()));
        let is_end = fields.stream().to_string().contains("is_end : true");
        format!("{index} {} {length}", if is_end { "<=" } else { "<" })
    };
    let found = list(expansion, "checks").unwrap();
    found.iter().filter(|check| !check.is_empty()).map(of_check).collect()
}

/// Returns the names in a list of them, each behind a dot.
fn dotted(path: &str) -> String {
    let names = path.trim_matches(['&', '[', ']']).split(',').filter(|name| !name.is_empty());
    names.map(|name| format!(".{}", name.trim_matches('"'))).collect()
}

/// Returns terms in postfix order as an expression.
pub(super) fn infix(terms: Vec<Vec<TokenTree>>) -> String {
    let mut stack: Vec<String> = Vec::new();
    for term in terms {
        let text: String = term.iter().cloned().collect::<TokenStream>().to_string().replace(' ', "");
        let (name, inside) = text.strip_prefix("Term::").unwrap().split_once('(').unwrap_or((&text[6..], ")"));
        let inside = inside.strip_suffix(')').unwrap();
        let number = |digits: &str| digits.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '8').to_string();
        let last = |stack: &mut Vec<String>| stack.pop().unwrap();
        let symbol = |name: &str| match name {
            "Less" => "<",
            "LessOrEqual" => "<=",
            "Greater" => ">",
            "GreaterOrEqual" => ">=",
            "Equal" => "==",
            _ => "!=",
        };
        let value = match name {
            "Literal" | "Suffixed" | "Typed" => inside.split("i64").next().unwrap().into(),
            "Constant" => format!("C{}", inside.trim_end_matches("u16")),
            "Parameter" => format!("p{}", number(inside).trim_end_matches('u')),
            "Length" => format!("len{}", number(inside).trim_end_matches('u')),
            "Start" => format!("address{}", number(inside).trim_end_matches('u')),
            "Lanes" => format!("lanes{}", inside.trim_end_matches("u16")),
            "Launch" => inside.trim_start_matches("LaunchValue::").replace("u8", ""),
            "OfClosure" => format!("closure({})", inside.replace("u8", "")),
            "OfPassedClosure" => format!("passed({})", inside.replace("u16", "").replace("u8", "")),
            "Field" => {
                let (index, path) = inside.split_once(',').unwrap();
                format!("p{}{}", number(index).trim_end_matches('u'), dotted(path))
            }
            "Float" | "SuffixedFloat" | "TypedFloat" => inside.split('"').nth(1).unwrap().into(),
            "Rounded" => {
                let name = inside.trim_start_matches("Rounded::").to_lowercase();
                format!("{name}({})", last(&mut stack))
            }
            "Result" => {
                let (slot, path) = inside.split_once(',').unwrap();
                format!("result({}){}", slot.trim_end_matches("u16"), dotted(path))
            }
            "Unknown" => "?".into(),
            "AnyOf" | "AnyIn" => format!("any({})", inside.trim_end_matches("u16")),
            "Cast" => format!("T({})", last(&mut stack)),
            "Clamp" => {
                let (most, least) = (last(&mut stack), last(&mut stack));
                format!("{}.clamp({least}, {most})", last(&mut stack))
            }
            "Limit" => {
                let bound = last(&mut stack);
                format!("{}{{{}{bound}}}", last(&mut stack), symbol(inside.trim_start_matches("Comparison::")))
            }
            "LimitOfSum" => {
                let (bound, term) = (last(&mut stack), last(&mut stack));
                format!("{}{{+{term}{}{bound}}}", last(&mut stack), symbol(inside.trim_start_matches("Comparison::")))
            }
            "Condition" => continue,
            "Conditioned" => "_".into(),
            "LimitByCondition" => {
                let (bound, side) = (last(&mut stack), last(&mut stack));
                let comparison = symbol(inside.trim_start_matches("Comparison::"));
                format!("{}{{{side} {comparison} {bound}}}", last(&mut stack))
            }
            "Operation" => {
                let (second, first) = (last(&mut stack), last(&mut stack));
                match inside.trim_start_matches("Operation::") {
                    "Add" => format!("({first} + {second})"),
                    "Sub" => format!("({first} - {second})"),
                    "Mul" => format!("({first} * {second})"),
                    "Range" => format!("({first}..{second})"),
                    "RangeInclusive" => format!("({first}..={second})"),
                    "Either" => format!("({first} or {second})"),
                    other => format!("{}({first}, {second})", other.to_lowercase()),
                }
            }
            other => panic!("{other}"),
        };
        stack.push(value);
    }
    assert_eq!(stack.len(), 1, "{stack:?}");
    stack.pop().unwrap()
}

pub(super) const KERNEL: &str = "#[cluster_kernel] fn k(x: &[f32], out: &mut [f32], n: usize, w: usize, s: i32)";

/// Checks what the host checks of a kernel's body.
#[track_caller]
fn has(body: &str, expected: &[&str]) {
    assert_eq!(checks(&format!("{KERNEL} {{ {body} }}")), expected, "{body}");
}

const RANK: &str = "let i = this_grid().thread_rank();";

#[test]
fn ranks_and_parameters() {
    has("out[this_grid().thread_rank()] = 1.0;", &["RankInGrid < len1"]);
    has(
        "let i = this_thread_block().thread_rank() as usize; out[i * w + n] = 1.0;",
        &["((T(RankInBlock) * p3) + p2) < len1"],
    );
    has(
        "let at = this_thread_block().thread_index(); let b = this_grid().block_index(); out[(b.y * 8 + at.y) as usize] = 1.0;",
        &["T(((BlockIndex(1) * 8) + ThreadIndex(1))) < len1"],
    );
    has("let at = Two { a: n, b: w }; out[at.b] = 1.0;", &["p3 < len1"]);
    has("let lane = tiled_partition::<32>(&this_thread_block()); out[n] = 1.0;", &["p2 < len1"]);
    // What is loaded, or changes, is unknown, and no check.
    has("let k = x[n] as usize; let mut j = n; j += 1; out[k] = 1.0; out[j] = 1.0;", &["p2 < len0"]);
}

#[test]
fn elements_of_own_arrays() {
    has("let near = [n, n + 1, w]; out[near[1]] = 1.0;", &["(p2 + 1) < len1"]);
    has("let near = [n, n + 1]; for k in 0..2 { out[near[k]] = 1.0; }", &["(p2 or (p2 + 1)) < len1"]);
    has("let mut near = [n, w]; near[0] += 1; out[near[0]] = 1.0;", &[]);
}

#[test]
fn methods_and_bits() {
    has("out[n.abs_diff(w)] = 1.0;", &["absdiff(p2, p3) < len1"]);
    has("out[s.rem_euclid(9) as usize] = 1.0;", &["T(remeuclid(p4, 9)) < len1"]);
    has("out[n.div_ceil(4)] = 1.0;", &["div(((p2 + 4) - 1), 4) < len1"]);
    has("out[n.next_multiple_of(w)] = 1.0;", &["(div(((p2 + p3) - 1), p3) * p3) < len1"]);
    has("out[n.pow(3)] = 1.0;", &["((p2 * p2) * p2) < len1"]);
    has("out[n.trailing_zeros() as usize] = 1.0;", &["T((0..=128)) < len1"]);
    has("out[n ^ 1 | w] = 1.0;", &["or(xor(p2, 1), p3) < len1"]);
    has("let k = x[n] as usize; out[n.pow(9)] = 1.0; out[k.pow(2)] = 1.0; out[k ^ 1] = 1.0;", &["p2 < len0"]);
}

#[test]
fn conditions() {
    let limited = "RankInGrid{<p2} < len1";
    has(&format!("{RANK} if i < n {{ out[i] = 1.0; }}"), &[limited]);
    has(&format!("{RANK} if n > i {{ out[i] = 1.0; }}"), &[limited]);
    has(&format!("{RANK} if i >= n {{ return; }} out[i] = 1.0;"), &[limited]);
    has(&format!("{RANK} if !(i < n) {{ return; }} out[i] = 1.0;"), &[limited]);
    has(&format!("{RANK} let inside = i < n; if inside {{ out[i] = 1.0; }}"), &[limited]);
    has(&format!("{RANK} assert!(i < n); out[i] = 1.0;"), &[limited]);
    has(&format!("{RANK} if i < n && x[i] > 0.0 {{ }}"), &["RankInGrid{<p2} < len0"]);
    has(&format!("{RANK} if i >= n || x[i] > 0.0 {{ }}"), &["RankInGrid{<p2} < len0"]);
    has(&format!("{RANK} if i >= n {{ }} else {{ out[i] = 1.0; }}"), &[limited]);
    has(&format!("{RANK} let inside = |k: usize| k < n; if inside(i) {{ out[i] = 1.0; }}"), &[limited]);
    // Behind them, and of other values, they say nothing.
    has(&format!("{RANK} if i < n {{ }} out[i] = 1.0;"), &["RankInGrid < len1"]);
    has(&format!("{RANK} if i < n {{ }} else {{ out[i] = 1.0; }}"), &["RankInGrid{>=p2} < len1"]);
    has(&format!("{RANK} if i < n || w == 0 {{ out[i] = 1.0; }}"), &["RankInGrid < len1"]);
    has(&format!("{RANK} if i < n {{ let i = w; out[i] = 1.0; }}"), &["p3 < len1"]);
    // Sums, and what is computed of a value, before and behind the condition.
    has(
        &format!("{RANK} if i + 1 < n {{ out[i + 1] = 1.0; out[i] = 1.0; }}"),
        &["(RankInGrid{+1<p2} + 1){<p2} < len1", "RankInGrid{+1<p2} < len1"],
    );
    has(&format!("{RANK} let k = i * w; if i < n {{ out[k] = 1.0; }}"), &["(RankInGrid{<p2} * p3) < len1"]);
    has(&format!("{RANK} if i * w < n {{ out[i * w] = 1.0; }}"), &["(RankInGrid * p3){<p2} < len1"]);
    has("let k = x[n] as usize; if k < w { out[k] = 1.0; }", &["p2 < len0", "T(?){<p3} < len1"]);
}

#[test]
fn conditions_of_what_is_computed() {
    has(&format!("{RANK} if i != 0 {{ out[i - 1] = 1.0; }}"), &["(RankInGrid{!=0} - 1) < len1"]);
    has(&format!("{RANK} if i == n {{ }} else {{ out[i] = 1.0; }}"), &["RankInGrid{!=p2} < len1"]);
    has(&format!("{RANK} if i % w != 0 {{ out[i - 1] = 1.0; }}"), &["(RankInGrid{rem(_, p3) != 0} - 1) < len1"]);
    // By names, with what else is known of them.
    let column = "let column = 2 * i + n % 2; if column != 0 && column % 2 == 0 { out[i - 1] = 1.0; }";
    let (name, even) = ("((2 * _) + rem(p2, 2))", "rem(((2 * _) + rem(p2, 2)){!=0}, 2)");
    has(&format!("{RANK} {column}"), &[&format!("(RankInGrid{{{name} != 0}}{{{even} == 0}} - 1) < len1")]);
    // What has changed is another value.
    has(&format!("{RANK} let mut j = i; let k = j % w; j += 1; if k != 0 {{ out[j] = 1.0; }}"), &[]);
    // Of other variables, what is less than a number says little.
    let tile = "let x = this_thread_block().thread_rank() as usize; if i % w * 32 + x % 32 < n { out[x / 32] = 1.0; }";
    has(&format!("{RANK} {tile}"), &["div(T(RankInBlock), 32) < len1"]);
    has(&format!("{RANK} if 2 * i + 2 < n {{ out[i] = 1.0; }}"), &["RankInGrid{((2 * _) + 2) < p2} < len1"]);
    let kept = "let mut last = 0; for j in 0..n { if last != 0 { out[j] = 1.0; } last = j + 1; }";
    has(kept, &["(0..p2) < len1"]);
}

#[test]
fn what_changes_is_known_until_it_does() {
    let limited = "((? + 32) or RankInGrid){<p2} < len1";
    has(&format!("{RANK} let mut j = i; while j < n {{ out[j] = 1.0; j += 32; }}"), &[limited]);
    has(&format!("{RANK} let mut j = i; loop {{ if j >= n {{ break; }} out[j] = 1.0; j += 32; }}"), &[limited]);
    has(&format!("{RANK} let mut j = i; while j < n {{ let k = j; j += 32; out[k] = 1.0; }}"), &[limited]);
    // It has changed, or may have.
    has(&format!("{RANK} let mut j = i; while j < n {{ j += 32; out[j] = 1.0; }}"), &[]);
    has(&format!("{RANK} let mut j = i; if j < n {{ for _ in 0..3 {{ out[j] = 1.0; j += 1; }} }}"), &[]);
    has(&format!("{RANK} let mut j = i; if j < n {{ advance(&mut j); out[j] = 1.0; }}"), &[]);
    has(&format!("{RANK} let mut j = i; if j < n && {{ j += 1; true }} {{ out[j] = 1.0; }}"), &[]);
    has(&format!("{RANK} let mut j = i; if j < n {{ let f = || out[j] = 1.0; f(); }}"), &[]);
    let closure = "if j < n { if w < n { let f = |k: usize| k + 1; } out[i % w] = 1.0; if i < n { let f = || 1; } out[i] = 1.0; }";
    has(&format!("{RANK} let mut j = i; {closure} j += 1;"), &["rem(RankInGrid, p3) < len1", "RankInGrid < len1"]);
    has(&format!("{RANK} let mut m = n; if i < m {{ m += 1; out[i] = 1.0; }}"), &["RankInGrid < len1"]);
    has(
        &format!("{RANK} let mut m = n; m += 1; let k = m; if i < k {{ out[i] = 1.0; }}"),
        &["RankInGrid{<((? + 1) or p2)} < len1"],
    );
}

#[test]
fn all_values_of_a_variable() {
    let masked = "and((? + 1), (p2 - 1))";
    has(
        &format!("{RANK} let mut k = i & (n - 1); loop {{ out[k] = 1.0; k = (k + 1) & (n - 1); }}"),
        &[&format!("({masked} or and(RankInGrid, (p2 - 1))) < len1")],
    );
    has("let mut k = w; for _ in 0..9 { out[k] = 1.0; k %= n; }", &["(rem(?, p2) or p3) < len1"]);
    // What else is assigned, or how else it changes, is unknown, and what a condition limits is so only behind it.
    has("let mut k = w; for _ in 0..9 { out[k] = 1.0; k += 1; }", &[]);
    has("let mut k = w; k %= n; advance(&mut k); out[k] = 1.0;", &[]);
    has("let mut k = w; if w < n { k = w; } out[k] = 1.0;", &["(p3 or p3) < len1"]);
}

#[test]
fn loops_and_values_within_bounds() {
    has(&format!("{RANK} for k in 0..w {{ out[i * w + k] = 1.0; }}"), &["((RankInGrid * p3) + (0..p3)) < len1"]);
    has("for k in (n..=w).rev().step_by(2) { out[k] = 1.0; }", &["(p2..=p3) < len1"]);
    has(&format!("{RANK} out[i.min(n - 1)] = 1.0;"), &["min(RankInGrid, (p2 - 1)) < len1"]);
    has(
        &format!("{RANK} out[(s + i as i32).clamp(0, 9) as usize] = 1.0;"),
        &["T((p4 + T(RankInGrid)).clamp(0, 9)) < len1"],
    );
    has(
        &format!("{RANK} out[i % n] = 1.0; out[i & (n - 1)] = 1.0;"),
        &["rem(RankInGrid, p2) < len1", "and(RankInGrid, (p2 - 1)) < len1"],
    );
    has(&format!("{RANK} out[if i < n {{ i }} else {{ w }}] = 1.0;"), &["(RankInGrid{<p2} or p3) < len1"]);
    has(
        &format!("{RANK} let at = |a: usize, b: usize| b * w + a; out[at(i, n)] = 1.0;"),
        &["((p2 * p3) + RankInGrid) < len1"],
    );
}

#[test]
fn parts_and_rows() {
    has(
        &format!("{RANK} let row = &x[i * w..(i + 1) * w]; for k in 0..w {{ out[n] = row[k]; }}"),
        &["end((RankInGrid * p3), p3) <= len0", "p2 < len1", "(0..p3) < p3"],
    );
    has(
        &format!("{RANK} let row = &x[i..][..w]; out[n] = row[s as usize];"),
        &["RankInGrid <= len0", "p3 <= (len0 - RankInGrid)", "p2 < len1", "T(p4) < p3"],
    );
    // A range that may end before it begins is checked by the kernel.
    has("let row = &x[n..w]; out[n] = row[s as usize];", &["p2 < len1", "T(p4) < (p3 - p2)"]);
    let rows = checks(
        "#[cluster_kernel] fn k(x: &[[f32; 8]], n: usize) { let t = shared_array::<[f32; 4], 16>(); t[n][n] = x[n][n]; }",
    );
    assert_eq!(rows, ["p1 < C2", "p1 < C1", "p1 < len0", "p1 < C0"]);
}

#[test]
fn device_functions() {
    let of_function = checks("#[device] fn f(x: &[f32], i: usize, n: usize) -> f32 { if i < n { x[i] } else { 0.0 } }");
    assert_eq!(of_function, ["p1{<p2} < len0"]);
    let expansion = expand(&format!("{KERNEL} {{ {RANK} if i < n {{ out[i] = f(x, i, w as f32); }} }}"));
    let calls = list(expansion, "device_calls").unwrap();
    let [.., TokenTree::Group(fields)] = &calls[0][..] else { panic!("{calls:?}") };
    let arguments = list(fields.stream(), "arguments").unwrap();
    let parts = |argument: &Vec<TokenTree>| match &argument[..] {
        [_, TokenTree::Group(parts)] => fields_of_parts(parts.stream()).join(", "),
        other => panic!("{other:?}"),
    };
    let arguments: Vec<String> = arguments.iter().map(parts).collect();
    assert_eq!(arguments, ["p0", "RankInGrid{<p2}", "T(p3)"]);
}

/// Returns the parts of an argument.
fn fields_of_parts(parts: TokenStream) -> Vec<String> {
    super::split(&parts.into_iter().collect::<Vec<_>>()).iter().filter_map(|part| field_of_part(part)).collect()
}

/// Returns a part, behind the names of the fields to it; none of what is no part.
fn field_of_part(part: &[TokenTree]) -> Option<String> {
    let [.., TokenTree::Group(fields)] = part else { return None };
    let of = |name| list(fields.stream(), name).unwrap_or_default();
    let path: Vec<String> = of("path").iter().flatten().map(|name| name.to_string().replace('"', "")).collect();
    let value = infix(of("value"));
    Some(if path.is_empty() { value } else { format!("{}: {value}", path.join(".")) })
}

#[test]
fn structs_and_tuples() {
    let passed = |body: &str| {
        let calls = list(expand(&format!("{KERNEL} {{ {body} }}")), "device_calls").unwrap();
        let parts = calls.iter().filter(|call| !call.is_empty()).flat_map(|call| {
            let [.., TokenTree::Group(fields)] = &call[..] else { panic!("{call:?}") };
            let arguments = list(fields.stream(), "arguments").unwrap();
            arguments.into_iter().map(|argument| match &argument[..] {
                [_, TokenTree::Group(parts)] => fields_of_parts(parts.stream()).join(", "),
                other => panic!("{other:?}"),
            })
        });
        parts.collect::<Vec<String>>()
    };
    let plane = "let plane = Plane { width: w, height: n, corner: Corner { x: 4, y: x[0] as usize } };";
    assert_eq!(passed(&format!("{plane} out[0] = x[at(&plane, n)];")), ["width: p3, height: p2, corner.x: 4", "p2"]);
    assert_eq!(passed("out[0] = x[at((n, (w, 3)), n)];"), ["_0: p2, _1._0: p3, _1._1: 3", "p2"]);
    assert_eq!(passed("let g = plane(w); out[0] = x[at(g, g.width)];"), ["p3", "result(0)", "result(0).width"]);
    has(&format!("{plane} out[plane.corner.x] = x[plane.width];"), &["0 < len0", "4 < len1", "p3 < len0"]);
    has("let g = plane(w); out[g.corner.x] = 1.0;", &["result(0).corner.x < len1"]);
    has(
        "let Plane { width, corner: Corner { x: left, .. }, .. } = plane(w); out[width + left] = 1.0;",
        &["(result(0).width + result(0).corner.x) < len1"],
    );
    // What may change is not known.
    has("let mut g = Plane { width: w, height: n }; g.width += 1; out[g.width] = 1.0;", &[]);
    let method =
        "#[device] fn f(x: &[f32], at: (usize, usize), of: &Plane) -> f32 { let (i, j) = at; x[j * of.width + i] }";
    assert_eq!(checks(method), ["((p1._1 * p2.width) + p1._0) < len0"]);
}

#[test]
fn results_of_device_functions() {
    has("let (a, b) = place(n); out[b] = x[at(a, w)];", &["result(0)._1 < len1", "result(1) < len0"]);
    let of_function = |source: &str| {
        let found: Vec<Vec<TokenTree>> = list(expand(source), "results").unwrap();
        found.iter().filter_map(|part| field_of_part(part)).collect::<Vec<String>>()
    };
    let place =
        "#[device] fn place(w: u32) -> (u32, f32) { let i = this_grid().thread_rank() as u32; (i % w, i as f32) }";
    assert_eq!(of_function(place), ["_0: rem(T(RankInGrid), p0)", "_1: T(T(RankInGrid))"]);
    assert_eq!(of_function("#[device] fn at(x: usize, y: usize) -> usize { y * 8 + x }"), ["((p1 * 8) + p0)"]);
    let early = "#[device] fn at(x: usize, y: usize) -> usize { if x > y { return y; } x }";
    assert!(of_function(early).is_empty(), "it returns elsewhere, too");
}

#[test]
fn memory_that_takes_turns() {
    let arrays = "let (a, b) = (shared_array::<f32, 64>(), shared_array::<f32, 32>());";
    let swapped =
        "let (mut from, mut to) = (&a, &b); for _ in 0..4 { to[n] = from[w]; std::mem::swap(&mut from, &mut to); }";
    has(&format!("{arrays} {swapped}"), &["p2 < (C0 or C1)", "p3 < (C1 or C0)"]);
    has(
        &format!(
            "{arrays} let (own, other) = if n > 3 {{ (&a, &b) }} else {{ (&b, &a) }}; own[n] = 1.0; other[w] = 1.0;"
        ),
        &["p2 < (C0 or C1)", "p3 < (C1 or C0)"],
    );
    has(&format!("{arrays} let one = if n > 3 {{ &a }} else {{ &b }}; one[n] = 1.0;"), &["p2 < (C0 or C1)"]);
    has(
        "let mut from = x; if n > 3 { from = &x[w..w + 8]; } out[n] = from[w];",
        &["end(p3, 8) <= len0", "p2 < len1", "p3 < (8 or len0)"],
    );
    // A part of itself is shorter each time.
    has("let mut rest = x; for _ in 0..w { out[n] = rest[w]; rest = &rest[1..]; }", &["p2 < len1"]);
    has(
        "let (mut a, mut b) = (x, &x[8..]); for _ in 0..w { out[n] = a[w] + b[w]; let c = a; a = &b[1..]; b = c; }",
        &["8 <= len0", "p2 < len1"],
    );
}

/// Returns the arguments of the calls of closures.
fn closure_calls(source: &str) -> Vec<String> {
    let calls = list(expand(source), "closure_calls").unwrap();
    let arguments = calls.iter().filter(|call| !call.is_empty()).flat_map(|call| {
        let [.., TokenTree::Group(fields)] = &call[..] else { panic!("{call:?}") };
        list(fields.stream(), "arguments").unwrap()
    });
    let terms = |argument: Vec<TokenTree>| match &argument[..] {
        [_, TokenTree::Group(terms)] => infix(super::split(&terms.stream().into_iter().collect::<Vec<_>>())),
        other => panic!("{other:?}"),
    };
    arguments.map(terms).collect()
}

#[test]
fn parameters_of_closures() {
    let called = |body: &str| closure_calls(&format!("{KERNEL} {{ {body} }}"));
    let f = "let f = |k: usize| x[k];";
    has(&format!("{f} out[w] = f(n) + f(w);"), &["closure(5,0) < len0", "p3 < len1"]);
    assert_eq!(called(&format!("{f} out[w] = f(n) + f(w);")), ["p2", "p3"]);
    assert_eq!(called(&format!("{RANK} {f} if i < n {{ out[i] = f(i); }}")), ["RankInGrid{<p2}"]);
    let inner = "let g = |k: usize, j: usize| f(k * j) + f(j); out[w] = g(n, 3);";
    assert_eq!(called(&format!("{f} {inner}")), ["(closure(6,0) * closure(6,1))", "closure(6,1)", "p2", "3"]);
    // The values of another name are unknown, and so are those of all calls.
    assert!(called(&format!("{f} out[w] = f(n); let g = f; out[n] = g(w);")).is_empty());
    assert_eq!(called(&format!("{f} out[w] = f(n) + sum(&f, w);")), ["p2", "passed(0,0,0)"]);
    has("out[w] = sum(|k: usize| x[k], n);", &["p3 < len1", "passed(0,0,0) < len0"]);
    let of_function = "#[device] fn sum(f: impl Fn(usize) -> f32, n: usize) -> f32 { f(n) + f(3) }";
    assert_eq!(closure_calls(of_function), ["p1", "3"]);
    let passed_on = "#[device] fn sum(f: impl Fn(usize) -> f32, n: usize) -> f32 { other(&f, n) + f(3) }";
    assert_eq!(closure_calls(passed_on), ["passed(0,0,0)", "3"]);
}

#[test]
fn arms_tables_and_loads() {
    has(
        "let (a, b) = if n > 3 { (w, 1) } else { (n, 2) }; out[a] = x[a + b];",
        &["(p3 or p2) < len1", "((p3 or p2) + (1 or 2)) < len0"],
    );
    has("let k = match w { 0 => n, 1 => w * 8, _ => return }; out[k] = 1.0;", &["(p2 or (p3 * 8)) < len1"]);
    has("out[match w { 0 => { let k = n; k + 1 } _ => 5 }] = 1.0;", &["((p2 + 1) or 5) < len1"]);
    has(
        "let (a, b) = if n > 3 { (w, 1) } else { place(n) }; out[a + b] = 1.0;",
        &["((p3 or result(1)._0) + (1 or result(1)._1)) < len1"],
    );
    let with_table = |body: &str| {
        format!(
            "#[cluster_kernel] fn k(x: &[u8], out: &mut [f32], n: usize) {{ const T: [[usize; 2]; 2] = [[0, 1], [2, 3]]; {body} }}"
        )
    };
    assert_eq!(checks(&with_table("let [a, b] = T[n % 2]; out[n + a] = 1.0;")), ["(p2 + any(0)) < len1"]);
    assert_eq!(checks(&with_table("out[n + T[n % 2][1]] = 1.0;")), ["(p2 + any(0)) < len1"]);
    assert_eq!(checks(&with_table("let k = x[n]; out[k as usize] = 1.0;")), ["p2 < len0", "T(any(0)) < len1"]);
    has("let (a, b) = x.split_at(n); out[w] = a[w] + b[w];", &["p3 < len1", "p3 < p2", "p3 < (len0 - p2)"]);
}

#[test]
fn structs_and_floats() {
    let source = |body: &str| {
        format!("#[cluster_kernel] fn k(x: &[f32], out: &mut [f32], shape: Shape, w: usize, scale: f32) {{ {body} }}")
    };
    let has = |body: &str, expected: &[&str]| assert_eq!(checks(&source(body)), expected, "{body}");
    has(&format!("{RANK} if i < shape.width {{ out[i] = 1.0; }}"), &["RankInGrid{<p2.width} < len1"]);
    has("let inner = shape.size.1; out[inner as usize] = 1.0;", &["T(p2.size._1) < len1"]);
    has("out[(scale * 3.0).clamp(0.0, w as f32) as usize] = 1.0;", &["T((p4 * 3.0).clamp(0.0, T(p3))) < len1"]);
    has(
        &format!("{RANK} let at = (i as f32 + 0.5).mul_add(scale, -0.5).floor().max(0.0); out[at as usize] = 1.0;"),
        &["T(max(floor((((T(RankInGrid) + 0.5) * p4) + (0 - 0.5))), 0.0)) < len1"],
    );
    has("let at = x[w]; if at < scale { out[at as usize] = 1.0; }", &["p3 < len0", "T(?{<p4}) < len1"]);
    let method = "#[device] fn at(x: &[f32], shape: &Shape, i: usize) -> f32 { x[i % shape.width] }";
    assert_eq!(checks(method), ["rem(p2, p1.width) < len0"]);
}

#[test]
fn the_text_of_checks() {
    let source =
        |body: &str| format!("#[device] fn f(x: &[f32], out: &mut [f32], n: usize, w: usize, s: i32) {{ {body} }}");
    let marked = |body: &str| text(&source(body), |kind| (kind == "AtLaunch").then(String::new));
    let has = |body: &str, line: &str| {
        let text = marked(body);
        assert!(text.contains(line), "`{line}` is missing in {text}");
    };
    has("out[n] = 1.0;", "out[at_launch<0>(n)] = <slot0 1.0>;");
    has(
        "out[n] = x[w] + x[s];",
        "require(at_launch<1>(within(x, w)) & at_launch<2>(within(x, s)) & at_launch<0>(within(out, n)));",
    );
    has(
        "for k in 0..n { out[k] = x[k]; }",
        "if ((holds_at_launch<0> && holds_at_launch<1> || covers(out, values_of(steps)) && covers(x, values_of(steps)))) {",
    );
    has(
        "let row = &x[n..n + w]; out[0] = row[0];",
        "(holds_at_launch<0> ? subslice_unchecked(x, n, n + w) : subslice(x, n, n + w))",
    );
}

#[test]
fn names_of_names_are_not_read_forever() {
    let lets: String = (1..200).map(|k| format!("let a{k} = a{} + a{};", k - 1, k - 1)).collect();
    let accesses: String = (0..200).map(|k| format!("out[a{k}] = 1.0;")).collect();
    let found = checks(&format!("{KERNEL} {{ let a0 = n; {lets} {accesses} }}"));
    assert_eq!(found[1], "(p2 + p2) < len1");
    assert!(found.len() < 10, "{}", found.len());
}
