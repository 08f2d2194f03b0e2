//! Stages that copies fill row by row, also rows with padding and by known numbers of rounds that are long: right ones are proved, and each
//! mistake is refused.

use super::super::faults;
use super::extraction::{is_proved, proved};

/// A ring of three stages of so many rows, each of which one copy fills `part` of with so many bytes.
fn ring(rows: u32, row: u32, part: &str, bytes: u32, change: (&str, &str)) -> String {
    let text = format!(
        "#[cluster_kernel(block = 160)] fn sums(x: &[f32], out: &mut [f32], n: u32) {{
            let block = this_thread_block();
            let t = block.thread_rank();
            let a = shared_array::<[[f32; {row}]; {rows}], 3>();
            let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 128);
            if t == 128 {{
                for k in 0..n {{
                    empty[k % 3].wait_parity(k / 3 % 2 == 0);
                    full[k % 3].expect_tx({bytes});
                    for r in 0..{rows}u32 {{
                        let from = (k * {rows} + r) * 64;
                        bulk_copy_async(&a[k % 3][r]{part}, &x[from..from + 64], &full[k % 3]);
                    }}
                    let _ = full[k % 3].arrive();
                }}
            }} else if t < 128 {{
                let mut sum = 0.0;
                for k in 0..n {{
                    full[k % 3].wait_parity(k / 3 % 2 == 1);
                    for r in 0..{rows}u32 {{ sum += a[k % 3][r][t % 64]; }}
                    let _ = empty[k % 3].arrive();
                }}
                out[t] = sum;
            }}
        }}"
    );
    let changed = text.replace(change.0, change.1);
    assert!(changed != text || change.0.is_empty(), "no {:?} in\n{text}", change.0);
    changed
}

#[test]
fn row_by_row() {
    for (row, part) in [(64, ""), (68, "[..64]"), (72, "[4..68]"), (128, "[0..64]")] {
        for rows in [4, 16, 64] {
            let bytes = rows * 256;
            proved(&ring(rows, row, part, bytes, ("", "")));
            if rows == 64 && row != 68 {
                continue;
            }
            for change in [
                ("k / 3 % 2 == 1", "k / 3 % 2 == 0"),
                ("k / 3 % 2 == 0", "k / 3 % 2 == 1"),
                ("u32 {\n", "u32 - 1 {\n"),
                ("let _ = full", "full[k % 3].expect_tx(16); let _ = full"),
                ("init_collective(&block, 128)", "init_collective(&block, 127)"),
                ("let _ = empty[k % 3].arrive();", ""),
            ] {
                let source = ring(rows, row, part, bytes, change);
                assert!(!faults(&source).is_empty() && !is_proved(&source), "{source}");
            }
        }
    }
}

/// A loop of a known number of rounds in each round of an outer one, after which a counter begins anew: the phases are those of the rounds.
#[test]
fn long_loops_of_a_known_length() {
    let ring = |rounds: u32, restart: &str| {
        format!(
            "#[cluster_kernel(block = 96)] fn sums(x: &[f32], out: &mut [f32], tiles: u32) {{
                let block = this_thread_block();
                let t = block.thread_rank();
                let a = shared_array::<[f32; 64], 4>();
                let (full, empty) = (shared_barriers::<4>(), shared_barriers::<4>());
                full.init_collective(&block, 1);
                empty.init_collective(&block, 64);
                let mut at = 0u32;
                if t == 64 {{
                    for tile in 0..tiles {{
                        for k in 0..{rounds}u32 {{
                            empty[at % 4].wait_parity(at / 4 % 2 == 0);
                            full[at % 4].expect_tx(256);
                            let from = (tile * {rounds} + k) * 64;
                            bulk_copy_async(&a[at % 4], &x[from..from + 64], &full[at % 4]);
                            let _ = full[at % 4].arrive();
                            at += 1;
                        }}
                    }}
                }} else if t < 64 {{
                    for tile in 0..tiles {{
                        {restart}
                        let mut sum = 0.0;
                        for _ in 0..{rounds}u32 {{
                            full[at % 4].wait_parity(at / 4 % 2 == 1);
                            sum += a[at % 4][t];
                            let _ = empty[at % 4].arrive();
                            at += 1;
                        }}
                        out[tile * 64 + t] = sum;
                    }}
                }}
            }}"
        )
    };
    for rounds in [16, 32, 40] {
        proved(&ring(rounds, ""));
        proved(&ring(rounds, "at = 0;"));
    }
    for rounds in [10, 12, 20, 33] {
        proved(&ring(rounds, ""));
        assert!(!faults(&ring(rounds, "at = 0;")).is_empty(), "{rounds}");
    }
}
