//! Stages that threads fill themselves, and waits by phases of rounds that are over.

use super::extraction::faulty;
use crate::rules::Rule;
use crate::tests::faults;

/// A ring of two stages that threads 0 to 31 fill and the next 32 read; `fill` and `read` stand between the waits and the arrivals.
fn written(stages: &str, fill: &str, read: &str, early: bool) -> String {
    let release = "let _ = empty[k % 2].arrive();";
    let (before, after) = if early { (release, "") } else { ("", release) };
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = {stages};
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 32);
            empty.init_collective(&block, 32);
            if i < 32 {{
                for k in 0..n {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    {fill}
                    let _ = full[k % 2].arrive();
                }}
            }} else {{
                let mut sum = 0;
                for k in 0..n {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    {before}
                    {read}
                    {after}
                }}
                out[i] = sum;
            }}
        }}"
    )
}

const ROWS: &str = "shared_array::<[u32; 32], 2>()";
const ONE: &str = "shared_array::<u32, 32>()";
const WRITE: &str = "stages[k % 2][i] = input[k * 32 + i];";

#[test]
fn released_early() {
    let reads = [
        "sum += stages[k % 2][i - 32];",
        "sum += stages[k % 2][63 - i];",
        "sum += stages[k % 2][0];",
        "for j in 0..32 { sum += stages[k % 2][j]; }",
        "for j in (0..32).step_by(4) { sum += stages[k % 2][j + (i - 32) % 4]; }",
        "for j in (0..4).rev() { for l in 0..8 { sum += stages[k % 2][j * 8 + l]; } }",
        "for j in 0..n { sum += stages[k % 2][j]; }",
        "if k < n { sum += stages[k % 2][i - 32]; }",
    ];
    for read in reads {
        faulty(&written(ROWS, WRITE, read, true), "ring_overwrite");
        accepted(&written(ROWS, WRITE, read, false));
    }
    // One buffer cannot be filled for the next round while it is read.
    let whole = "stages[i] = input[k * 32 + i];";
    faulty(&written(ONE, whole, "sum += stages[i - 32];", false), "ring_read");
}

/// Accesses of different elements, and of elements that the text does not show, are no conflict for certain.
#[test]
fn other_elements() {
    accepted(&written(ROWS, WRITE, "if out[k] > 0 { sum += stages[k % 2][i - 32]; }", true));
    for read in ["if input[k] > 0 { sum += stages[k % 2][i - 32]; }", "sum += stages[k % 2][input[i] % 32];"] {
        faulty(&written(ROWS, WRITE, read, true), "ring_overwrite");
    }
    let halves = "stages[k % 2][i / 2] = 1;";
    // Nobody writes what the others read.
    let found = faults(&written(ROWS, halves, "sum += stages[k % 2][i / 2];", true));
    assert!(found.iter().all(|fault| fault.rule() == Rule::UninitSharedRead) && !found.is_empty(), "{found:?}");
}

/// Threads exchange sums at a barrier of their own.
#[test]
fn exchanged() {
    let kernel = |wait: &str, read: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32]) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let sums = shared_array::<u32, 64>();
                let done = shared_barrier();
                done.init_collective(&block, 64);
                sums[i] = input[i];
                {wait}
                out[i] = {read};
            }}"
        )
    };
    faulty(&kernel("let _ = done.arrive();", "sums[63 - i]"), "ring_overwrite");
    accepted(&kernel("let _ = done.arrive();", "sums[i]"));
    accepted(&kernel("done.arrive_and_wait();", "sums[63 - i]"));
}

#[track_caller]
fn accepted(source: &str) {
    let found = faults(source);
    assert!(found.is_empty(), "{:?} of\n{source}", found[0].text());
}

/// Two passes over a ring, whose parities begin anew.
fn passes(rounds: &str, parity: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = {ROWS};
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 32);
            empty.init_collective(&block, 32);
            for pass in 0..2 {{
                if i < 32 {{
                    for k in 0..{rounds} {{
                        empty[k % 2].wait_parity({parity} == 0);
                        {WRITE}
                        let _ = full[k % 2].arrive();
                    }}
                }} else {{
                    for k in 0..{rounds} {{
                        full[k % 2].wait_parity({parity} == 1);
                        out[(pass * {rounds} + k) * 32 + i] = stages[k % 2][i - 32];
                        let _ = empty[k % 2].arrive();
                    }}
                }}
            }}
        }}"
    )
}

#[test]
fn stale_parities() {
    faulty(&passes("3", "k / 2 % 2"), "ring_read");
    // Here a thread may also arrive twice where it passes.
    for rounds in ["1", "2", "5", "6", "7", "n"] {
        assert!(!faults(&passes(rounds, "k / 2 % 2")).is_empty(), "{rounds}");
    }
    for rounds in ["4", "8", "(4 * n)"] {
        accepted(&passes(rounds, "k / 2 % 2"));
    }
    for rounds in ["2", "6"] {
        accepted(&passes(rounds, "(k / 2 + pass) % 2"));
    }
}

/// A phase may be waited for again: by who has not released it, or at a barrier that is not the stage's.
#[test]
fn waited_for_again() {
    let kernel = |again: &str| {
        written(ROWS, WRITE, "sum += stages[k % 2][i - 32];", false)
            .replace("let empty", "let once = shared_barrier(); once.init_collective(&block, 32);\nlet empty")
            .replace("for k in 0..n {", "if i < 32 { let _ = once.arrive(); } for k in 0..n {")
            .replace("sum +=", &format!("{again} sum +="))
    };
    accepted(&kernel("once.wait_parity(false);"));
    accepted(&kernel("full[k % 2].wait_parity(k / 2 % 2 == 1);"));
}

/// A warp that acts as one fills an element of an array of which each thread's elements are followed.
#[test]
fn filled_by_warps_in_part() {
    let kernel = "#[cluster_kernel(block = 288)] fn total(input: &[f32], out: &mut [f32], chunks: u32) {
        let block = this_thread_block();
        let warp = tiled_partition::<32>(&block);
        let stages = shared_array::<[f32; 256], 4>();
        let full = shared_barriers::<4>();
        let empty = shared_barriers::<4>();
        let sums = shared_array::<f32, 8>();
        full.init_collective(&block, 1);
        empty.init_collective(&block, 256);
        let i = block.thread_rank();
        let mut pipeline = Pipeline::<4>::new();
        let mut sum = 0.0;
        if i == 256 {
            for chunk in 0..chunks {
                let stage = pipeline.producer_acquire(&empty);
                full[stage].expect_tx(1024);
                let from = chunk as usize * 256;
                bulk_copy_async(&stages[stage], &input[from..from + 256], &full[stage]);
                pipeline.producer_commit(&full);
            }
        } else if i < 256 {
            for _ in 0..chunks {
                let stage = pipeline.consumer_wait(&full);
                sum += stages[stage][i];
                pipeline.consumer_release(&empty);
            }
        }
        sum = warp.reduce(sum, op::Plus);
        if warp.thread_rank() == 0 && i < 256 {
            sums[warp.meta_group_rank()] = sum;
        }
        block.sync();
        if i == 0 {
            out[0] = sums[0] + sums[7];
        }
    }";
    assert!(faults(kernel).is_empty());
}
