//! Rings whose loads run ahead of the loop: rounds before it, and in it those of later rounds.

use super::super::faults;
use super::extraction::proved;
use super::{not_proved, sums};

/// A ring of three stages: one thread executes `load`, in which `LOAD(k)` loads a round for the first time and `AGAIN(k)` into a stage that has
/// been read, and others read the rounds.
fn ring(test: &str, load: &str) -> String {
    let mut load = load.to_string();
    for k in ["(r + s)", "(r + 2)", "(k + 1)", "(k + 2)", "(k + 3)", "(k - 1)", "next", "k", "s", "0", "1", "2"] {
        let first = format!(
            "full[{k} % 3].expect_tx(128); bulk_copy_async(&stages[{k} % 3], &x[..32], &full[{k} % 3]);
            let _ = full[{k} % 3].arrive();"
        );
        let again = format!("empty[{k} % 3].wait_parity({k} / 3 % 2 == 0); {first}");
        load = load.replace(&format!("LOAD({k})"), &first).replace(&format!("AGAIN({k})"), &again);
    }
    let read = "full[k % 3].wait_parity(k / 3 % 2 == 1); sum += stages[k % 3][i]; let _ = empty[k % 3].arrive();";
    let read = match load.contains("..tiles") {
        true => format!("let mut k = 0u32; for t in 0..tiles {{ for j in 0..n {{ {read} k += 1; }} }}"),
        false => format!("for k in 0..n {{ {read} }}"),
    };
    sums(3, test, &load, &read)
}

/// Asserts that a kernel is refused, and not proved.
#[track_caller]
fn wrong(source: &str) {
    let found: Vec<_> = faults(source).iter().map(|fault| fault.rule().to_string()).collect();
    assert!(found.iter().any(|rule| rule.starts_with("ring_")), "{found:?}:\n{source}");
    not_proved(source);
}

const FIRST: &str = "for s in 0..2 { if s < n { LOAD(s) } } ";
const LATER: &str = "for k in 0..n { if k + 2 < n { AGAIN((k + 2)) } }";

#[test]
fn rounds_before_the_loop() {
    for first in [
        FIRST,
        "if n > 0 { LOAD(0) } if n > 1 { LOAD(1) } ",
        "if n > 0 { LOAD(0) if n > 1 { LOAD(1) } } ",
        "if 0 < n { LOAD(0) } if n >= 2 { LOAD(1) } ",
        "for s in 0..2 { if s >= n { break; } LOAD(s) } ",
        "for s in 0..n.min(2) { LOAD(s) } ",
        "let ahead = n.min(2); for s in 0..ahead { LOAD(s) } ",
    ] {
        proved(&ring("", &format!("{first}{LATER}")));
    }
    for first in [
        "",
        "if n > 0 { LOAD(0) } ",
        "LOAD(0) LOAD(1) ",
        "if n > 0 { LOAD(0) } if n > 2 { LOAD(1) } ",
        "if n > 1 { LOAD(0) LOAD(1) } ",
        "for s in 0..3 { if s < n { LOAD(s) } } ",
        "for s in 0..n.min(1) { LOAD(s) } ",
    ] {
        wrong(&ring("", &format!("{first}{LATER}")));
    }
    for first in ["for s in 0..2 { if s < m { LOAD(s) } } ", "for s in 0..m.min(2) { LOAD(s) } "] {
        not_proved(&ring("", &format!("{first}{LATER}")));
    }
    let constant = "const AHEAD: u32 = 3 - 1;";
    proved(&ring(constant, &format!("for s in 0..AHEAD {{ if s < n {{ LOAD(s) }} }} {LATER}")));
}

#[test]
fn later_rounds_in_the_loop() {
    for later in [
        LATER,
        "for k in 0..n { if n > k + 2 { AGAIN((k + 2)) } }",
        "for k in 0..n { if k + 3 <= n { AGAIN((k + 2)) } }",
        "for k in 0..n { if !(k + 2 >= n) { AGAIN((k + 2)) } }",
        "for k in 0..n { if k + 2 >= n { continue; } AGAIN((k + 2)) }",
        "for k in 0..n { let next = k + 2; if next < n { AGAIN(next) } }",
        "for k in 0..n { let more = k + 2 < n; if more { AGAIN((k + 2)) } }",
        "for k in 2..n { AGAIN(k) }",
        "for k in n.min(2)..n { AGAIN(k) }",
    ] {
        proved(&ring("", &format!("{FIRST}{later}")));
    }
    for later in [
        "for k in 0..n { if k + 1 < n { AGAIN((k + 2)) } }",
        "for k in 0..n { if k + 3 < n { AGAIN((k + 2)) } }",
        "for k in 0..n { if k + 2 <= n { AGAIN((k + 2)) } }",
        "for k in 0..n { if k != n - 1 { AGAIN((k + 2)) } }",
        "for k in 0..n { if k + 2 < n { LOAD((k + 2)) } }",
        "for k in 0..n { if k + 2 < n { AGAIN((k + 3)) } }",
        "for k in 1..n { AGAIN(k) }",
        "for k in 3..n { AGAIN(k) }",
        "for k in n.min(1)..n { AGAIN(k) }",
        "for k in 2..=n { AGAIN(k) }",
    ] {
        wrong(&ring("", &format!("{FIRST}{later}")));
    }
    for later in [
        "for k in 0..n { if k + 2 < m { AGAIN((k + 2)) } }",
        "for k in 0..m { if k + 2 < n { AGAIN((k + 2)) } }",
        "for k in m.min(2)..n { AGAIN(k) }",
    ] {
        not_proved(&ring("", &format!("{FIRST}{later}")));
    }
}

#[test]
fn one_round_ahead() {
    for later in ["k + 1 < n", "k != n - 1", "k + 1 != n", "k < n - 1"] {
        proved(&ring("", &format!("if n != 0 {{ LOAD(0) }} for k in 0..n {{ if {later} {{ AGAIN((k + 1)) }} }}")));
    }
    wrong(&ring("", "if n != 0 { LOAD(0) } for k in 0..n { if k != n - 2 { AGAIN((k + 1)) } }"));
}

/// All stages are loaded before the loop, and each again when it has been read.
#[test]
fn as_many_rounds_as_stages() {
    let all = "for s in 0..3 { if s < n { LOAD(s) } } ";
    proved(&ring("", &format!("{all} for k in 3..n {{ AGAIN(k) }}")));
    proved(&ring("", &format!("{all} for k in 0..n {{ if k + 3 < n {{ AGAIN((k + 3)) }} }}")));
    wrong(&ring("", &format!("{all} for k in 0..n {{ if k + 3 < n {{ LOAD((k + 3)) }} }}")));
    wrong(&ring("", &format!("{all} for k in 3..n {{ AGAIN((k - 1)) }}")));
}

#[test]
fn rounds_that_are_certain() {
    let first = "for s in 0..2 { LOAD(s) } ";
    for test in ["assert!(n >= 2);", "assert!(n > 2);", "if n < 2 { return; }"] {
        proved(&ring(test, &format!("{first}{LATER}")));
        proved(&ring(test, &format!("{FIRST}{LATER}")));
    }
    for test in ["", "assert!(n >= 1);", "assert!(m >= 2);"] {
        wrong(&ring(test, &format!("{first}{LATER}")));
    }
    wrong(&ring("assert!(n >= 2);", &format!("{first}{}", LATER.replace("k + 2 < n", "k + 1 < n"))));
    wrong(&ring("assert!(n >= 2);", &format!("{first}{}", LATER.replace("k + 2 < n", "k + 3 < n"))));
}

/// The rounds of several tiles, each of which is loaded ahead.
#[test]
fn tiles() {
    let tiles = "let mut r = 0u32; for t in 0..tiles {
        for s in 0..2 { if s < n { AGAIN((r + s)) } }
        for k in 0..n { if k + 2 < n { AGAIN((r + 2)) } r += 1; }
    }";
    proved(&ring("", tiles));
    for (right, changed) in [
        ("0..2", "0..3"),
        ("0..2", "0..1"),
        ("k + 2 < n", "k + 1 < n"),
        ("k + 2 < n", "k + 3 < n"),
        ("0..tiles", "1..tiles"),
    ] {
        assert!(tiles.contains(right), "{right}");
        wrong(&ring("", &tiles.replace(right, changed)));
    }
    not_proved(&ring("", &tiles.replace("s < n", "s < m")));
}

/// A block whose first thread loads ahead, and whose threads read together.
#[test]
fn blocks_that_load_ahead() {
    let kernel = |ahead: &str, before: &str, after: &str| {
        let load = |k: &str| {
            format!(
                "full[({k}) % 3].expect_tx(128); bulk_copy_async(&stages[({k}) % 3], &x[..32], &full[({k}) % 3]);
                let _ = full[({k}) % 3].arrive();"
            )
        };
        let [before, after] = [before, after].map(|text| text.replace("LOAD", &load(&format!("k + {ahead}"))));
        format!(
            "#[cluster_kernel(block = 64)] fn sums(x: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let stages = shared_array::<[u32; 32], 3>();
                let full = shared_barriers::<3>();
                full.init_collective(&block, 1);
                if i == 0 {{ for s in 0..{ahead} {{ if s < n {{ {} }} }} }}
                let mut sum = 0;
                for k in 0..n {{
                    {before}
                    full[k % 3].wait_parity(k / 3 % 2 == 1);
                    sum += stages[k % 3][i % 32];
                    {after}
                }}
                out[i] = sum;
            }}",
            load("s")
        )
    };
    proved(&kernel("2", "if i == 0 && k + 2 < n { LOAD }", "block.sync();"));
    proved(&kernel("3", "", "block.sync(); if i == 0 && k + 3 < n { LOAD }"));
    wrong(&kernel("2", "if i == 0 && k + 2 < n { LOAD }", ""));
    wrong(&kernel("3", "if i == 0 && k + 3 < n { LOAD }", "block.sync();"));
    wrong(&kernel("2", "if i == 0 && k + 1 < n { LOAD }", "block.sync();"));
    wrong(&kernel("3", "", "if i == 0 && k + 3 < n { LOAD } block.sync();"));
}

#[test]
fn loops_that_count_by_hand() {
    for later in [
        "let mut k = 0; while k < n { if k + 2 < n { AGAIN((k + 2)) } k += 1; }",
        "let mut k = 0; while k != n { if n > k + 2 { AGAIN((k + 2)) } k += 1; }",
        "let mut k = 0; loop { if k >= n { break; } if k + 2 < n { AGAIN((k + 2)) } k += 1; }",
    ] {
        proved(&ring("", &format!("{FIRST}{later}")));
    }
    for later in [
        "let mut k = 0; while k < n { if k + 1 < n { AGAIN((k + 2)) } k += 1; }",
        "let mut k = 0; while k < n { if k + 3 < n { AGAIN((k + 2)) } k += 1; }",
        "let mut k = 1; while k < n { if k + 2 < n { AGAIN((k + 2)) } k += 1; }",
        // The number has been raised.
        "let mut k = 0; while k < n { k += 1; if k + 2 < n { AGAIN((k + 2)) } }",
    ] {
        wrong(&ring("", &format!("{FIRST}{later}")));
    }
}

/// A number that wraps where there is no round, and one that does not because there is one.
#[test]
fn the_last_round() {
    let last = "let last = n - 1; if n > 0 { LOAD(0) } for k in 0..n { if k < last { AGAIN((k + 1)) } }";
    proved(&ring("", last));
    wrong(&ring("", &last.replace("if n > 0", "if last > 0")));
    wrong(&ring("", &last.replace("k < last", "k <= last")));
}
