//! Rings in which data or arguments decide between two sources, or whether what was copied is used: where either arm does the same with the
//! barriers, the ring is proved; where one of them forgets, repeats or reorders something, it is refused.

use super::super::faults;
use super::extraction::{is_proved, proved};

/// A ring of two stages whose thread fills stage `s`, and whose 64 readers read it.
fn ring(fill: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)]
        fn sums(a: &[f32], b: &[f32], flags: &[u32], out: &mut [f32], chunks: u32, both: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[f32; 64], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            if i == 64 {{
                for k in 0..chunks {{
                    let s = k % 2;
                    empty[s].wait_parity(k / 2 % 2 == 0);
                    {fill}
                }}
            }} else if i < 64 {{
                let mut sum = 0.0;
                for k in 0..chunks {{
                    let s = k % 2;
                    full[s].wait_parity(k / 2 % 2 == 1);
                    {read}
                }}
                out[i] = sum;
            }}
        }}"
    )
    .replace("EXPECT", "full[s].expect_tx(256);")
    .replace("COPY_A", "bulk_copy_async(&stages[s], &a[k * 64..(k + 1) * 64], &full[s]);")
    .replace("COPY_B", "bulk_copy_async(&stages[s], &b[k * 64..(k + 1) * 64], &full[s]);")
    .replace("FULL", "let _ = full[s].arrive();")
    .replace("EMPTY", "let _ = empty[s].arrive();")
    .replace("READ", "sum += stages[s][i];")
}

/// What decides.
const CONDITIONS: [&str; 5] = ["flags[k] != 0", "both > 3", "flags[0] + k > both", "k % 2 == both % 2", "a[k] > 0.5"];

const FILL: &str = "EXPECT COPY_A FULL";
const READ: &str = "READ EMPTY";

#[test]
fn either_source() {
    for on in CONDITIONS {
        for fill in [
            "EXPECT if {on} { COPY_A } else { COPY_B } FULL",
            "if {on} { EXPECT COPY_A FULL } else { EXPECT COPY_B FULL }",
            "EXPECT if {on} { COPY_A FULL } else { COPY_B FULL }",
            "if {on} { EXPECT } else { EXPECT } if {on} { COPY_A } else if k > both { COPY_B } else { COPY_A } FULL",
        ] {
            proved(&ring(&fill.replace("{on}", on), READ));
        }
        for read in [
            "if {on} { READ EMPTY } else { EMPTY }",
            "if {on} { EMPTY } else { READ EMPTY }",
            "if {on} { READ EMPTY } else { sum -= stages[s][63 - i]; EMPTY }",
        ] {
            proved(&ring(FILL, &read.replace("{on}", on)));
        }
    }
}

#[test]
fn an_arm_that_differs() {
    for on in &CONDITIONS[..3] {
        for fill in [
            "EXPECT if {on} { COPY_A } FULL",
            "EXPECT if {on} { COPY_A FULL } else { COPY_B }",
            "if {on} { EXPECT COPY_A FULL } else { COPY_B EXPECT FULL full[s].expect_tx(256); }",
            "if {on} { EXPECT COPY_A FULL } else { full[s].expect_tx(128); COPY_B FULL }",
            "if {on} { EXPECT COPY_A FULL } else { EXPECT COPY_B FULL FULL }",
        ] {
            let source = ring(&fill.replace("{on}", on), READ);
            assert!(!faults(&source).is_empty() && !is_proved(&source), "{source}");
        }
        for read in [
            "if {on} { READ EMPTY }",
            "if {on} { READ EMPTY } else { EMPTY EMPTY }",
            "EMPTY if {on} { READ } else { sum -= stages[s][i]; }",
            "if {on} { READ EMPTY } else { EMPTY READ }",
        ] {
            let source = ring(FILL, &read.replace("{on}", on));
            assert!(!faults(&source).is_empty() && !is_proved(&source), "{source}");
        }
    }
}
