//! Rings whose threads ask whether a phase is over: loops that ask are waits, whatever else they do. What a single answer tells is left out
//! of proofs, and for certain arguments it is that of the moment.

use super::extraction::{faulty, is_proved, proved};
use super::verdict;

/// A ring of two stages between two warps; `empty` and `full` are how each waits.
fn ring(empty: &str, full: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let slots = shared_array::<[u32; 32], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 32);
            empty.init_collective(&block, 32);
            let mut spins = 0u32;
            for k in 0..n {{
                let (s, odd) = (k % 2, k / 2 % 2 == 1);
                if i < 32 {{
                    {empty}
                    slots[s][i] = input[k * 32 + i];
                    let _ = full[s].arrive();
                }} else {{
                    {full}
                    out[k * 32 + i - 32] = slots[s][i - 32] + spins;
                    let _ = empty[s].arrive();
                }}
            }}
        }}"
    )
}

#[test]
fn loops_that_ask() {
    for full in [
        "full[s].wait_parity(odd);",
        "while !full[s].try_wait_parity(odd) {}",
        "while !full[s].try_wait_parity(odd) { spins += 1; if spins > 8 { nanosleep(spins.min(100)); } }",
        "loop { if full[s].try_wait_parity(odd) { break; } spins += 1; }",
        "loop { let over = full[s].try_wait_parity(odd); if over { break; } nanosleep(20); }",
        "while !full[s].try_wait_parity(odd) { for _ in 0..4 { spins += 1; } }",
    ] {
        let empty = full.replace("full", "empty").replace("odd", "!odd");
        proved(&ring(&empty, full));
        faulty(&ring(&empty, &full.replace("odd", "!odd")), "ring_read");
        faulty(&ring(&empty.replace("!odd", "odd"), full), "ring_deadlock");
        faulty(&ring("", full), "ring_count");
    }
}

/// A test, and then a wait where the phase was not over.
#[test]
fn a_wait_unless_it_is_over() {
    for full in [
        "let over = full[s].try_wait_parity(odd); if !over { full[s].wait_parity(odd); }",
        "if !full[s].try_wait_parity(odd) { full[s].wait_parity(odd); }",
        "if full[s].try_wait_parity(odd) { spins += 1; } else { full[s].wait_parity(odd); }",
    ] {
        proved(&ring("empty[s].wait_parity(!odd);", full));
        // The wait is for another phase, or for one of another stage.
        for wrong in
            [full.replace(".wait_parity(odd)", ".wait_parity(!odd)"), full.replace("full[s].wait", "full[1 - s].wait")]
        {
            open(&ring("empty[s].wait_parity(!odd);", &wrong));
        }
    }
    // What is done only where the phase is not over.
    open(&ring("empty[s].wait_parity(!odd);", "if !full[s].try_wait_parity(odd) { let _ = empty[s].arrive(); }"));
    // An answer that is not waited for orders nothing.
    open(&ring("empty[s].wait_parity(!odd);", "if full[s].try_wait_parity(odd) { spins += 1; }"));
}

#[track_caller]
fn open(source: &str) {
    assert!(!is_proved(source), "{source}");
}

/// A token is asked about, and waited for or not.
#[test]
fn tokens() {
    let kernel = |wait: &str| {
        format!(
            "#[cluster_kernel(block = 32)] fn reversed(data: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let bar = shared_barrier();
                let rows = shared_array::<[u32; 32], 2>();
                bar.init_collective(&block, 32);
                let i = block.thread_rank();
                for k in 0..n {{
                    rows[k % 2][i] = data[i] + k;
                    let token = bar.arrive();
                    {wait}
                    data[i] = rows[k % 2][31 - i];
                }}
            }}"
        )
    };
    for wait in [
        "bar.wait(token);",
        "while !bar.try_wait(&token) {}",
        "while !bar.try_wait_for(&token, 100) { nanosleep(10); }",
        "if bar.try_wait(&token) { data[i] = 7; } bar.wait(token);",
        "while !bar.try_wait(&token) {} bar.wait(token);",
    ] {
        proved(&kernel(wait));
        // One row is overwritten by a thread that is a round ahead of one that reads it.
        let one = kernel(wait).replace("[k % 2]", "[0]");
        assert!(!is_proved(&one), "{one}");
    }
}

/// Whether the next stage is full is asked a round ahead, and waited for only if it was not.
#[test]
fn answers_of_the_round_before() {
    let kernel = |read: &str, number: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn peeks(x: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let stages = shared_array::<[u32; 32], 2>();
                let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
                full.init_collective(&block, 1);
                empty.init_collective(&block, 32);
                if i == 32 {{
                    for k in 0..n {{
                        empty[k % 2].wait_parity(k / 2 % 2 == 0);
                        full[k % 2].expect_tx(128);
                        bulk_copy_async(&stages[k % 2], &x[k * 32..k * 32 + 32], &full[k % 2]);
                        let _ = full[k % 2].arrive();
                    }}
                }} else if i < 32 {{
                    let mut ready = n > 0 && full[0].try_wait_parity(false);
                    for k in 0..n {{
                        if !ready {{ full[k % 2].wait_parity(k / 2 % 2 == 1); }}
                        let next = k + 1;
                        ready = next < n && full[next % 2].try_wait_parity({number} / 2 % 2 == 1);
                        {read}
                    }}
                }}
            }}"
        )
    };
    let right = "out[k * 32 + i] = stages[k % 2][i]; let _ = empty[k % 2].arrive();";
    let found = verdict("", &kernel(right, "next"));
    assert!(found.starts_with("open"), "{found}");
    let early = "let _ = empty[k % 2].arrive(); out[k * 32 + i] = stages[k % 2][i];";
    let other = "out[k * 32 + i] = stages[k % 2][i]; let _ = empty[next % 2].arrive();";
    for wrong in [
        kernel(early, "next"),
        kernel(other, "next"),
        // It asks for the phase before, or does not wait.
        kernel(right, "k"),
        kernel(right, "next").replace("if !ready {", "if ready {"),
        kernel(right, "next").replace("try_wait_parity(false)", "try_wait_parity(true)"),
        kernel(right, "next").replace("expect_tx(128)", "expect_tx(64)"),
    ] {
        let found = verdict("", &wrong);
        assert!(found.starts_with("ring_"), "{found}: {wrong}");
    }
}

/// A test by the token of the last round, of which the answer says whether the thread arrives anew.
#[test]
fn tokens_that_are_tested_in_each_round() {
    let held = |round: &str| {
        verdict(
            "",
            &format!(
                "#[cluster_kernel(block = 64)] fn held(n: u32) {{
                    let block = this_thread_block();
                    let bar = shared_barrier();
                    bar.init_collective(&block, 64);
                    let mut t = bar.arrive();
                    for k in 1..n {{ {round} }}
                    bar.wait(t);
                }}"
            ),
        )
    };
    for wrong in [
        "if bar.try_wait(&t) { t = bar.arrive(); }",
        "if bar.try_wait(&t) { t = bar.arrive(); } else { t = bar.arrive(); }",
        "if k % 2 == 0 || bar.try_wait(&t) { bar.wait(t); } t = bar.arrive();",
        "let _ = bar.try_wait_for(&t, 1000); t = bar.arrive();",
        "if k % 3 > 0 { bar.wait(t); } t = bar.arrive();",
    ] {
        assert!(held(wrong).starts_with("ring_"), "{wrong}: {}", held(wrong));
    }
    for right in [
        "while !bar.try_wait(&t) {} t = bar.arrive();",
        "if k % 2 == 0 || !bar.try_wait(&t) { bar.wait(t); } t = bar.arrive();",
        "for _ in 0..16 { if bar.try_wait(&t) { break; } } bar.wait(t); t = bar.arrive();",
    ] {
        assert!(!held(right).starts_with("ring_"), "{right}: {}", held(right));
    }
}

/// The token of one barrier among several.
#[test]
fn tokens_of_one_of_several_barriers() {
    let held = |round: &str| {
        verdict(
            "",
            &format!(
                "#[cluster_kernel(block = 64)] fn held(n: u32) {{
                    let block = this_thread_block();
                    let bars = shared_barriers::<2>();
                    bars.init_collective(&block, 64);
                    let mut held = None;
                    for k in 0..n {{ {round} }}
                }}"
            ),
        )
    };
    let taken = "if let Some(t) = held.take() { bars[0].wait(t); }";
    assert_eq!(held(&format!("{taken} held = Some(bars[0].arrive());")), "proved");
    let skipped = held(&format!("if k % 2 == 0 {{ {taken} }} held = Some(bars[0].arrive());"));
    assert!(skipped.starts_with("ring_"), "{skipped}");
    let other = held(&format!("{taken} held = Some(bars[k % 2].arrive());"));
    assert!(other != "proved", "{other}");
}
