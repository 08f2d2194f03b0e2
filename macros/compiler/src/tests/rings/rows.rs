//! Rows that a method fills as a whole, that a loop searches until it finds something, and that a bulk copy stores while others write.

use super::extraction::{faulty, is_proved};
use crate::tests::rules;

fn ring(fill: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn k(x: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let rows = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {{
                for k in 0..n {{ let (s, p) = (k % 2, k / 2 % 2 == 1); {fill} }}
            }} else if i < 32 {{
                let mut sum = 0;
                for k in 0..n {{ let (s, p) = (k % 2, k / 2 % 2 == 1); {read} }}
                out[i] = sum;
            }}
        }}"
    )
}

const WAIT: &str = "full[s].wait_parity(p);";
const RELEASE: &str = "let _ = empty[s].arrive();";

#[test]
fn rows_that_are_filled() {
    let read = [WAIT, "sum += rows[s][i];", RELEASE].concat();
    let (wait, arrive) = ("empty[s].wait_parity(!p);", "let _ = full[s].arrive();");
    for fill in ["rows[s].fill(x[k]);", "rows[k % 2].fill(x[k] + 1);"] {
        let right = ring(&[wait, fill, arrive].concat(), &read);
        assert!(is_proved(&right), "{right}");
        faulty(&ring(&[fill, arrive].concat(), &read), "ring_overwrite");
        faulty(&ring(&[wait, arrive, fill].concat(), &read), "ring_read");
        faulty(
            &ring(&[wait, fill, arrive].concat(), &[WAIT, RELEASE, "sum += rows[s][i];"].concat()),
            "ring_overwrite",
        );
    }
}

/// The first iteration of a loop that ends by what it finds is certain.
#[test]
fn rows_that_are_searched() {
    let fill = "empty[s].wait_parity(!p); full[s].expect_tx(128); bulk_copy_async(&rows[s], &x[..32], &full[s]);
        let _ = full[s].arrive();";
    for search in [
        "let mut d = 0; while d < 32 && rows[s][d] != i { d += 1; } sum += d;",
        "let mut d = 0; while rows[s][d] != i { d += 1; } sum += d;",
        "let mut d = 0; while d < 32 { if rows[s][d] == i { break; } d += 1; } sum += d;",
        "let mut d = 0; while rows[s][d] != i && d < 31 { d += 1; } sum += d;",
        "for d in 0..32 { if rows[s][d] == i { sum += d; break; } }",
    ] {
        let right = ring(fill, &[WAIT, search, RELEASE].concat());
        assert!(is_proved(&right), "{right}");
        faulty(&ring(fill, &[WAIT, RELEASE, search].concat()), "ring_overwrite");
        faulty(&ring(fill, &[search, WAIT, RELEASE].concat()), "ring_read");
    }
}

/// What a phase barrier orders of the thread that waits for its stores: what comes before its arrival alone.
#[test]
fn rows_that_others_write() {
    let kernel = |after_wait: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn k(x: &[f32], out: &mut [f32]) {{
                let (grid, block) = (this_grid(), this_thread_block());
                let i = block.thread_rank();
                let (staged, result) = (shared_array::<f32, 64>(), shared_array::<f32, 64>());
                let full = shared_barrier();
                full.init_collective(&block, 1);
                let (mut parity, mut tile) = (false, grid.block_rank() as u32);
                while tile < x.len() as u32 / 64 {{
                    if i == 0 {{
                        full.expect_tx(256);
                        bulk_copy_async(&staged, &x[tile * 64..(tile + 1) * 64], &full);
                        let _ = full.arrive();
                        bulk_wait_group_read::<0>();
                    }}
                    full.wait_parity(parity);
                    parity = !parity;
                    let x = staged[63 - i];
                    {after_wait}
                    result[i] = x;
                    block.sync();
                    if i == 0 {{ bulk_copy_async(&mut out[tile * 64..(tile + 1) * 64], &result); }}
                    tile += grid.num_blocks() as u32;
                }}
                if i == 0 {{ bulk_wait_group_read::<0>(); }}
            }}"
        )
    };
    assert_eq!(rules(&kernel("block.sync();")), [""; 0]);
    assert_eq!(rules(&kernel("")), ["ring_overwrite"]);
}
