//! Stages that copies fill, and that threads change where they are or hand on to bulk copies.

use super::verdict;

/// A warp that changes each stage in place and stores it by a bulk copy.
const IN_PLACE: &str = "#[cluster_kernel(block = 64)]
fn in_place(input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let lane = warp.thread_rank();
    let smem = shared_array::<[u32; 32], 3>();
    let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 1);
    if warp.meta_group_rank() == 1 {
        if lane == 0 {
            for k in 0..tiles {
                let (s, phase) = (k % 3, k / 3 % 2 == 1);
                empty[s].wait_parity(!phase);
                full[s].expect_tx(128);
                bulk_copy_async(&smem[s], &input[k * 32..k * 32 + 32], &full[s]);
                let _ = full[s].arrive();
            }
        }
    } else {
        for k in 0..tiles {
            let (s, phase) = (k % 3, k / 3 % 2 == 1);
            full[s].wait_parity(phase);
            smem[s][lane] = smem[s][lane] * 2 + 1;
            warp.sync();
            if lane == 0 {
                bulk_copy_async(&mut out[k * 32..k * 32 + 32], &smem[s]);
                bulk_wait_group_read::<0>();
                let _ = empty[s].arrive();
            }
        }
    }
}";

/// Other ways to change a stage.
const CHANGES: [&str; 3] = [
    "smem[s][lane] += 7;",
    "let x = smem[s][lane]; smem[s][lane] = x * 2;",
    "smem[s].atomic(lane).fetch_add(1, Relaxed);",
];

const CHANGE: &str = "smem[s][lane] = smem[s][lane] * 2 + 1;";

/// Changes that make a fault of it.
const WRONG: [(&str, &str); 8] = [
    ("bulk_wait_group_read::<0>();\n", ""),
    ("bulk_wait_group_read::<0>", "bulk_wait_group_read::<1>"),
    ("warp.sync();\n", ""),
    ("empty[s].wait_parity(!phase);", ""),
    ("empty[s].wait_parity(!phase);", "empty[s].wait_parity(phase);"),
    ("full[s].wait_parity(phase);", ""),
    ("full[s].expect_tx(128)", "full[s].expect_tx(64)"),
    ("(k % 3, k / 3 % 2 == 1);\n                empty", "((k + 1) % 3, k / 3 % 2 == 1);\n                empty"),
];

#[test]
fn changed_and_stored() {
    for change in std::iter::once(CHANGE).chain(CHANGES) {
        assert_eq!(verdict("", &IN_PLACE.replace(CHANGE, change)), "proved", "{change}");
    }
    // Lanes that do different things are no actor of a proof together, and no fault either.
    let half = verdict("", &IN_PLACE.replace(CHANGE, "if lane < 16 { smem[s][lane] = 0; }"));
    assert!(half.starts_with("open"), "{half}");
}

#[test]
fn changed_or_stored_wrongly() {
    for (from, to) in WRONG {
        let file = IN_PLACE.replacen(from, to, 1);
        assert_ne!(file, IN_PLACE, "{from}");
        let found = verdict("", &file);
        assert!(!found.is_empty() && found != "proved" && !found.starts_with("open"), "{from} {to}: {found}");
    }
}

/// One warp for both: the stage of two rounds ago is loaded again when all but the last store have read theirs.
#[test]
fn loaded_again_by_the_same_warp() {
    let kernel = |wait: &str, sync: &str| {
        format!(
            "#[cluster_kernel(block = 128)]
            fn scale(input: &[u32], out: &mut [u32], tiles: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let smem = shared_array::<[u32; 128], 3>();
                let full = shared_barriers::<3>();
                full.init_collective(&block, 1);
                if i == 0 {{
                    for k in 0..tiles.min(2) {{
                        full[k].expect_tx(512);
                        bulk_copy_async(&smem[k], &input[k * 128..(k + 1) * 128], &full[k]);
                        let _ = full[k].arrive();
                    }}
                }}
                for k in 0..tiles {{
                    let s = k % 3;
                    full[s].wait_parity(k / 3 % 2 == 1);
                    smem[s][i] *= 3;
                    {sync}
                    if i == 0 {{
                        bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &smem[s]);
                        let next = k + 2;
                        if next < tiles {{
                            {wait}
                            full[next % 3].expect_tx(512);
                            bulk_copy_async(&smem[next % 3], &input[next * 128..(next + 1) * 128], &full[next % 3]);
                            let _ = full[next % 3].arrive();
                        }}
                    }}
                }}
                if i == 0 {{ bulk_wait_group_read::<0>(); }}
            }}"
        )
    };
    let right = verdict("", &kernel("bulk_wait_group_read::<1>();", "block.sync();"));
    assert!(right == "proved" || right.starts_with("open"), "{right}");
    assert_eq!(verdict("", &kernel("bulk_wait_group_read::<2>();", "block.sync();")), "ring_overwrite");
    assert_eq!(verdict("", &kernel("", "block.sync();")), "ring_overwrite");
}
