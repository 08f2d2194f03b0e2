//! Rings whose threads ask whether a phase is over: loops that ask are waits, whatever else they do, and what a single answer tells
//! is left out.

use super::extraction::{faulty, is_proved, proved};

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
