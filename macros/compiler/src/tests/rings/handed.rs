//! Tiles that one thread of a cluster takes from a queue and hands out to the threads of all its blocks, by stores, by copies of single elements, as
//! structs and in several arrays; and structs in a block. Right kernels have no fault, and each mistake is found.

use super::verdict;

const ITEMS: &str = "const DONE: u32 = u32::MAX;
#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Work { row: u32, column: u32, valid: u32 }";

const LOAD: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);
    full[k % 2].expect_tx(128);
    bulk_copy_async(&smem[k % 2], &input[tile * 32..tile * 32 + 32], &full[k % 2]);
    let _ = full[k % 2].arrive();";

const TAKE: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);
    out[tile * 32 + lane] = smem[k % 2][lane];
    let _ = empty[k % 2].arrive();";

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

/// How a thread hands out tiles: the arrays, the scheduler's loop after it has taken the ticket `tile`, and what a thread of a role does to have the next
/// one, which breaks when there is none.
struct Form {
    /// The options of the kernel, beyond its block: a cluster, and the rules that only a proof would answer.
    options: &'static str,
    slots: &'static str,
    publish: &'static str,
    read: &'static str,
}

fn kernel(form: &Form) -> String {
    let role = |work: &str| format!("let mut k = 0; loop {{ {} {work} k += 1; }}", form.read);
    let (barriers, test, end) = match form.options.is_empty() {
        false => (
            "let (ready, taken) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
            ready.init_collective(&cluster, 1);
            taken.init_collective(&cluster, 66);",
            "i == 64 && rank == 0",
            "cluster.sync();",
        ),
        true => (
            "let (ready, taken) = (shared_barriers::<2>(), shared_barriers::<2>());
            ready.init_collective(&block, 1);
            taken.init_collective(&block, 33);",
            "i == 64",
            "",
        ),
    };
    format!(
        "#[cluster_kernel(block = 96 {})]
        fn persistent(queue: &mut [u32], input: &[u32], out: &mut [u32], tiles: u32) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let rank = cluster.block_rank();
            let i = block.thread_rank();
            let lane = i % 32;
            let smem = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            {barriers}
            {}
            if {test} {{
                let mut k = 0; loop {{
                    let ticket = queue.atomic(0).fetch_add(1, Relaxed);
                    taken[k % 2].wait_parity(k / 2 % 2 == 0);
                    {}
                    if ticket >= tiles {{ break; }}
                    k += 1;
                }}
            }} else if i == 32 {{ {} }} else if i < 32 {{ {} }}
            {end}
        }}",
        form.options,
        form.slots,
        form.publish,
        role(LOAD),
        role(TAKE)
    )
}

/// Finds the right kernel without a fault, and each mistake.
#[track_caller]
fn check(form: &Form, wrong: &[(&str, &str)]) {
    let right = kernel(form);
    let found = verdict(ITEMS, &right);
    assert!(found == "proved" || found.starts_with("open"), "{found}: {right}");
    for (from, to) in WRONG.iter().chain(wrong) {
        let mutant = right.replace(from, to);
        assert_ne!(mutant, right, "{from}");
        let found = verdict(ITEMS, &mutant);
        assert!(found.starts_with("ring_") || found.starts_with("copy_in_flight"), "{from} -> {to}: {found}: {mutant}");
    }
}

const STORES: Form = Form {
    options: ", cluster = 2, unchecked(unordered_remote_write)",
    slots: "let slots = shared_array::<u32, 2>();",
    publish: "let number = if ticket < tiles { ticket } else { DONE };
        for peer in 0..2 {
            cluster.map_shared_rank(&slots, peer)[k % 2] = number;
            cluster.map_shared_rank(&ready[k % 2], peer).arrive();
        }",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let number = slots[k % 2];
        cluster.map_shared_rank(&taken[k % 2], 0).arrive();
        if number == DONE { break; }
        let tile = number * 2 + rank;",
};

/// What goes wrong with the slots themselves.
const OF_SLOTS: [(&str, &str); 5] = [
    ("taken[k % 2].wait_parity(k / 2 % 2 == 0);", ""),
    ("ready[k % 2].wait_parity(k / 2 % 2 == 1);", ""),
    ("ready[k % 2].wait_parity(k / 2 % 2 == 1);", "ready[k % 2].wait_parity(k / 2 % 2 == 0);"),
    ("&cluster, 66", "&cluster, 65"),
    ("&cluster, 66", "&cluster, 67"),
];

const COPIES: Form = Form {
    options: ", cluster = 2",
    slots: "let slots = shared_array::<u32, 2>();",
    publish: "let number = if ticket < tiles { ticket } else { DONE };
        for peer in 0..2 {
            cluster.map_shared_rank(&slots, peer).store_async(k % 2, number, &cluster.map_shared_rank(&ready[k % 2], peer));
        }",
    read: "if i == 0 { ready[k % 2].expect_tx(4); let _ = ready[k % 2].arrive(); }
        ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let number = slots[k % 2];
        cluster.map_shared_rank(&taken[k % 2], 0).arrive();
        if number == DONE { break; }
        let tile = number * 2 + rank;",
};

const STRUCTS: Form = Form {
    options: ", cluster = 2, unchecked(unordered_remote_write)",
    slots: "let slots = shared_array::<Work, 2>();",
    publish: "let work = if ticket < tiles {
            Work { row: ticket / 4, column: ticket % 4, valid: 1 }
        } else {
            Work { row: 0, column: 0, valid: 0 }
        };
        for peer in 0..2 {
            cluster.map_shared_rank(&slots, peer)[k % 2] = work;
            cluster.map_shared_rank(&ready[k % 2], peer).arrive();
        }",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let work = slots[k % 2];
        cluster.map_shared_rank(&taken[k % 2], 0).arrive();
        if work.valid == 0 { break; }
        let tile = (work.row * 4 + work.column) * 2 + rank;",
};

const STRUCTS_OF_A_BLOCK: Form = Form {
    options: "",
    slots: "let slots = shared_array::<Work, 2>();",
    publish: "let work = if ticket < tiles {
            Work { row: ticket / 4, column: ticket % 4, valid: 1 }
        } else {
            Work { row: 0, column: 0, valid: 0 }
        };
        slots[k % 2] = work;
        let _ = ready[k % 2].arrive();",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let work = slots[k % 2];
        let _ = taken[k % 2].arrive();
        if work.valid == 0 { break; }
        let tile = work.row * 4 + work.column;",
};

const FIELDS: Form = Form {
    options: "",
    slots: "let slots = shared_array::<Work, 2>();",
    publish: "slots[k % 2] = Work { row: ticket / 4, column: ticket % 4, valid: (ticket < tiles) as u32 };
        let _ = ready[k % 2].arrive();",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let more = slots[k % 2].valid == 1;
        let tile = slots[k % 2].row * 4 + slots[k % 2].column;
        let _ = taken[k % 2].arrive();
        if !more { break; }",
};

const ARRAYS: Form = Form {
    options: "",
    slots: "let (numbers, more) = (shared_array::<u32, 2>(), shared_array::<u32, 2>());",
    publish: "numbers[k % 2] = ticket;
        more[k % 2] = (ticket < tiles) as u32;
        let _ = ready[k % 2].arrive();",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let (tile, goes_on) = (numbers[k % 2], more[k % 2]);
        let _ = taken[k % 2].arrive();
        if goes_on == 0 { break; }",
};

/// The readers read the slots of the block that publishes.
const REMOTE: Form = Form {
    options: ", cluster = 2, unchecked(unpublished_remote_read)",
    slots: "let slots = shared_array::<u32, 2>();",
    publish: "let number = if ticket < tiles { ticket } else { DONE };
        slots[k % 2] = number;
        for peer in 0..2 {
            cluster.map_shared_rank(&ready[k % 2], peer).arrive();
        }",
    read: "ready[k % 2].wait_parity(k / 2 % 2 == 1);
        let number = cluster.map_shared_rank(&slots, 0)[k % 2];
        cluster.map_shared_rank(&taken[k % 2], 0).arrive();
        if number == DONE { break; }
        let tile = number * 2 + rank;",
};

#[test]
fn stores_to_all_blocks() {
    check(&STORES, &OF_SLOTS);
    check(&STORES, &[("cluster.map_shared_rank(&taken[k % 2], 0).arrive();", "")]);
    check(&STORES, &[("&taken[k % 2], 0)", "&taken[k % 2], rank)")]);
    check(&STORES, &[("slots, peer)[k % 2] = number", "slots, peer)[ticket % 2] = number")]);
    check(&REMOTE, &OF_SLOTS);
}

#[test]
fn copies_to_all_blocks() {
    // An arrival too many, among so many states, is not found here.
    check(&COPIES, &[&OF_SLOTS[..3], &OF_SLOTS[4..]].concat());
    check(&COPIES, &[("for peer in 0..2 {\n            cluster.map", "for peer in 0..1 {\n            cluster.map")]);
    check(&COPIES, &[("ready[k % 2].expect_tx(4);", "")]);
    check(&COPIES, &[("ready[k % 2].expect_tx(4);", "ready[k % 2].expect_tx(8);")]);
}

#[test]
fn structs() {
    check(&STRUCTS, &OF_SLOTS);
    check(&STRUCTS_OF_A_BLOCK, &OF_SLOTS[..3]);
    check(&FIELDS, &OF_SLOTS[..3]);
    check(&FIELDS, &[("(ticket < tiles) as u32", "(ticket <= tiles) as u32")]);
}

#[test]
fn several_arrays() {
    check(&ARRAYS, &OF_SLOTS[..3]);
    let early = "let _ = ready[k % 2].arrive();";
    check(
        &ARRAYS,
        &[(
            "more[k % 2] = (ticket < tiles) as u32;\n        let _ = ready[k % 2].arrive();",
            &format!("{early} more[k % 2] = (ticket < tiles) as u32;"),
        )],
    );
}

/// That all leave their loops in the same round is proved where the publishing thread tests what decides about the last number.
#[test]
fn ends_of_loops() {
    let arrays = kernel(&ARRAYS);
    assert_eq!(verdict(ITEMS, &arrays), "proved");
    for (from, to) in [
        ("if ticket >= tiles { break; }", "if ticket > tiles { break; }"),
        ("(ticket < tiles) as u32", "(ticket <= tiles) as u32"),
        ("if goes_on == 0 { break; }", "if goes_on == 1 { break; }"),
        ("if goes_on == 0 { break; }", "if goes_on == 0 && i == 3 { break; }"),
        ("more[k % 2])", "more[(k + 1) % 2])"),
    ] {
        let other = arrays.replace(from, to);
        let found = verdict(ITEMS, &other);
        assert!(other != arrays && found != "proved", "{from} -> {to}: {found}");
    }
}
