//! Loops that have iterations for certain, because a test says so: rounds before the loop, behind it, and numbers that a loop counts to.

use super::super::faults;
use super::extraction::proved;
use super::{not_proved, sums};

/// A ring of two stages. The thread that fills runs `test` and then a loop over all rounds; those that read have rounds before the loop and
/// behind it.
fn ring(test: &str, fill: &str, read: &str) -> String {
    let round = |k: &str| format!("full[{k} % 2].wait_parity({k} / 2 % 2 == 1); sum += stages[{k} % 2][i];");
    let release = |k: &str| format!("let _ = empty[{k} % 2].arrive();");
    let mut read = read.to_string();
    for k in ["0", "1", "2", "k", "(k - 1)", "(n - 1)", "n", "last", "s", "(s + k)", "(s + k - 1)", "(s - 1)"] {
        read = read.replace(&format!("READ({k})"), &round(k)).replace(&format!("RELEASE({k})"), &release(k));
    }
    let fill = fill.replace(
        "FILL(k)",
        "empty[k % 2].wait_parity(k / 2 % 2 == 0); full[k % 2].expect_tx(128);
        bulk_copy_async(&stages[k % 2], &x[..32], &full[k % 2]); let _ = full[k % 2].arrive();",
    );
    sums(2, test, &fill, &read)
}

const FILL: &str = "for k in 0..n { FILL(k) }";
/// Each round is released once the next one has begun.
const LATE: &str = "READ(0) for k in 1..n { READ(k) RELEASE((k - 1)) } RELEASE((n - 1))";

#[test]
fn a_round_before_the_loop() {
    for test in [
        "assert!(n > 0);",
        "assert!(n >= 1);",
        "assert!(n != 0);",
        "assert!(0 < n);",
        "assert!(n > m);",
        "assert_ne!(n, 0);",
        "assert!(n > 0 && m > 0);",
        "assert!(n + 2 > 2);",
        "assert_eq!(n, 5);",
        "if n == 0 { return; }",
        "if m == 0 || n < 1 { return; }",
        "assert!(n >= 1000);",
        "if n == 0 { panic!(\"no rounds\"); }",
    ] {
        proved(&ring(test, FILL, LATE));
    }
}

/// What is tested elsewhere, of another number, or says too little, is no reason.
#[test]
fn a_round_that_need_not_be_there() {
    for test in [
        "",
        "assert!(m > 0);",
        "assert!(n >= 0);",
        "assert!(n < 5);",
        "assert!(n + m > 0);",
        "assert!(n - 1 < 100);",
        "assert!(n >= m);",
        "assert!(n > 0 || m > 0);",
        "if m == 0 || n == 0 { out[0] = 1; }",
        "if m > 0 { assert!(n > 0); }",
        "if n > 0 { out[0] = 1; }",
        "debug_assert!(n > 0);",
        "if !(n == 0) { return; }",
        // A sum that wraps is less than it says.
        "assert!(5 > 3 - n);",
        "assert!(m > n - 1);",
    ] {
        not_proved(&ring(test, FILL, LATE));
    }
    // The thread that fills has not made the test.
    not_proved(&ring("", FILL, &format!("assert!(n > 0); {LATE}")));
    not_proved(&ring("", &format!("{FILL} assert!(n > 0);"), LATE));
    not_proved(&ring("", FILL, &format!("{LATE} assert!(n > 0);")));
}

#[test]
fn several_rounds_before_the_loop() {
    let three = "READ(0) RELEASE(0) READ(1) RELEASE(1) READ(2) RELEASE(2) for k in 3..n { READ(k) RELEASE(k) }";
    proved(&ring("assert!(n > 2);", FILL, three));
    proved(&ring("assert!(n >= 8);", FILL, three));
    not_proved(&ring("assert!(n > 1);", FILL, three));
    not_proved(&ring("assert!(n > 2);", FILL, &three.replace("3..n", "2..n")));
    not_proved(&ring("assert!(n > 2);", FILL, &three.replace("3..n", "4..n")));
}

#[test]
fn tests_without_a_need() {
    let plain = "for k in 0..n { READ(k) RELEASE(k) }";
    let by_hand = "let mut k = 0u32; while k < n { READ(k) RELEASE(k) k += 1; }";
    let down = "let mut k = 0u32; let mut left = n; while left > 0 { READ(k) RELEASE(k) k += 1; left -= 1; }";
    for read in [plain, by_hand, down] {
        proved(&ring("assert!(n > 0);", FILL, read));
    }
}

#[test]
fn numbers_that_a_loop_counts_to() {
    let last = LATE.replace("RELEASE((n - 1))", "let last = n - 1; RELEASE(last)");
    proved(&ring("assert!(n > 0);", FILL, &last));
    for wrong in ["n", "n - 2", "n + 2", "m - 1"] {
        not_proved(&ring("assert!(n > 0);", FILL, &last.replace("n - 1", wrong)));
    }
    // The loop need not have ended.
    not_proved(&ring(
        "assert!(n > 0);",
        FILL,
        &LATE.replace("for k in 1..n {", "for k in 1..n { if x[k] == 7 { break; }"),
    ));
}

/// A block counts the rounds of all its tiles: by one in each round, or by all at once behind them.
#[test]
fn rounds_of_all_tiles() {
    let fill = "let mut k = 0u32; for t in 0..tiles { for p in 0..n { FILL(k) k += 1; } }";
    let all = "let mut s = 0u32; for t in 0..tiles { READ(s) for k in 1..n { READ((s + k)) RELEASE((s + k - 1)) } s += n; RELEASE((s - 1)) }";
    let test = "assert!(n > 0);";
    proved(&ring(test, fill, all));
    not_proved(&ring("", fill, all));
    for (right, wrong) in [
        ("s += n;", "s += n + 1;"),
        ("s += n;", "s += n - 1;"),
        ("s += n;", "s += m;"),
        ("s += n;", ""),
        ("READ(s) for", "READ(s) RELEASE(s) for"),
        ("1..n", "1..m"),
        ("1..n", "0..n"),
        ("1..n", "1..n + 1"),
        ("READ(s) for", "for"),
        ("RELEASE((s - 1))", ""),
        ("RELEASE((s - 1))", "RELEASE(s)"),
    ] {
        assert!(all.contains(right), "{right}");
        not_proved(&ring(test, fill, &all.replace(right, wrong)));
    }
    not_proved(&ring(test, &fill.replace("0..n", "1..n"), all));
    not_proved(&ring(test, &fill.replace("0..tiles", "1..tiles"), all));
}

/// A fault is one for arguments with which the test holds.
#[test]
fn faults_behind_a_test() {
    let source = ring("assert!(n > 0);", FILL, &LATE.replace("RELEASE((k - 1))", ""));
    let found: Vec<_> = faults(&source).iter().map(|fault| fault.rule().to_string()).collect();
    assert_eq!(found, ["ring_deadlock"], "{source}");
}
