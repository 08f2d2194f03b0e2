//! Rows that threads write, that bulk copies store, and that are written again; and rings whose text counts in other ways: parities as
//! bits of a word, flags as const parameters, threads that arrive across the end of a phase.

use super::super::faults;
use super::extraction::{cases, faulty, proved};
use crate::RingReport;

/// A warp that reads a ring of two stages, and stores what it computes by two rows in turn.
fn ring(before: &str, between: &str, write: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 32], 2>();
            let rows = shared_array::<[u32; 32], 4>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if warp.meta_group_rank() == 1 {{
                if i == 32 {{
                    for k in 0..chunks {{
                        empty[k % 2].wait_parity(k / 2 % 2 == 0);
                        full[k % 2].expect_tx(128);
                        bulk_copy_async(&stages[k % 2], &input[k * 32..(k + 1) * 32], &full[k % 2]);
                        let _ = full[k % 2].arrive();
                    }}
                }}
            }} else {{
                for k in 0..chunks {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    let x = stages[k % 2][31 - i];
                    let _ = empty[k % 2].arrive();
                    let row = &rows[warp.meta_group_rank() * 2 + k % 2];
                    if warp.thread_rank() == 0 {{ {before} }}
                    {between}
                    {write}
                    warp.sync();
                    if warp.thread_rank() == 0 {{
                        bulk_copy_async(&mut out[k * 32..(k + 1) * 32], row);
                    }}
                }}
                if warp.thread_rank() == 0 {{ bulk_wait_group_read::<0>(); }}
            }}
        }}"
    )
}

const WAIT: &str = "bulk_wait_group_read::<1>();";
const SYNC: &str = "warp.sync();";
const WRITE: &str = "row[i] = x;";

fn rules(source: &str) -> Vec<String> {
    faults(source).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn rows_that_are_stored() {
    assert_eq!(rules(&ring(WAIT, SYNC, WRITE)), Vec::<String>::new());
    assert_eq!(rules(&ring("bulk_wait_group_read::<0>();", SYNC, WRITE)), Vec::<String>::new());
    for before in ["", "bulk_wait_group_read::<2>();"] {
        let found = rules(&ring(before, SYNC, WRITE));
        assert!(!found.is_empty(), "{before}");
    }
}

/// A ring of three stages whose parities are bits of a word.
fn of_bits(odd: &str, flips: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 3>();
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            let mut phases = 0u32;
            let mut s = 0;
            if i == 64 {{
                for k in 0..chunks {{
                    empty[s].wait_parity((phases >> s & 1) == {odd});
                    {flips}
                    full[s].expect_tx(256);
                    bulk_copy_async(&stages[s], &input[k * 64..(k + 1) * 64], &full[s]);
                    let _ = full[s].arrive();
                    s = (s + 1) % 3;
                }}
            }} else if i < 64 {{
                let mut sum = 0;
                for _ in 0..chunks {{
                    full[s].wait_parity((phases >> s & 1) == 1);
                    phases ^= 1 << s;
                    sum += stages[s][63 - i];
                    let _ = empty[s].arrive();
                    s = (s + 1) % 3;
                }}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn parities_as_bits() {
    proved(&of_bits("0", "phases ^= 1 << s;"));
    proved(&of_bits("0", "if phases >> s & 1 == 0 { phases |= 1 << s; } else { phases ^= 1 << s; }"));
    faulty(&of_bits("1", "phases ^= 1 << s;"), "ring_deadlock");
    faulty(&of_bits("0", ""), "ring_overwrite");
}

/// Two warps arrive where a phase expects one of them, so that each time two phases pass.
#[test]
fn arrivals_across_the_end_of_a_phase() {
    let kernel = |count: u32, parity: bool| {
        format!(
            "#[cluster_kernel(block = 96)] fn twice(out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let bar = shared_barrier();
                bar.init_collective(&block, {count});
                for _ in 0..n {{
                    if i < 64 {{ let _ = bar.arrive(); }}
                    block.sync();
                    if i == 64 {{ bar.wait_parity({parity}); }}
                    block.sync();
                }}
                out[i] = 1;
            }}"
        )
    };
    assert_eq!(rules(&kernel(32, true)), Vec::<String>::new());
    faulty(&kernel(63, true), "ring_count");
}

/// A flag that is a const parameter has either value, and a fault counts where it has that one.
#[test]
fn flags_as_parameters() {
    let source = "#[cluster_kernel(block = 64)] fn flagged<const TWICE: bool>(out: &mut [u32], n: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let bar = shared_barrier();
        bar.init_collective(&block, 64);
        let rounds = if TWICE { n * 2 } else { n };
        for k in 0..rounds {
            let _ = bar.arrive();
            if TWICE { bar.wait_parity(k % 2 == 0); } else { bar.wait_parity(k % 2 == 1); }
        }
        out[i] = 1;
    }";
    let refused = |value: i64| {
        let of = |case: &crate::RingCase| case.values == [("TWICE".to_string(), value)];
        let case = cases("", source).into_iter().find(of);
        case.map(|case| matches!(case.report, RingReport::Refused(_)))
    };
    assert_eq!((refused(0), refused(1)), (Some(false), Some(true)));
}

/// A persistent kernel whose consumers write a tile for a bulk copy, which thread 0 begins.
fn epilogue(parts: [&str; 5]) -> String {
    let [waits, freed, written, stores, last] = parts;
    format!(
        "#[cluster_kernel(block = 160)] fn sums(input: &[f32], out: &mut [f32], tiles: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let warp = tiled_partition::<32>(&block);
            let stages = shared_array::<[f32; 128], 2>();
            let result = shared_array::<[f32; 128], 1>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            let written = shared_barrier();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 128);
            written.init_collective(&block, 128);
            if i == 128 {{
                for k in 0..tiles {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(512);
                    bulk_copy_async(&stages[k % 2], &input[k * 128..(k + 1) * 128], &full[k % 2]);
                    let _ = full[k % 2].arrive();
                }}
            }} else if i < 128 {{
                for k in 0..tiles {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    let x = stages[k % 2][127 - i];
                    let _ = empty[k % 2].arrive();
                    {waits}
                    {freed}
                    result[0][i] = x;
                    {written}
                    {stores}
                }}
                {last}
            }}
            let _ = warp;
        }}"
    )
}

/// The order of a tile's copy and of its writes by other warps is that of a phase barrier.
#[test]
fn rows_that_other_warps_write() {
    let right = [
        "if i == 0 { bulk_wait_group_read::<0>(); }",
        "written.arrive_and_wait();",
        "written.arrive_and_wait();",
        "if i == 0 { bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &result[0]); }",
        "if i == 0 { bulk_wait_group_read::<0>(); }",
    ];
    assert_eq!(rules(&epilogue(right)), Vec::<String>::new());
    let with = |at: usize, text: &str| {
        let mut parts = right;
        parts[at] = text;
        rules(&epilogue(parts))
    };
    // The copy is waited for behind itself, too.
    let at_once =
        "if i == 0 { bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &result[0]); bulk_wait_group_read::<0>(); }";
    assert_eq!(with(3, at_once), Vec::<String>::new());
    let waits_late = "if i == 0 && k > 1 { bulk_wait_group_read::<0>(); }";
    for (at, text, rule) in [
        (0, "", "ring_overwrite"),
        (0, "if i == 32 { bulk_wait_group_read::<0>(); }", "ring_overwrite"),
        (0, "if i == 0 { bulk_wait_group_read::<1>(); }", "ring_overwrite"),
        (0, waits_late, "ring_overwrite"),
        (1, "", "ring_overwrite"),
        (1, "warp.sync();", "ring_overwrite"),
        (2, "", "ring_read"),
        (2, "warp.sync();", "ring_overwrite"),
        (4, "if i == 0 && tiles > 100 { bulk_wait_group_read::<0>(); }", "ring_undrained"),
    ] {
        let found = with(at, text);
        // Where no thread waits in any round, the copy itself says so.
        assert!(found.iter().any(|found| found == rule || found == "copy_in_flight"), "{at} {text}: {found:?}");
    }
    assert!(!with(4, "").is_empty());
}
