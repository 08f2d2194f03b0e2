//! Binary searches: which loops are, and which keep their checks.

use super::bounds::{MEMORY, checks_all, hoists};
use super::{check, text};

#[test]
fn both_loops() {
    check(
        "let (mut low, mut high) = (0u32, 8); while low < high { let middle = (low + high) / 2; if m[middle] < a { low = middle + 1; } else { high = middle; } }",
        "auto value = <slot0>{u32(0), 8};
         auto low = value._0;
         auto high = value._1;
         if (covers_below(m, high)) {
             while (low < high) {
                 auto middle = middle_of(low, high, (low + high) / 2);
                 if (m.get_unchecked(middle) < a) {
                     low = middle + 1;
                 } else {
                     high = middle;
                 }
             }
         } else {
             while (low < high) {
                 auto middle = (low + high) / 2;
                 if (m[middle] < a) {
                     low = middle + 1;
                 } else {
                     high = middle;
                 }
             }
         }",
    );
}

/// A search between `low` and `high`, whose middle is this, and with these statements behind it.
fn search(condition: &str, middle: &str, rest: &str) -> String {
    format!("let (mut low, mut high) = (b, a); while {condition} {{ let middle = {middle}; {rest} }}")
}

#[test]
fn forms_of_searches() {
    let half = "if m[middle] < 3 { low = middle + 1; } else { high = middle; }";
    let found = |condition, middle, rest, test| hoists(&search(condition, middle, rest), test, &[]);
    let middles = [
        "(low + high) / 2",
        "(high + low) >> 1",
        "low + (high - low) / 2",
        "low + ((high - low) >> 1)",
        "(high - low) / 2 + low",
    ];
    for middle in middles {
        found("low < high", middle, half, "covers_below(m, high)");
    }
    found("high > low", middles[0], half, "covers_below(m, high)");
    found("low < high", middles[0], "low = middle + 1; r[0] = 1;", "");
    found("low < high", middles[0], "if m[middle] == 3 { return; } low = middle + 1;", "covers_below(m, high)");
    found(
        "low < high",
        middles[0],
        "if m[middle] < w[middle] { low = middle + 1; } else { high = middle; }",
        "covers_below(m, high) && covers_below(w, high)",
    );
    // Another index of the loop is tested where it is.
    found(
        "low < high",
        middles[0],
        "if m[middle] < w[low] { low = middle + 1; } else { high = middle; }",
        "covers_below(m, high)",
    );
    let text = text(
        &format!(
            "#[device] fn subject({MEMORY}) {{ {} }}",
            search("low < high", middles[0], "if m[middle] < w[low] { low = middle + 1; } else { high = middle; }")
        ),
        |_| None,
    );
    assert!(text.contains("m.get_unchecked(middle) < w[low]"), "{text}");
}

#[test]
fn no_searches() {
    let half = "if m[middle] < 3 { low = middle + 1; } else { high = middle; }";
    // The middle may be `high`, or above it.
    checks_all(&search("low <= high", "(low + high) / 2", half));
    checks_all(&search("low < high", "(low + high + 1) / 2", half));
    checks_all(&search("low < high", "(low + high) / 1", half));
    checks_all(&search("low < high", "low + (high + low) / 2", half));
    checks_all(&search("low < high", "low + (low - high) / 2", half));
    checks_all(&search("low != high", "(low + high) / 2", half));
    checks_all(&search("low < a", "(low + high) / 2", half));
    // Both ends may change in other ways.
    checks_all(&search(
        "low < high",
        "(low + high) / 2",
        "if m[middle] < 3 { low = middle + 1; } else { high = middle + 1; }",
    ));
    checks_all(&search("low < high", "(low + high) / 2", "if m[middle] < 3 { low = middle + 1; } else { high -= 1; }"));
    checks_all(&search("low < high", "(low + high) / 2", "if m[middle] < 3 { high += 1; } else { high = middle; }"));
    checks_all(
        "let (mut low, mut high) = (b, a); while low < high { low += 1; let middle = (low + high) / 2; if m[middle] < 3 { low = middle + 1; } else { high = middle; } }",
    );
    checks_all(&search(
        "low < high",
        "(low + high) / 2",
        "if m[middle + 1] < 3 { low = middle + 1; } else { high = middle; }",
    ));
    checks_all(
        "let (mut low, mut high) = (b, a); while low < high { let mut middle = (low + high) / 2; middle += 1; if m[middle] < 3 { low = middle + 1; } else { high = middle; } }",
    );
    // What is left in other ways, and what does more than read.
    checks_all(&search(
        "low < high",
        "(low + high) / 2",
        "if m[middle] < 3 { low = middle + 1; } else { high = middle; } m.atomic(0).fetch_add(1, Relaxed);",
    ));
    checks_all(&search("low < high", "(low + high) / 2", "if m[middle] < 3 { break; } high = middle;"));
}

/// The rounds of `partition_point` depend on the length alone, and so does the test before them.
#[test]
fn points_of_partitions() {
    let of = |body: &str| text(&format!("#[device] fn subject({MEMORY}) {{ {body} }}"), |_| None);
    let point = of("*r = w.partition_point(|&x| x < 7) as u32;");
    assert!(point.contains("if (covers_next(w, base, size)) {") && point.contains("found_in(w, base);"), "{point}");
    assert!(point.contains("w.get_unchecked(middle)"), "{point}");
    let halving = |half: &str, middle: &str, next: &str, last: &str| {
        format!(
            "let (mut base, mut size) = (a, b); while size > 0 {{ let half = {half}; let middle = {middle};
                if w[middle] < 7 {{ base = {next}; }} size -= {last}; }}"
        )
    };
    let right = ["(size + 1) / 2", "base + (half - 1)", "middle + 1", "half"];
    assert!(of(&halving(right[0], right[1], right[2], right[3])).contains("covers_next"));
    for (at, other) in [(0, "(size + 2) / 2"), (1, "base + half"), (2, "middle + 2"), (3, "1"), (2, "half + 1")] {
        let mut wrong = right;
        wrong[at] = other;
        assert!(!of(&halving(wrong[0], wrong[1], wrong[2], wrong[3])).contains("covers_next"), "{other}");
    }
    // It is halved once a round, and the base follows the middle once.
    let text = halving(right[0], right[1], right[2], right[3]);
    assert!(!of(&text.replace("size -= half;", "size -= half; size -= half;")).contains("covers_next"));
    assert!(!of(&text.replace("base = middle + 1;", "base = middle + 1; base = middle + 1;")).contains("covers_next"));
}
