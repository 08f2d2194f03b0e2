//! Kernels whose threads seem to leave a queue, or a loop, in the same round, and do not: each was once proved, or is close to one that was. Right ones
//! beside them are proved.

use super::verdict;

const ITEMS: &str = "const DONE: u32 = u32::MAX;
#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Work { row: u32, valid: u32 }";

/// One thread publishes numbers, and another one reads them.
const ONE_READER: &str = "#[cluster_kernel(block = 96)]
fn ends(queue: &mut [u32], wide: &mut [u64], floats: &[f32], signed: &[i32], tiles: u32, most: u64, limit: f32, least: i32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let (ready, taken) = (shared_barriers::<3>(), shared_barriers::<3>());
    ready.init_collective(&block, 1);
    taken.init_collective(&block, 1);
    let slots = shared_array::<u32, 3>();
    if i == 64 {
        let mut k = 0;
        loop {
            let number = queue.atomic(0).fetch_add(1, Relaxed);
            taken[k % 3].wait_parity(k / 3 % 2 == 0);
            slots[k % 3] = number;
            let _ = ready[k % 3].arrive();
            if number >= tiles { break; }
            k += 1;
        }
    } else if i == 0 {
        let mut k = 0;
        loop {
            ready[k % 3].wait_parity(k / 3 % 2 == 1);
            let read = slots[k % 3];
            let _ = taken[k % 3].arrive();
            if read >= tiles { break; }
            k += 1;
        }
    }
}";

/// One thread publishes numbers to both blocks of a cluster.
const TWO_BLOCKS: &str = "#[cluster_kernel(block = 96, cluster = 2)]
fn ends(queue: &mut [u32], tiles: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (rank, i) = (cluster.block_rank(), block.thread_rank());
    let (ready, taken) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
    ready.init_collective(&cluster, 1);
    taken.init_collective(&cluster, 1);
    let slots = shared_array::<u32, 2>();
    if i == 64 {
        let mut k = 0;
        if rank == 0 {
            loop {
                let number = queue.atomic(0).fetch_add(1, Relaxed);
                taken[k % 2].wait_parity(k / 2 % 2 == 0);
                for peer in 0..2 {
                    cluster.map_shared_rank(&slots, peer)[k % 2] = number;
                    cluster.map_shared_rank(&ready[k % 2], peer).arrive();
                }
                if number >= tiles { break; }
                k += 1;
            }
        } else {
            loop {
                ready[k % 2].wait_parity(k / 2 % 2 == 1);
                let read = slots[k % 2];
                cluster.map_shared_rank(&taken[k % 2], 0).arrive();
                if read >= tiles { break; }
                k += 1;
            }
        }
    }
    cluster.sync();
}";

type Changes<'c> = &'c [(&'c str, &'c str)];

fn changed(right: &str, changes: Changes<'_>) -> String {
    changes.iter().fold(right.to_string(), |kernel, (from, to)| {
        let other = kernel.replace(from, to);
        assert_ne!(other, kernel, "{from}");
        other
    })
}

#[track_caller]
fn check(right: &str, proved: &[Changes<'_>], wrong: &[Changes<'_>]) {
    for changes in proved {
        assert_eq!(verdict(ITEMS, &changed(right, changes)), "proved", "{changes:?}");
    }
    for changes in wrong {
        let found = verdict(ITEMS, &changed(right, changes));
        let is_followed = ["open", "ring_", "unordered_remote_write"].iter().any(|what| found.starts_with(what));
        assert!(is_followed, "{found}: {changes:?}");
    }
}

const WIDE: (&str, &str) = ("queue.atomic", "wide.atomic");
const OF_FLOATS: (&str, &str) = ("queue.atomic(0).fetch_add(1, Relaxed)", "floats[k]");
const OF_SIGNED: (&str, &str) = ("queue.atomic(0).fetch_add(1, Relaxed)", "signed[k]");

/// The graph has one node for a number and for what most casts make of it, and what a test of the lower bits compares is all bits there.
#[test]
fn casts() {
    let proved: [Changes<'_>; 4] = [
        &[("tiles {", "200 {")],
        &[("let slots", "let last = (most / 2) as u32; let slots"), (">= tiles", ">= last")],
        &[
            (">= tiles", ">= (most as u32) / 2"),
            ("let slots", "let most = most as u32; let slots"),
            ("most as u32) /", "most) /"),
        ],
        &[("u32, 3>", "i32, 3>"), OF_SIGNED, (">= tiles", ">= least")],
    ];
    let wrong: [Changes<'_>; 9] = [
        // 300 ends the one and, as 44, not the other.
        &[("number >= tiles", "number >= 200"), ("read >= tiles", "read as u8 >= 200")],
        &[("number >= tiles", "number >= 200"), ("read >= tiles", "read as u16 >= 200")],
        &[("number >= tiles", "number as u8 >= 200"), ("read >= tiles", "read >= 200")],
        // 2^32 is 0 in the slot.
        &[
            WIDE,
            ("= number;", "= number as u32;"),
            ("number >= tiles", "number >= most"),
            ("read >= tiles", "read as u64 >= most"),
        ],
        &[
            WIDE,
            ("= number;", "= number as u32;"),
            ("number >= tiles", "number >= most"),
            ("read >= tiles", "read >= most as u32"),
        ],
        &[
            WIDE,
            ("= number;", "= if number < most { number as u32 } else { DONE };"),
            ("number >= tiles", "number >= most"),
            ("read >= tiles", "read == DONE"),
        ],
        // Half of 2^32, and half of 0.
        &[("number >= tiles", "number >= (most as u32) / 2"), ("read >= tiles", "read >= (most / 2) as u32")],
        // -1 is the largest number.
        &[
            ("u32, 3>", "i32, 3>"),
            OF_SIGNED,
            ("number >= tiles", "number >= least"),
            ("read >= tiles", "read as u32 >= least as u32"),
        ],
        // 0.2 is not 0.5, and 0 is 0.
        &[
            OF_FLOATS,
            ("= number;", "= number as u32;"),
            ("number >= tiles", "number >= limit"),
            ("read >= tiles", "read >= limit as u32"),
        ],
    ];
    check(ONE_READER, &proved, &wrong);
}

/// Of two floats, none may be the less one, and neither at least the other.
#[test]
fn numbers_without_an_order() {
    let floats = ("u32, 3>", "f32, 3>");
    let proved: [Changes<'_>; 2] = [
        &[floats, OF_FLOATS, (">= tiles", ">= limit")],
        &[
            OF_FLOATS,
            ("= number;", "= (number < limit) as u32;"),
            ("number >= tiles", "!(number < limit)"),
            ("read >= tiles", "read == 0"),
        ],
    ];
    let wrong: [Changes<'_>; 3] = [
        &[floats, OF_FLOATS, ("number >= tiles", "number >= limit"), ("read >= tiles", "!(read < limit)")],
        &[floats, OF_FLOATS, ("number >= tiles", "limit > number"), ("read >= tiles", "!(limit <= read)")],
        &[
            OF_FLOATS,
            ("= number;", "= (number < limit) as u32;"),
            ("number >= tiles", "number >= limit"),
            ("read >= tiles", "read == 0"),
        ],
    ];
    check(ONE_READER, &proved, &wrong);
}

/// The threads decide about numbers of different turns.
#[test]
fn other_turns() {
    let proved: [Changes<'_>; 3] = [
        &[("number >= tiles { break; }", "number >= tiles { taken[k % 3].wait_parity(k / 3 % 2 == 1); break; }")],
        &[("if number >= tiles", "if slots[k % 3] >= tiles")],
        &[
            ("ready[k % 3].wait_parity(k / 3 % 2 == 1)", "ready[k % 3].wait_parity(odd)"),
            ("} else if i == 0 {", "} else if i == 0 { let mut odd = false;"),
            ("if read >= tiles { break; }", "if read >= tiles { break; } if k % 3 == 2 { odd = !odd; }"),
        ],
    ];
    let wrong: [Changes<'_>; 7] = [
        // The publishing thread tests what it has stored in the turn before, and the reader ignores the first number.
        &[
            ("let number = queue", "let old = slots[(k + 2) % 3]; let number = queue"),
            ("if number >= tiles", "if old >= tiles"),
            (
                "if i == 64 {\n        let mut k = 0;",
                "if i == 64 { taken[0].wait_parity(true); slots[0] = 0; let _ = ready[0].arrive(); let mut k = 1;",
            ),
            (
                "i == 0 {\n        let mut k = 0;",
                "i == 0 { ready[0].wait_parity(false); let first = slots[0]; let _ = taken[0].arrive(); let mut k = 1;",
            ),
        ],
        // The reader ignores the first number, and both decide about an argument before they go on.
        &[
            ("let slots", "let done = shared_barriers::<2>(); done.init_collective(&block, 1); let slots"),
            (
                "if i == 64 {\n        let mut k = 0;",
                "if i == 64 { let mut k = 0; if most > 0 { let _ = done[0].arrive(); }",
            ),
            (
                "i == 0 {\n        let mut k = 0;",
                "i == 0 {
                    ready[0].wait_parity(false); let first = slots[0]; let _ = taken[0].arrive();
                    if most > 0 { let _ = done[1].arrive(); }
                    let mut k = 1;",
            ),
            (
                "if number >= tiles { break; }",
                "if number >= tiles {
                    k += 1;
                    taken[k % 3].wait_parity(k / 3 % 2 == 0);
                    slots[k % 3] = 0;
                    let _ = ready[k % 3].arrive();
                    taken[k % 3].wait_parity(k / 3 % 2 == 1);
                    break;
                }",
            ),
        ],
        // No turn begins in the loop, because another array is stored to before it; the reader tests the number of the round before.
        &[
            ("let slots", "let head = shared_array::<u32, 1>(); let slots"),
            ("if i == 64 {\n        let mut k = 0;", "if i == 64 { head[0] = tiles; let mut k = 0;"),
            ("taken[k % 3].wait_parity(k / 3 % 2 == 0);", ""),
            (
                "if number >= tiles { break; }",
                "if k > 0 { if number >= tiles { break; } } taken[(k + 1) % 3].wait_parity((k + 1) / 3 % 2 == 0);",
            ),
            (
                "i == 0 {\n        let mut k = 0;",
                "i == 0 { ready[0].wait_parity(false); let one = head[0]; if one == 7 {} let mut k = 1;",
            ),
            ("ready[k % 3].wait_parity(k / 3 % 2 == 1);\n", ""),
            (
                "let read = slots[k % 3];\n            let _ = taken[k % 3].arrive();",
                "let read = slots[(k + 2) % 3];
                let _ = taken[(k + 2) % 3].arrive();
                ready[k % 3].wait_parity(k / 3 % 2 == 1);",
            ),
        ],
        &[
            ("if read >= tiles", "if old >= tiles"),
            ("let read =", "let old = last; last ="),
            ("else if i == 0 {", "else if i == 0 { let mut last = 0;"),
        ],
        &[
            ("let read = slots[k % 3];", "if k % 2 == 0 { read = slots[k % 3]; }"),
            ("else if i == 0 {", "else if i == 0 { let mut read = 0;"),
        ],
        &[("if read >= tiles { break; }", "if read >= tiles { break; } if k % 2 == 1 { k += 1; }")],
        &[("if number >= tiles", "if slots[(k + 2) % 3] >= tiles")],
    ];
    check(ONE_READER, &proved, &wrong);
}

/// The threads decide about different values, or by different tests.
#[test]
fn other_ends() {
    let work = ("shared_array::<u32, 3>", "shared_array::<Work, 3>");
    let flag = ("= number;", "= Work { row: number, valid: (number < tiles) as u32 };");
    let proved: [Changes<'_>; 3] = [
        &[("read >= tiles", "!(read < tiles)")],
        &[work, flag, ("read >= tiles", "read.valid == 0")],
        &[
            ("else if i == 0 {", "else if i == 0 || i == 32 {"),
            ("taken.init_collective(&block, 1)", "taken.init_collective(&block, 2)"),
        ],
    ];
    let wrong: [Changes<'_>; 12] = [
        &[("read >= tiles", "read > tiles")],
        &[("read >= tiles", "read % 64 >= tiles")],
        &[("read >= tiles", "read.min(9) >= tiles")],
        &[("read >= tiles", "!read >= tiles")],
        &[("read >= tiles", "k >= tiles")],
        &[("number >= tiles", "queue.atomic(0).load(Relaxed) >= tiles")],
        &[("= number;", "= queue.atomic(0).fetch_add(1, Relaxed);")],
        &[("slots[k % 3] = number;", "if number < tiles { slots[k % 3] = number; }")],
        &[("= number;", "= number; slots[k % 3] = number + 1;")],
        &[work, flag, ("read >= tiles", "read.row == 0")],
        &[
            work,
            ("= number;", "= Work { row: number, valid: 1 }; slots[k % 3].valid = 0;"),
            ("read >= tiles", "read.row >= tiles"),
        ],
        &[work, flag, ("let read", "let mut read"), ("if read >= tiles", "read.valid = k; if read.valid == 0")],
    ];
    check(ONE_READER, &proved, &wrong);
}

/// Lanes that take the same steps compare what they read with limits of their own.
#[test]
fn limits_of_lanes() {
    let warp = ("else if i == 0 {", "else if i < 32 {");
    let all = ("taken.init_collective(&block, 1)", "taken.init_collective(&block, 32)");
    let proved: [Changes<'_>; 1] = [&[warp, all]];
    let wrong: [Changes<'_>; 4] = [
        &[warp, all, ("read >= tiles", "read >= tiles + i")],
        &[warp, all, ("read >= tiles", "read >= tiles || i == 3 && read >= 7")],
        &[
            warp,
            all,
            ("read >= tiles", "read >= last"),
            ("let slots", "let last = if i == 3 { tiles / 2 } else { tiles }; let slots"),
        ],
        &[
            ("read >= tiles", "read >= last"),
            ("let slots", "let last = if i == 0 { tiles / 2 } else { tiles }; let slots"),
        ],
    ];
    check(ONE_READER, &proved, &wrong);
}

/// Each block has a ticket of its own.
#[test]
fn other_numbers_of_blocks() {
    let own = ("if number >= tiles", "if slots[k % 2] >= tiles");
    let proved: [Changes<'_>; 2] = [&[], &[own]];
    let wrong: [Changes<'_>; 3] = [
        &[
            own,
            ("= number;", "= queue.atomic(0).fetch_add(1, Relaxed);"),
            ("let number = queue.atomic(0).fetch_add(1, Relaxed);", ""),
        ],
        &[
            own,
            ("= number;", "= queue.atomic(0).load(Relaxed);"),
            ("let number = queue.atomic(0).fetch_add(1, Relaxed);", ""),
        ],
        &[own, ("= number;", "= number + peer;")],
    ];
    check(TWO_BLOCKS, &proved, &wrong);
}

/// Threads that run as many rounds as a number has after different casts: 2^32 halved, two halves added, and -1.
#[test]
fn rounds_of_casts() {
    let kernel = |fills: &str, reads: &str| {
        let loops = |rounds: &str, body: &str| format!("for k in {rounds} {{ let k = k as u32; {body} }}");
        format!(
            "#[cluster_kernel(block = 96)]
            fn rounds(out: &mut [u32], wide: u64, one: f32, other: f32, signed: i32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (ready, taken) = (shared_barriers::<3>(), shared_barriers::<3>());
                ready.init_collective(&block, 1);
                taken.init_collective(&block, 1);
                let slots = shared_array::<u32, 3>();
                if i == 64 {{ {} }} else if i == 0 {{ {} }}
            }}",
            loops(fills, "taken[k % 3].wait_parity(k / 3 % 2 == 0); slots[k % 3] = k; let _ = ready[k % 3].arrive();"),
            loops(
                reads,
                "ready[k % 3].wait_parity(k / 3 % 2 == 1); out[k] = slots[k % 3]; let _ = taken[k % 3].arrive();"
            ),
        )
    };
    for rounds in ["0..wide as u32", "0..(wide / 2) as u32", "0..signed as u32"] {
        assert_eq!(verdict("", &kernel(rounds, rounds)), "proved", "{rounds}");
    }
    for (fills, reads) in [
        ("0..(wide / 2) as u32", "0..(wide as u32) / 2"),
        ("0..wide as u32", "0..wide"),
        ("0..wide as u8 as u32", "0..wide as u32"),
        ("0..(one + other) as u32", "0..one as u32 + other as u32"),
        ("0..signed as u32", "0..signed as i64"),
    ] {
        let found = verdict("", &kernel(fills, reads));
        assert!(found.starts_with("open"), "{fills}, {reads}: {found}");
    }
}

/// Lanes that arrive, each by a test of its own: with 10, the last ones do not.
#[test]
fn tests_of_lanes() {
    let kernel = |test: &str| {
        format!(
            "#[cluster_kernel(block = 64)]
            fn arrives(tiles: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let barrier = shared_barrier();
                barrier.init_collective(&block, 32);
                if i == 32 {{
                    if tiles > 5 {{ barrier.wait_parity(false); }}
                }} else if i < 32 {{
                    if {test} {{ let _ = barrier.arrive(); }}
                }}
            }}"
        )
    };
    assert_eq!(verdict("", &kernel("tiles > 5")), "proved");
    assert_ne!(verdict("", &kernel("tiles > i + 5")), "proved");
}
