//! Parts of memory in loops: which are tested before the loop, by their first and last element, and which keep their checks.

use super::bounds::{checks_all, hoists};
use super::text;

const SUM: &str = "*r += part[0];";

/// Asserts that a part has these tests in a loop.
#[track_caller]
fn tested(part: &str, tests: &str) {
    hoists(&format!("for i in 0..a {{ let part = {part}; {SUM} }}"), tests, &[]);
}

#[track_caller]
fn kept(part: &str) {
    checks_all(&format!("for i in 0..a {{ let part = {part}; {SUM} }}"));
}

#[test]
fn a_part_that_begins_anywhere() {
    let spread = |by: &str| format!("covers(w, spread_by(values_of(steps), up_by(0), up_by({by}).down_by(1)))");
    tested("&w[i..i + 4]", &format!("{} && is_natural(4)", spread("4")));
    tested("&w[i..i + b]", &format!("{} && is_natural(b)", spread("b")));
    tested(
        "&w[i * 4 + b..i * 4 + b + 4]",
        "covers(w, spread_by(values_of(steps) * 4, up_by(b), up_by(b).up_by(4).down_by(1))) && is_natural(4)",
    );
    // The start may have a name.
    hoists(
        "for i in 0..a { let first = i * b; let part = &w[first..first + 8]; *r += part[0]; }",
        "covers(w, spread_by(values_of(steps) * b, up_by(0), up_by(8).down_by(1))) && is_natural(8)",
        &["auto first = i * b;", "auto part = subslice_unchecked(w, first, first + 8);"],
    );
}

#[test]
fn the_part_of_a_number() {
    tested("&w[i * b..(i + 1) * b]", "covers(w, values_of(steps) * b) && covers(w, (values_of(steps) + 1) * b - 1)");
}

#[test]
fn a_part_that_begins_with_the_memory() {
    tested("&w[..i + 1]", "covers(w, values_of(steps) + 1 - 1)");
}

/// What may end before it starts keeps its check.
#[test]
fn parts_of_which_the_order_is_not_known() {
    kept("&w[i..b]");
    kept("&w[i..2 * i]");
    kept("&w[i..b + i * 2]");
    kept("&w[i + 4..i]");
    kept("&w[i * b..(i + 1) * a]");
    kept("&w[i..i + 8 - b]");
    kept("&w[i..=i + 3]");
    kept("&w[i..]");
}

/// Each thread issues its own share of a copy, so that a loop of copies is printed twice.
#[test]
fn copies() {
    let kernel = "
        #[device] fn subject(to: &SharedSlice<[u32; 8]>, w: &[u32], a: usize) {
            let block = this_thread_block();
            for i in 0..a { memcpy_async(&block, &to[i][..8], &w[i * 8..i * 8 + 8]); }
        }";
    let text = text(kernel, |_| None);
    let copy = "memcpy_async(block, copied_part_unchecked(row_of_unchecked(to, i), 0, 8), \
                copied_part_unchecked(w, i * 8, i * 8 + 8));";
    assert!(text.contains(copy), "{text}");
    assert!(text.contains("memcpy_async(block, copied_part(row_of(to, i), 0, 8), copied_part(w, i * 8, i * 8 + 8));"));
}

/// Where a loop is printed once, a part is tested with the other accesses of its statement.
#[test]
fn a_part_in_a_round() {
    let kernel = "
        #[device] fn subject(to: &SharedSlice<[u32; 8]>, w: &[u32], a: usize) {
            let block = this_thread_block();
            for i in 0..a { memcpy_async(&block, &to[i][..8], &w[i * 8..i * 8 + 8]); block.wait_async(); }
        }";
    let text = text(kernel, |_| None);
    assert!(text.contains("require(within(to, i) & range_within(w, i * 8, i * 8 + 8));"), "{text}");
    assert!(text.contains("copied_part(row_of_unchecked(to, i), 0, 8), copied_part_unchecked(w, "), "{text}");
}
