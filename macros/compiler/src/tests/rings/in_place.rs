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

/// Halves of a row that copies bring, each with a barrier of its own, are not waited for together.
#[test]
fn halves_of_a_row() {
    let kernel = |left: &str, right: &str, last: &str| {
        format!(
            "#[cluster_kernel(block = 64)]
            fn halves(input: &[u32], out: &mut [u32], tiles: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let smem = shared_array::<[u32; 64], 2>();
                let (left, right) = (shared_barriers::<2>(), shared_barriers::<2>());
                left.init_collective(&block, 1);
                right.init_collective(&block, 1);
                for k in 0..tiles {{
                    let (s, p) = (k % 2, k / 2 % 2 == 1);
                    if i == 0 {{
                        left[s].expect_tx(128);
                        bulk_copy_async(&smem[s][..32], &input[k * 64..k * 64 + 32], &left[s]);
                        let _ = left[s].arrive();
                        right[s].expect_tx(128);
                        bulk_copy_async(&smem[s][32..], &input[k * 64 + 32..k * 64 + 64], &right[s]);
                        let _ = right[s].arrive();
                    }}
                    left[s].wait_parity(p);
                    if i < 32 {{ {left} }}
                    right[s].wait_parity(p);
                    if i >= 32 {{ {right} }}
                    {last}
                    block.sync();
                }}
            }}"
        )
    };
    let store = "block.sync(); if i == 0 {
        bulk_copy_async(&mut out[k * 64..k * 64 + 64], &smem[s]);
        bulk_wait_group_read::<0>();
    }";
    for (left, right, last) in [
        ("out[k * 64 + i] = smem[s][i];", "out[k * 64 + i] = smem[s][i];", ""),
        ("smem[s][i] *= 2;", "smem[s][i] *= 3;", store),
        ("smem[s][i] *= 2;", "smem[s][i] *= 3;", "block.sync(); out[k * 64 + i] = smem[s][63 - i];"),
    ] {
        let found = verdict("", &kernel(left, right, last));
        assert!(found == "proved" || found.starts_with("open"), "{left} {right} {last}: {found}");
    }
}
