//! Rings of persistent kernels whose tiles come from a queue: a thread takes tickets, and hands them to others in slots of a ring, in an element
//! between two barriers, or as a lane to its warp. Right ones have no fault, and each mistake is found with a queue that is 0 at first.

use super::verdict;

const HEAD: &str = "let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let (i, lane, which) = (block.thread_rank(), warp.thread_rank(), warp.meta_group_rank());
    let smem = shared_array::<[u32; 32], 2>();
    let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);";

const LOAD: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);
    full[k % 2].expect_tx(128);
    bulk_copy_async(&smem[k % 2], &input[tile * 32..tile * 32 + 32], &full[k % 2]);
    let _ = full[k % 2].arrive();";

const TAKE: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);
    out[tile * 32 + lane] = smem[k % 2][lane];
    let _ = empty[k % 2].arrive();";

fn kernel(threads: u32, body: &str) -> String {
    format!(
        "#[cluster_kernel(block = {threads})]
        fn persistent(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {{ {HEAD} {body} }}"
    )
}

/// A scheduler of its own, whose tiles the loading thread and the readers take from slots.
fn by_slots() -> String {
    let role = |work: &str| {
        format!(
            "let mut k = 0; loop {{
                ready[k % 2].wait_parity(k / 2 % 2 == 1);
                let tile = slots[k % 2];
                let _ = taken[k % 2].arrive();
                if tile == DONE {{ break; }}
                {work}
                k += 1;
            }}"
        )
    };
    kernel(
        96,
        &format!(
            "let slots = shared_array::<u32, 2>();
            let (ready, taken) = (shared_barriers::<2>(), shared_barriers::<2>());
            ready.init_collective(&block, 1);
            taken.init_collective(&block, 33);
            if i == 64 {{
                let mut k = 0; loop {{
                    let tile = queue.atomic(0).fetch_add(1, Relaxed);
                    taken[k % 2].wait_parity(k / 2 % 2 == 0);
                    slots[k % 2] = if tile < tiles {{ tile }} else {{ DONE }};
                    let _ = ready[k % 2].arrive();
                    if tile >= tiles {{ break; }}
                    k += 1;
                }}
            }} else if i == 32 {{ {} }} else if i < 32 {{ {} }}",
            role(LOAD),
            role(TAKE)
        ),
    )
}

/// Each round, one thread takes a ticket for its block.
fn by_element() -> String {
    kernel(
        64,
        &format!(
            "let slot = shared_array::<u32, 1>();
            let mut k = 0; loop {{
                if i == 0 {{ slot[0] = queue.atomic(0).fetch_add(1, Relaxed); }}
                block.sync();
                let tile = slot[0];
                block.sync();
                if tile >= tiles {{ break; }}
                if i == 32 {{ {LOAD} }} else if i < 32 {{ {TAKE} }}
                k += 1;
            }}"
        ),
    )
}

/// A lane takes the ticket for its warp, and loads the tile.
fn by_lane() -> String {
    kernel(
        32,
        &format!(
            "let mut k = 0; loop {{
                let mut tile = 0;
                if lane == 0 {{ tile = queue.atomic(0).fetch_add(1, Relaxed); }}
                tile = warp.shfl(tile, 0);
                if tile >= tiles {{ break; }}
                if lane == 0 {{ {LOAD} }}
                {TAKE}
                k += 1;
            }}"
        ),
    )
}

const ITEMS: &str = "const DONE: u32 = u32::MAX;";

const WRONG: [(&str, &str); 8] = [
    ("empty[k % 2].wait_parity(k / 2 % 2 == 0);", ""),
    ("empty[k % 2].wait_parity(k / 2 % 2 == 0);", "empty[k % 2].wait_parity(k / 2 % 2 == 1);"),
    ("full[k % 2].wait_parity(k / 2 % 2 == 1);", ""),
    ("let _ = full[k % 2].arrive();", ""),
    ("let _ = empty[k % 2].arrive();", ""),
    ("expect_tx(128)", "expect_tx(64)"),
    ("full.init_collective(&block, 1)", "full.init_collective(&block, 2)"),
    ("empty.init_collective(&block, 32)", "empty.init_collective(&block, 16)"),
];

#[track_caller]
fn check(items: &str, right: &str, wrong: &[(&str, &str)]) {
    let found = verdict(items, right);
    assert!(found == "proved" || found.starts_with("open"), "{found}: {right}");
    for (from, to) in wrong {
        let mutant = right.replacen(from, to, 1);
        assert_ne!(mutant, right, "{from}");
        let found = verdict(items, &mutant);
        assert!(found.starts_with("ring_"), "{from} -> {to}: {found}");
    }
}

#[test]
fn tiles_of_a_queue() {
    check(ITEMS, &by_slots(), &WRONG);
    let inverse = ITEMS.replace("u32::MAX", "!0");
    check(&inverse, &by_slots(), &WRONG[..2]);
    // Two barriers of the block, or the warp's waits, come before the stage is filled again.
    check(ITEMS, &by_element(), &WRONG[1..]);
    check(ITEMS, &by_lane(), &WRONG[1..]);
}

#[test]
fn slots_of_a_queue() {
    let wrong = [
        ("taken[k % 2].wait_parity(k / 2 % 2 == 0);", ""),
        ("ready[k % 2].wait_parity(k / 2 % 2 == 1);", ""),
        ("ready[k % 2].wait_parity(k / 2 % 2 == 1);", "ready[k % 2].wait_parity(k / 2 % 2 == 0);"),
        (
            "let _ = ready[k % 2].arrive();\n                    if tile >= tiles { break; }",
            "if tile >= tiles { break; } let _ = ready[k % 2].arrive();",
        ),
        (
            "let tile = slots[k % 2];\n                let _ = taken[k % 2].arrive();",
            "let _ = taken[k % 2].arrive(); let tile = slots[k % 2];",
        ),
        ("let _ = taken[k % 2].arrive();", ""),
        ("&block, 33", "&block, 32"),
        // With the tickets of another block in between, it is another slot.
        ("slots[k % 2] = if", "slots[tile % 2] = if"),
    ];
    check(ITEMS, &by_slots(), &wrong);
}

/// Of a right kernel whose readers each take some of the numbers, it is not known what they get.
#[test]
fn numbers_of_other_turns() {
    let right = kernel(
        96,
        "let slot = shared_array::<u32, 1>();
        let (ready, taken) = (shared_barrier(), shared_barrier());
        ready.init_collective(&block, 1);
        taken.init_collective(&block, 1);
        if lane == 0 && which == 2 {
            let mut k = 0; loop {
                let tile = queue.atomic(0).fetch_add(1, Relaxed);
                taken.wait_parity(k % 2 == 0);
                slot[0] = tile;
                let _ = ready.arrive();
                if tile > tiles { break; }
                k += 1;
            }
        } else if lane == 0 {
            let mut k = which; loop {
                if k > 0 { turn.wait_parity((k - 1) % 2 == 1); }
                ready.wait_parity(k % 2 == 1);
                let tile = slot[0];
                let _ = turn.arrive();
                let _ = taken.arrive();
                if tile >= tiles { break; }
                k += 2;
            }
        }",
    );
    let right = right.replacen("let slot", "let turn = shared_barrier(); turn.init_collective(&block, 1); let slot", 1);
    let found = verdict(ITEMS, &right);
    assert!(found.starts_with("open"), "{found}");
}

/// Where the last slot says what the thread that publishes it tests, all leave in the same round; nothing is proved of other ends.
#[test]
fn ends_of_loops() {
    let right = by_slots();
    let publish = "slots[k % 2] = if tile < tiles { tile } else { DONE };";
    for (from, to) in [
        ("", ""),
        ("if tile >= tiles { break; }", "if !(tile < tiles) { break; }"),
        ("if tile >= tiles { break; }", "if tiles <= tile { break; }"),
        (publish, "slots[k % 2] = if tile >= tiles { DONE } else { tile };"),
        (publish, "let slot = if tile < tiles { tile } else { DONE }; slots[k % 2] = slot;"),
    ] {
        assert_eq!(verdict(ITEMS, &right.replace(from, to)), "proved", "{from} -> {to}");
    }
    let raw = right.replace(publish, "slots[k % 2] = tile;").replace("if tile == DONE", "if tile >= tiles");
    assert_eq!(verdict(ITEMS, &raw), "proved");
    for (from, to) in [
        // The thread goes on, or ends, in another round than the others.
        ("if tile >= tiles { break; }", "if tile > tiles { break; }"),
        ("if tile >= tiles { break; }", "if tile >= tiles && k > 0 { break; }"),
        ("if tile >= tiles { break; }", "let tile = tile + 1; if tile >= tiles { break; }"),
        ("let tile = queue", "let mut tile = queue"),
        // A number that a ticket may be, and one that the largest ticket of another limit is.
        (publish, "slots[k % 2] = if tile < tiles { tile } else { 7 };"),
        (publish, "slots[k % 2] = if tile <= tiles { tile } else { DONE };"),
        (publish, "slots[k % 2] = if tile < tiles / 2 { tile } else { DONE };"),
        (publish, "slots[k % 2] = if tile < tiles { tile / 2 } else { DONE };"),
        // The slot of the round before, and one that is stored twice.
        ("let tile = slots[k % 2];", "let tile = slots[(k + 1) % 2];"),
        (publish, "slots[k % 2] = DONE; slots[k % 2] = if tile < tiles { tile } else { DONE };"),
        ("if tile == DONE { break; }", "if tile == DONE { break; } if k % 3 == 2 { k += 1; continue; }"),
    ] {
        let mut other = right.replace(from, to);
        if from == "let tile = queue" {
            other = other.replace("if tile >= tiles { break; }", "tile += 1; if tile >= tiles { break; }");
        }
        if to.contains("{ 7 }") {
            other = other.replace("tile == DONE", "tile == 7");
        }
        let found = verdict(ITEMS, &other);
        assert!(other != right && found != "proved", "{from} -> {to}: {found}: {other}");
    }
}
