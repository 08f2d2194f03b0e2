//! Tests of phase barriers whose answers decide nothing, in front of what copies bring.

use super::rules;

/// A test whose answer decides nothing waits for no copy, whatever is counted by it.
#[test]
fn ignored_tests_wait_for_no_copy() {
    let of = |test: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (tile, flags, bar) = (shared_array::<u32, 64>(), shared_array::<u32, 64>(), shared_barrier());
                bar.init_collective(&block, 64);
                memcpy_async(&block, &tile, &input[0..64], &bar);
                let token = bar.arrive();
                let mut late = 0;
                let mut is_over = true;
                {test}
                out[i] = tile[63 - i] + late;
            }}"
        ))
    };
    for test in [
        "bar.try_wait(&token);",
        "let _ = bar.try_wait(&token);",
        "if !bar.try_wait(&token) { late += 1; }",
        "if bar.try_wait(&token) { late += 1; } else { late += 2; }",
        "let over = bar.try_wait(&token); if !over { late = n; }",
        "if !bar.try_wait(&token) { late += 1; } late *= n;",
        "for _ in 0..n { if !bar.try_wait(&token) { late += 1; } }",
        "if !bar.try_wait(&token) { late += 1; } if late > 100 { println!(\"late: {}\", late); }",
        "late += bar.try_wait(&token) as u32; if late > 3 { late = 3; }",
        // What it decides, nobody else learns.
        "if !bar.try_wait(&token) { late += 1; } if late > 3 { out[0] = 1; }",
        "if bar.try_wait(&token) { late = input[64 + i]; } else { out[64 + i] = 1; }",
        "for _ in 0..100 { is_over = bar.try_wait(&token); if is_over { break; } } if !is_over { out[64 + i] = n; }",
        // A limited number of questions.
        "let mut asked = 0; loop { if bar.try_wait(&token) { break; } asked += 1; if asked == 100 { break; } }",
        "let mut asked = 0; while asked != n && !bar.try_wait(&token) { asked += 1; }",
        "for _ in 0..n { if bar.try_wait(&token) { break; } late += 1; }",
        "loop { if bar.try_wait(&token) { break; } late += 1; if late > 100 { break; } }",
        "while late < 100 && !bar.try_wait(&token) { late += 1; }",
        "while !bar.try_wait(&token) && late < n { late += 1; }",
        "while !(bar.try_wait(&token) || late == n || late > 100) { late += 1; }",
        "loop { if bar.try_wait(&token) { break; } late += 1; if late == n || late > 100 { break; } }",
        "for _ in 0..n { if late > 3 || bar.try_wait(&token) { break; } late += 1; }",
    ] {
        assert_eq!(of(test), ["copy_in_flight"], "{test}");
    }
    for test in [
        "while !bar.try_wait(&token) { late += 1; }",
        "if !bar.try_wait(&token) { bar.wait(token); }",
        "if !bar.try_wait(&token) { is_over = false; } if !is_over { bar.wait(token); }",
        "if !bar.try_wait(&token) { late += 1; } if late > 0 { bar.wait(token); }",
        "if !bar.try_wait(&token) { late += 1; } while late > 0 { bar.wait_parity(false); late = 0; }",
        "late = if bar.try_wait(&token) { 0 } else { 1 }; let again = late * 3; if again == 3 { bar.wait(token); }",
        "loop { if bar.try_wait(&token) { break; } late += 1; }",
        "while late < 100 || !bar.try_wait(&token) { late += 1; }",
        "while !(late > 100 && bar.try_wait(&token)) { late += 1; }",
        "while i > 0 && !bar.try_wait(&token) { late += 1; } if i == 0 { bar.wait(token); }",
        "while late < 100 && !bar.try_wait(&token) { late += 1; } if late == 100 { bar.wait(token); }",
        "for _ in 0..100 { if bar.try_wait(&token) { break; } late += 1; } if late == 100 { return; }",
        "let mut asked = 0; while !bar.try_wait(&token) { if asked < 100 { asked += 1; } }",
        "if !bar.try_wait(&token) { late += 1; } if tiled_partition::<32>(&block).all(late > 0) { bar.wait(token); }",
        "if !bar.try_wait(&token) { late += 1; } flags[i] = late; block.sync(); if flags[0] > 0 { bar.wait(token); }",
        "is_over = bar.try_wait(&token); while !is_over { is_over = bar.try_wait(&token); }",
    ] {
        assert!(of(test).is_empty(), "{test}: {:?}", of(test));
    }
}

/// Where all threads give up, the block exits while the copy is in flight.
#[test]
fn threads_that_give_up() {
    let broken = rules(
        "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32]) {
            let block = this_thread_block();
            let i = block.thread_rank();
            let (tile, bar) = (shared_array::<u32, 64>(), shared_barrier());
            bar.init_collective(&block, 64);
            memcpy_async(&block, &tile, &input[0..64], &bar);
            let token = bar.arrive();
            if !bar.try_wait(&token) { return; }
            out[i] = tile[63 - i];
        }",
    );
    assert_eq!(broken, ["ring_undrained"]);
}

/// What is read where an answer says that the phase is not over is not in order, and what is read where it is over is.
#[test]
fn answers_the_wrong_way_round() {
    let of = |test: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32]) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (tile, bar) = (shared_array::<u32, 64>(), shared_barrier());
                bar.init_collective(&block, 64);
                tile[i] = input[i];
                let token = bar.arrive();
                {test}
            }}"
        ))
    };
    for (right, wrong) in [
        ("if bar.try_wait(&token) { out[i] = tile[63 - i]; }", "if !bar.try_wait(&token) { out[i] = tile[63 - i]; }"),
        (
            "if !bar.try_wait(&token) { out[i] = 0; } else { out[i] = tile[63 - i]; }",
            "if bar.try_wait(&token) { out[i] = 0; } else { out[i] = tile[63 - i]; }",
        ),
        (
            "let over = bar.try_wait(&token); if over { out[i] = tile[63 - i]; }",
            "let over = !bar.try_wait(&token); if over { out[i] = tile[63 - i]; }",
        ),
        (
            "if !bar.try_wait(&token) { bar.wait(token); } out[i] = tile[63 - i];",
            "if bar.try_wait(&token) { bar.wait(token); } out[i] = tile[63 - i];",
        ),
        (
            "if !bar.try_wait(&token) { return; } out[i] = tile[63 - i];",
            "if bar.try_wait(&token) { return; } out[i] = tile[63 - i];",
        ),
        (
            "if bar.try_wait_for(&token, 100) { out[i] = tile[63 - i]; }",
            "if !bar.try_wait_for(&token, 100) { out[i] = tile[63 - i]; }",
        ),
    ] {
        assert_eq!(of(right), [""; 0], "{right}");
        assert_eq!(of(wrong), ["ring_overwrite"], "{wrong}");
    }
}

/// What threads write themselves is in order for others by a wait alone, and not by a loop that may give up.
#[test]
fn ignored_tests_order_no_writes() {
    let of = |test: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (tile, bar) = (shared_array::<u32, 64>(), shared_barrier());
                bar.init_collective(&block, 64);
                tile[i] = input[i];
                let token = bar.arrive();
                let mut done = false;
                {test}
                out[i] = tile[63 - i];
            }}"
        ))
    };
    for test in [
        "bar.try_wait(&token);",
        "for _ in 0..100 { if bar.try_wait(&token) { break; } }",
        "for _ in 0..n { if bar.try_wait(&token) { done = true; break; } }",
        "for _ in 0..100 { if !done { done = bar.try_wait(&token); } }",
        "let mut k = 0; while k < n && !bar.try_wait(&token) { k += 1; }",
        "let mut k = 0; loop { if bar.try_wait(&token) { break; } k += 1; if k == 100 { break; } }",
        "done = (0..100).any(|_| bar.try_wait(&token));",
        "for _ in 0..100 { if bar.try_wait(&token) { done = true; break; } } if !done { out[64 + i] = 1; }",
    ] {
        assert_eq!(of(test), ["unsynchronized_access"], "{test}");
    }
    for test in [
        "loop { if bar.try_wait(&token) { break; } }",
        "for _ in 0..100 { if bar.try_wait(&token) { break; } } bar.wait(token);",
        "for _ in 0..100 { if bar.try_wait(&token) { done = true; break; } } if !done { bar.wait(token); }",
        "for _ in 0..100 { if bar.try_wait(&token) { done = true; break; } } if !done { return; }",
        "let mut k = 0; while !bar.try_wait(&token) { k += 1; assert!(k < 1000); }",
    ] {
        assert!(of(test).is_empty(), "{test}: {:?}", of(test));
    }
    // Only where it has succeeded.
    let guarded = rules(
        "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32]) {
            let block = this_thread_block();
            let i = block.thread_rank();
            let (tile, bar) = (shared_array::<u32, 64>(), shared_barrier());
            bar.init_collective(&block, 64);
            tile[i] = input[i];
            let token = bar.arrive();
            let mut done = false;
            for _ in 0..100 { if bar.try_wait(&token) { done = true; break; } }
            out[i] = if done { tile[63 - i] } else { 0 };
        }",
    );
    assert!(guarded.is_empty(), "{guarded:?}");
}

/// The same in rounds, whose stages and barriers take turns.
#[test]
fn ignored_tests_of_rounds() {
    let of = |test: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(input: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (tiles, bars) = (shared_array::<[u32; 64], 2>(), shared_barriers::<2>());
                bars.init_collective(&block, 64);
                let mut sum = 0;
                for k in 0..n {{
                    memcpy_async(&block, &tiles[k % 2], &input[k * 64..(k + 1) * 64], &bars[k % 2]);
                    let token = bars[k % 2].arrive();
                    {test}
                    sum += tiles[k % 2][63 - i];
                    block.sync();
                }}
                out[i] = sum;
            }}"
        ))
    };
    assert_eq!(of("if !bars[k % 2].try_wait(&token) { sum += 1; }"), ["ring_read"]);
    assert!(of("while !bars[k % 2].try_wait(&token) { sum += 1; }").is_empty());
    assert!(of("bars[k % 2].wait(token);").is_empty());
}
