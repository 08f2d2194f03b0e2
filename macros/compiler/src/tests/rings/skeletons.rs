//! Every skeleton of the design's prototype as a kernel: what is wrong there is refused here by its rule, and the right kernel beside it,
//! from which it differs in the words that are exchanged, is proved.

use super::super::faults;
use super::extraction::proved;

/// Checks that a kernel is proved, and refused by a rule with other words in the place of some.
#[track_caller]
fn refused(right: &str, changes: &[(&str, &str)], rules: &[&str]) {
    proved(right);
    let mut wrong = right.to_string();
    for (words, others) in changes {
        assert!(wrong.contains(words), "`{words}` in\n{wrong}");
        wrong = wrong.replace(words, others);
    }
    let found: Vec<String> = faults(&wrong).iter().map(|fault| fault.rule().to_string()).collect();
    assert!(!found.is_empty() && found.iter().all(|rule| rules.contains(&rule.as_str())), "{found:?} of\n{wrong}");
}

/// A ring of two stages: one lane copies, 128 threads read.
const RING: &str = "#[cluster_kernel(block = 160)] fn kernel(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<[u32; 128], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 128);
    if i == 128 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(512);
            bulk_copy_async(&tile[k % 2], &input[k * 128..(k + 1) * 128], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 128 {
        let mut sum = 0;
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += tile[k % 2][i];
            let _ = empty[k % 2].arrive();
        }
        out[i] = sum;
    }
}";

const ACQUIRE: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);";
const EXPECT: &str = "full[k % 2].expect_tx(512);";
const ARRIVE: &str = "let _ = full[k % 2].arrive();";
const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += tile[k % 2][i];";
const RELEASE: &str = "let _ = empty[k % 2].arrive();";

#[test]
fn rings_of_one_group() {
    for (change, rule) in [
        ((ACQUIRE, "empty[k % 2].wait_parity(k / 2 % 2 == 1);"), "ring_deadlock"),
        ((WAIT, "full[k % 2].wait_parity(k / 2 % 2 == 0);"), "ring_read"),
        ((RELEASE, ""), "ring_deadlock"),
        ((ACQUIRE, ""), "ring_overwrite"),
        ((WAIT, ""), "ring_read"),
        (("&block, 128", "&block, 129"), "ring_deadlock"),
        (("&block, 128", "&block, 127"), "ring_count"),
        (("&block, 128", "&block, 4"), "ring_count"),
        ((RELEASE, "if i % 32 == 0 { let _ = empty[k % 2].arrive(); }"), "ring_deadlock"),
        ((EXPECT, ""), "ring_read"),
        ((EXPECT, "full[k % 2].expect_tx(1024);"), "ring_deadlock"),
        ((ACQUIRE, "empty[k % 2].wait_parity(k / 3 % 2 == 0);"), "ring_overwrite"),
    ] {
        refused(RING, &[change], &[rule]);
    }
    // The parity of a ring of two stages in one of three.
    let three = RING
        .replace("k % 2]", "k % 3]")
        .replace("k / 2 % 2", "k / 3 % 2")
        .replace(", 2>()", ", 3>()")
        .replace("::<2>()", "::<3>()");
    let of_two = ("empty[k % 3].wait_parity(k / 3 % 2 == 0);", "empty[k % 3].wait_parity(k / 2 % 2 == 0);");
    refused(&three, &[of_two], &["ring_deadlock"]);
    let swapped = format!("{RELEASE} {READ}");
    refused(RING, &[(READ, ""), (RELEASE, &swapped)], &["ring_overwrite"]);
    let late = format!("{ARRIVE} {EXPECT}");
    refused(RING, &[(EXPECT, ""), (ARRIVE, &late)], &["ring_read"]);
}

/// Two groups of other text, which release a stage together.
#[test]
fn rings_of_two_groups() {
    let right = RING
        .replace("block = 160", "block = 288")
        .replace("&block, 128", "&block, 256")
        .replace("i == 128", "i == 256")
        .replace("} else if i < 128", "} else if i < 256")
        .replace(
            "sum += tile[k % 2][i];",
            "if i < 128 { sum += tile[k % 2][i]; } else { sum ^= tile[k % 2][i - 128]; }",
        );
    refused(
        &right,
        &[(RELEASE, "if i < 128 { let _ = empty[k % 2].arrive(); } else { let _ = empty[k % 2].arrive_n(2); }")],
        &["ring_count"],
    );
}

/// Stage and phase are kept by hand, through the tiles of a persistent kernel.
const KEPT: &str = "#[cluster_kernel(block = 96)] fn kernel(input: &[u32], out: &mut [u32], tiles: u32, parts: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let slots = shared_array::<[u32; 64], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut stage = 0;
    let mut phase = 0;
    if i == 64 {
        for t in 0..tiles {
            for p in 0..parts {
                empty[stage].wait_parity(phase == 0);
                full[stage].expect_tx(256);
                bulk_copy_async(&slots[stage], &input[t * 64..(t + 1) * 64], &full[stage]);
                let _ = full[stage].arrive();
                stage += 1;
                if stage == 2 { stage = 0; phase = 1 - phase; }
            }
        }
    } else if i < 64 {
        let mut sum = 0;
        for t in 0..tiles {
            for p in 0..parts {
                full[stage].wait_parity(phase == 1);
                sum += slots[stage][i];
                let _ = empty[stage].arrive();
                stage += 1;
                if stage == 2 { stage = 0; phase = 1 - phase; }
            }
            out[t * 64 + i] = sum;
        }
    }
}";

#[test]
fn counters_by_hand() {
    refused(KEPT, &[("phase = 1 - phase; }", "}")], &["ring_overwrite", "ring_read"]);
    refused(KEPT, &[("stage == 2 {", "stage == 3 {")], &["ring_count"]);
    let anew = (
        "for p in 0..parts {\n                full",
        "stage = 0; phase = 0; for p in 0..parts {\n                full",
    );
    refused(KEPT, &[anew], &["ring_read", "ring_count"]);
}

/// A round that all agree to skip.
#[test]
fn skipped_rounds() {
    let skip = "let word = input[k / 2]; if n == 3 { continue; }";
    let right = "#[cluster_kernel(block = 96)] fn kernel(input: &[u32], out: &mut [u32], chunks: u32, n: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let slots = shared_array::<[u32; 64], 2>();
        let full = shared_barriers::<2>();
        let empty = shared_barriers::<2>();
        full.init_collective(&block, 1);
        empty.init_collective(&block, 64);
        let (mut s, mut f) = (0, 0);
        if i == 64 {
            for k in 0..chunks {
                SKIP
                empty[s].wait_parity(f == 0);
                full[s].expect_tx(256);
                bulk_copy_async(&slots[s], &input[k * 64..(k + 1) * 64], &full[s]);
                let _ = full[s].arrive();
                s = 1 - s;
                if s == 0 { f = 1 - f; }
            }
        } else if i < 64 {
            for k in 0..chunks {
                SKIPPED
                full[s].wait_parity(f == 1);
                out[k * 64 + i] = slots[s][i];
                let _ = empty[s].arrive();
                s = 1 - s;
                if s == 0 { f = 1 - f; }
            }
        }
    }";
    let right = right.replace("SKIP\n", &format!("{skip}\n")).replace("SKIPPED", "if n == 3 { continue; }");
    refused(&right, &[(skip, "")], &["ring_undrained", "ring_deadlock"]);
}

/// Each of two blocks copies half of every tile to both.
const MULTICAST: &str =
    "#[cluster_kernel(cluster = 2, block = 64)] fn kernel(input: &[u32], out: &mut [u32], chunks: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let halves = shared_array::<[u32; 64], 2>();
    let inbox = shared_array::<[u32; 64], 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    halves[0][i] = input[i];
    halves[1][i] = input[64 + i];
    full.init_collective(&cluster, 1);
    empty.init_collective(&cluster, 2);
    if i == 32 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(256);
            let there = cluster.map_shared_rank(&inbox, 1 - rank);
            let bar = cluster.map_shared_rank(&full[k % 2], 1 - rank);
            bulk_copy_async(&there[k % 2], &halves[k % 2], &bar);
            let _ = full[k % 2].arrive();
        }
    } else if i == 0 {
        for k in 0..chunks {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            out[k] = inbox[k % 2][0];
            let _ = empty[k % 2].arrive();
            cluster.map_shared_rank(&empty[k % 2], 1 - rank).arrive();
        }
    }
    cluster.sync();
}";

#[test]
fn multicasts() {
    let told = "cluster.map_shared_rank(&empty[k % 2], 1 - rank).arrive();";
    refused(MULTICAST, &[(told, "let _ = empty[k % 2].arrive();")], &["ring_overwrite", "ring_count"]);
    refused(MULTICAST, &[(told, "")], &["ring_deadlock"]);
    refused(MULTICAST, &[("    cluster.sync();\n}", "}")], &["exit_before_peers_done", "ring_undrained"]);
}

/// Two warps take tiles in turn, each when the other has handed the turn over.
const PING_PONG: &str = "#[cluster_kernel(block = 96)] fn kernel(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<[u32; 32], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    let order = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    order.init_collective(&block, 32);
    if i == 64 {
        for k in 0..chunks {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(128);
            bulk_copy_async(&tile[k % 2], &input[k * 32..(k + 1) * 32], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 32 {
        for k in 0..chunks {
            if k % 2 == 0 {
                order[0].wait_parity(k / 2 % 2 == 0);
                full[k % 2].wait_parity(k / 2 % 2 == 1);
                out[k * 32 + i] = tile[k % 2][i];
                let _ = empty[k % 2].arrive();
                let _ = order[1].arrive();
            }
        }
    } else if i < 64 {
        for k in 0..chunks {
            if k % 2 == 1 {
                order[1].wait_parity(k / 2 % 2 == 1);
                full[k % 2].wait_parity(k / 2 % 2 == 1);
                out[k * 32 + i - 32] = tile[k % 2][i - 32];
                let _ = empty[k % 2].arrive();
                let _ = order[0].arrive();
            }
        }
    }
}";

#[test]
fn ping_pong() {
    let (first, second) = ("order[0].wait_parity(k / 2 % 2 == 0)", "order[1].wait_parity(k / 2 % 2 == 1)");
    let second_first =
        [(first, "order[0].wait_parity(k / 2 % 2 == 1)"), (second, "order[1].wait_parity(k / 2 % 2 == 0)")];
    refused(PING_PONG, &second_first, &["ring_deadlock"]);
}

/// The order barrier alone: two warps fill one slot in turn.
const ORDER: &str = "#[cluster_kernel(block = 64)] fn kernel(out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let word = shared_array::<u32, 1>();
    let turn = shared_barriers::<2>();
    turn.init_collective(&block, 1);
    if i == 0 {
        for k in 0..chunks {
            turn[0].wait_parity(k % 2 == 0);
            word[0] = k;
            let _ = turn[1].arrive();
        }
    } else if i == 32 {
        for k in 0..chunks {
            turn[1].wait_parity(k % 2 == 1);
            word[0] = k + 1;
            let _ = turn[0].arrive();
        }
    }
}";

#[test]
fn order_barriers() {
    refused(ORDER, &[("turn[1].wait_parity(k % 2 == 1)", "turn[1].wait_parity(k % 2 == 0)")], &["ring_overtaken"]);
    refused(ORDER, &[("turn[0].wait_parity(k % 2 == 0)", "turn[0].wait_parity(k % 2 == 1)")], &["ring_deadlock"]);
}

/// Each block tells the other and waits for its word.
#[test]
fn handshakes() {
    let right = "#[cluster_kernel(cluster = 2, block = 32)] fn kernel(rounds: u32) {
        let cluster = this_cluster();
        let bars = shared_cluster_barriers::<2>();
        bars.init_collective(&cluster, 32);
        for k in 0..rounds {
            cluster.map_shared_rank(&bars[k % 2], 1 - cluster.block_rank()).arrive();
            bars[k % 2].wait_parity(k / 2 % 2 == 1);
        }
        cluster.sync();
    }";
    refused(right, &[("bars[k % 2]", "bars[0]"), ("k / 2 % 2", "k % 2")], &["ring_overtaken", "ring_count"]);
    let crossed = "#[cluster_kernel(block = 64)] fn kernel(rounds: u32) {
        let block = this_thread_block();
        let (a, b) = (shared_barrier(), shared_barrier());
        a.init_collective(&block, 1);
        b.init_collective(&block, 1);
        if block.thread_rank() == 0 {
            for k in 0..rounds { let _ = b.arrive(); a.wait_parity(k % 2 == 1); }
        } else if block.thread_rank() == 32 {
            for k in 0..rounds { b.wait_parity(k % 2 == 1); let _ = a.arrive(); }
        }
    }";
    refused(
        crossed,
        &[("let _ = b.arrive(); a.wait_parity(k % 2 == 1);", "a.wait_parity(k % 2 == 1); let _ = b.arrive();")],
        &["ring_deadlock"],
    );
    let last = "#[cluster_kernel(cluster = 2, block = 32)] fn kernel() {
        let cluster = this_cluster();
        let bar = shared_cluster_barrier();
        bar.init_collective(&cluster, 1);
        if this_thread_block().thread_rank() == 0 && cluster.block_rank() == 0 { cluster.map_shared_rank(&bar, 1).arrive(); }
        cluster.sync();
    }";
    refused(last, &[("cluster.sync();\n    }", "}")], &["exit_before_peers_done"]);
}

/// Threads write a row, one of them begins the bulk store; a row is written again when the store before has read it.
#[test]
fn stores() {
    let right = "#[cluster_kernel(block = 32)] fn kernel(out: &mut [u32], rounds: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let rows = shared_array::<[u32; 32], 2>();
        let bar = shared_barrier();
        bar.init_collective(&block, 32);
        for k in 0..rounds {
            if i == 0 { bulk_wait_group_read::<1>(); }
            block.sync();
            rows[k % 2][i] = k;
            bar.arrive_and_wait();
            if i == 0 { bulk_copy_async(&mut out[k * 32..(k + 1) * 32], &rows[k % 2]); }
        }
        if i == 0 { bulk_wait_group_read::<0>(); }
    }";
    refused(right, &[("if i == 0 { bulk_wait_group_read::<0>(); }", "")], &["ring_undrained", "copy_in_flight"]);
    refused(right, &[("rows[k % 2]", "rows[0]")], &["ring_overwrite", "copy_in_flight"]);
}

/// Tokens, with two halves in turn.
#[test]
fn tokens_and_halves() {
    let right = "#[cluster_kernel(block = 128)] fn kernel(data: &mut [u32], rounds: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let halves = shared_array::<[u32; 128], 2>();
        let bar = shared_barrier();
        bar.init_collective(&block, 128);
        for k in 0..rounds {
            halves[k % 2][i] = data[i];
            let token = bar.arrive();
            bar.wait(token);
            data[i] = halves[k % 2][127 - i];
        }
    }";
    refused(right, &[("halves[k % 2]", "halves[0]")], &["ring_overwrite", "ring_read"]);
}

/// Some threads drop out.
#[test]
fn threads_that_drop_out() {
    let right = "#[cluster_kernel(block = 64)] fn kernel(rounds: u32) {
        let block = this_thread_block();
        let bar = shared_barrier();
        bar.init_collective(&block, 64);
        if block.thread_rank() < 32 {
            for k in 0..rounds { let _ = bar.arrive(); bar.wait_parity(k % 2 == 1); }
        } else {
            bar.arrive_and_drop();
        }
    }";
    refused(
        right,
        &[("bar.arrive_and_drop();", "bar.arrive_and_drop(); let _ = bar.arrive();")],
        &["barrier_use_after_drop"],
    );
}
