//! Tests of blocks that wait for what their peers send them, and so need no barrier of the cluster before they exit: each form with
//! mistakes by which a block may be gone when something comes.

use super::{faults, rules, session};

const EXIT: &str = "exit_before_peers_done";

/// Asserts that a kernel is right, and that it is not with each of these changes.
#[track_caller]
fn right_but_for(body: &str, changes: &[(&str, &str)]) {
    let kernel = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 32)]
            fn sends(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let values = shared_array::<u32, 32>();
                let bar = shared_cluster_barrier();
                {body}
                out[this_grid().thread_rank()] = values[i];
            }}"
        ))
    };
    assert_eq!(kernel(body), [""; 0], "{body}");
    for (from, to) in changes {
        assert!(body.contains(from), "{from}");
        let changed = body.replace(from, to);
        assert!(kernel(&changed).iter().any(|rule| rule == EXIT), "{changed}");
    }
}

#[test]
fn each_block_sends_to_all() {
    right_but_for(
        "bar.init_collective(&cluster, 1);
        if i == 0 { bar.expect_tx(4 * 4); let _ = bar.arrive(); }
        if i < 4 {
            let there = cluster.map_shared_rank(&values, i);
            there.store_async(rank, input[rank], &cluster.map_shared_rank(&bar, i));
        }
        bar.wait_parity(false);",
        &[
            ("bar.wait_parity(false);", ""),
            ("bar.wait_parity(false);", "if rank == 0 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "if n > 2 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "if input[0] > 2 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "let _ = bar.try_wait_parity(false);"),
            ("bar.wait_parity(false);", "bar.wait_parity(true);"),
            ("bar.wait_parity(false);", "bar.wait_parity(n == 3);"),
            ("4 * 4", "3 * 4"),
            ("4 * 4", "5 * 4"),
            ("4 * 4", "4 * n"),
            ("let _ = bar.arrive();", "let _ = bar.arrive(); let _ = bar.arrive();"),
            ("bar.expect_tx(4 * 4); let _ = bar.arrive();", "let _ = bar.arrive(); bar.expect_tx(4 * 4);"),
            ("i < 4", "i < n"),
        ],
    );
}

/// The wait is for another barrier than that of the bytes.
#[test]
fn another_barrier() {
    let body = "let other = shared_cluster_barrier();
        bar.init_collective(&cluster, 1);
        other.init_collective(&cluster, 1);
        if i == 0 { bar.expect_tx(4); let _ = bar.arrive(); let _ = other.arrive(); }
        let next = (rank + 1) % 4;
        if i == 0 { cluster.map_shared_rank(&values, next).store_async(5, rank, &cluster.map_shared_rank(&bar, next)); }
        bar.wait_parity(false);";
    right_but_for(
        body,
        &[("bar.wait_parity(false)", "other.wait_parity(false)"), ("(&bar, next)", "(&bar, (rank + 2) % 4)")],
    );
}

#[test]
fn tokens_and_loops() {
    right_but_for(
        "bar.init_collective(&cluster, 32);
        if i == 0 {
            bar.expect_tx(3 * 4);
            for step in 1..4 {
                let to = (rank + step) % 4;
                cluster.map_shared_rank(&values, to).store_async(rank, step, &cluster.map_shared_rank(&bar, to));
            }
        }
        let token = bar.arrive();
        for k in 0..n { out[k] = k; }
        bar.wait(token);",
        &[
            ("1..4", "0..4"),
            ("1..4", "1..n"),
            ("(&cluster, 32)", "(&cluster, 31)"),
            ("out[k] = k;", "out[k] = k; if k == 7 { return; }"),
        ],
    );
    right_but_for(
        "bar.init_collective(&cluster, 32);
        bar.expect_tx(4);
        let next = (rank + 1) % cluster.num_blocks();
        cluster.map_shared_rank(&values, next).store_async(i, input[i], &cluster.map_shared_rank(&bar, next));
        bar.arrive_and_wait();",
        &[("expect_tx(4)", "expect_tx(8)")],
    );
}

/// One thread waits, and a barrier of the block keeps the others.
#[test]
fn one_thread_waits() {
    right_but_for(
        "bar.init_collective(&cluster, 1);
        let next = (rank + 1) % 4;
        if i == 0 {
            bar.expect_tx(4);
            let _ = bar.arrive();
            cluster.map_shared_rank(&values, next).store_async(5, rank, &cluster.map_shared_rank(&bar, next));
        }
        if i == 0 { bar.wait_parity(false); }
        block.sync();",
        &[
            ("if i == 0 { bar.wait_parity(false); }", ""),
            ("if i == 0 { bar.wait", "if i == 0 && rank > 0 { bar.wait"),
            ("block.sync();", ""),
        ],
    );
}

/// A condition on the place in the grid is none on the place in the cluster, a bulk copy reads its sender's memory, and a peer's arrival is
/// told by nothing but the barrier.
#[test]
fn what_is_no_receipt() {
    let kernel = |condition: &str, send: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 32)]
            fn sends(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let (values, mine) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
                let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, 1);
                mine[i] = input[i];
                block.sync();
                let next = (rank + 1) % 4;
                if i == 0 {{
                    bar.expect_tx(128);
                    let _ = bar.arrive();
                }}
                if {condition} {{
                    let (there, told) = (cluster.map_shared_rank(&values, next), cluster.map_shared_rank(&bar, next));
                    {send}
                }}
                bar.wait_parity(false);
                out[this_grid().thread_rank()] = values[i];
            }}"
        ))
    };
    let store = "there.store_async(i, 1, &told);";
    assert_eq!(kernel("i < 32", store), [""; 0]);
    assert_eq!(kernel("this_grid().block_rank() < 4", store), [EXIT]);
    assert!(kernel("i == 1", "told.arrive();").iter().any(|rule| rule == EXIT));
    assert_eq!(kernel("i == 0", "bulk_copy_async(&there, &mine, &told);"), [EXIT]);
}

/// Asserts that a chain of blocks, each of which waits for what the one before it sends, is right, and that it is not with each of these changes.
#[track_caller]
fn right_chain_but_for(body: &str, changes: &[(&str, &str)]) {
    let kernel = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 32)]
            fn chain(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let prefix = shared_array::<[u32; 2], 2>();
                let (bar, other) = (shared_cluster_barrier(), shared_cluster_barrier());
                bar.init_collective(&cluster, 1);
                other.init_collective(&cluster, 1);
                if i == 0 && rank > 0 {{ bar.expect_tx(4); }}
                if i == 0 {{ let _ = bar.arrive(); let _ = other.arrive(); }}
                let own = input[this_grid().thread_rank()];
                {body}
                if i == 31 && rank < 3 {{
                    let there = cluster.map_shared_rank(&prefix, rank + 1);
                    there[1].store_async(0, own + before, &cluster.map_shared_rank(&bar, rank + 1));
                }}
                out[this_grid().thread_rank()] = before;
            }}"
        ))
    };
    assert_eq!(kernel(body), [""; 0], "{body}");
    for (from, to) in changes {
        assert!(body.contains(from), "{from}");
        let changed = body.replace(from, to);
        assert!(!kernel(&changed).is_empty(), "{changed}");
    }
}

/// What a block reads or overwrites after it has waited for all bytes comes after the peer's write, though it stands before the peer's send.
#[test]
fn what_comes_after_a_wait() {
    right_chain_but_for(
        "bar.wait_parity(false);
        let before = if rank > 0 { prefix[1][0] } else { 0 };",
        &[
            ("bar.wait_parity(false);", ""),
            ("bar.wait_parity(false);", "bar.wait_parity(true);"),
            ("bar.wait_parity(false);", "other.wait_parity(false);"),
            ("bar.wait_parity(false);", "if i < 31 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "if rank != 2 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "if n > 2 { bar.wait_parity(false); }"),
            ("bar.wait_parity(false);", "let _ = bar.try_wait_parity(false);"),
            ("bar.wait_parity(false);", "let early = prefix[1][0]; bar.wait_parity(false);"),
            ("bar.wait_parity(false);", "prefix[1][0] = 7; bar.wait_parity(false);"),
            ("bar.wait_parity(false);", "if input[0] > 3 { out[0] = prefix[1][0]; } bar.wait_parity(false);"),
            ("bar.wait_parity(false);", "for k in 0..n { out[k] = prefix[1][0]; } bar.wait_parity(false);"),
            (
                "bar.wait_parity(false);",
                "if i == 1 { other.expect_tx(4); } bar.wait_parity(false); other.wait_parity(false);",
            ),
        ],
    );
    right_chain_but_for(
        "let mut before = 0;
        bar.wait_parity(false);
        if rank > 0 && input[i] > 3 { before = prefix[1][0]; }
        block.sync();
        if i == 0 { prefix[1][0] = own; }",
        &[("bar.wait_parity(false);", ""), ("prefix[1][0] = own; }", "prefix[1][0] = own; bar.expect_tx(4); }")],
    );
}

/// One thread waits, and a barrier of the block tells the others.
#[test]
fn what_comes_after_another_thread_s_wait() {
    right_chain_but_for(
        "if i == 7 { bar.wait_parity(false); }
        block.sync();
        let before = if rank > 0 { prefix[1][0] } else { 0 };",
        &[
            ("block.sync();", ""),
            ("block.sync();", "tiled_partition::<16>(&block).sync();"),
            ("block.sync();", "if n > 3 { block.sync(); }"),
            (
                "if i == 7 { bar.wait_parity(false); }\n        block.sync();",
                "block.sync();\n        if i == 7 { bar.wait_parity(false); }",
            ),
            ("if i == 7", "if i == 7 && rank != 1"),
            ("if i == 7", "if i == n"),
        ],
    );
}

/// Elements of rows, and a cluster as large as it may be.
#[test]
fn rows_and_large_clusters() {
    let kernel = |bytes: u32, end: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 8, block = 512)]
            fn gather(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let inbox = shared_array::<[u32; 512], 8>();
                let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, 1);
                if i == 0 {{ bar.expect_tx({bytes}); let _ = bar.arrive(); }}
                let own = input[cluster.thread_rank()];
                for b in 0..8 {{
                    cluster.map_shared_rank(&inbox, b)[rank].store_async(i, own, &cluster.map_shared_rank(&bar, b));
                }}
                {end}
            }}"
        ))
    };
    let read = "out[cluster.thread_rank()] = inbox[0][i] + inbox[7][i];";
    assert_eq!(kernel(8 * 512 * 4, &format!("bar.wait_parity(false); {read}")), [""; 0]);
    assert_eq!(kernel(8 * 512 * 4, &format!("if i < 256 {{ bar.wait_parity(false); {read} }}")), [EXIT]);
    assert!(!kernel(8 * 511 * 4, &format!("bar.wait_parity(false); {read}")).is_empty());
}

/// Two threads of one block, or of two, that send to the same element in one phase.
#[test]
fn elements_that_two_threads_send_to() {
    let kernel = |row: &str, index: &str, end: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)]
            fn scatter(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let inbox = shared_array::<[u32; 16], 4>();
                let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, 1);
                if i == 0 {{ bar.expect_tx(4 * 16 * 4); let _ = bar.arrive(); }}
                let owner = i / 16;
                let there = cluster.map_shared_rank(&inbox, owner);
                there[{row}].store_async({index}, input[cluster.thread_rank()], &cluster.map_shared_rank(&bar, owner));
                bar.wait_parity(false);
                out[cluster.thread_rank()] = inbox[i / 16][i % 16];
                {end}
            }}"
        ))
    };
    const UNORDERED: &str = "unordered_remote_write";
    for end in ["", "cluster.sync();"] {
        assert_eq!(kernel("rank", "i % 16", end), [""; 0]);
        assert_eq!(kernel("rank", "15 - i % 16", end), [""; 0]);
        // What the host passes may be different for each.
        assert_eq!(kernel("rank", "input[i]", end), [""; 0]);
        assert_eq!(kernel("rank", "(i + n) % 16", end), [""; 0]);
        assert_eq!(kernel("rank", "i % 8", end), [UNORDERED]);
        assert_eq!(kernel("rank % 2", "i % 16", end), [UNORDERED]);
        assert_eq!(kernel("i % 4", "i % 16", end), [UNORDERED]);
    }
}

/// Where the number of bytes alone is wrong, that is what the message says to mend: a barrier of the cluster would leave a wait that never ends.
#[test]
fn the_bytes_are_named() {
    let fault = |bytes: u32, wait: &str| {
        let all = faults(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn gather(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let inbox = shared_array::<[u32; 64], 2>();
                let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, 1);
                if i == 0 {{ bar.expect_tx({bytes}); let _ = bar.arrive(); }}
                let peer = cluster.map_shared_rank(&inbox, 1 - rank);
                peer[rank].store_async(i, input[i], &cluster.map_shared_rank(&bar, 1 - rank));
                {wait}
                out[cluster.thread_rank()] = i;
            }}"
        ));
        assert_eq!(all.len(), 1);
        all[0].text().to_owned()
    };
    let wrong = fault(128, "bar.wait_parity(false);");
    assert!(wrong.contains("expects 128 bytes in all, and 256 are sent there"), "{wrong}");
    assert!(wrong.contains("help: make `bar` expect exactly the bytes"), "{wrong}");
    let not_waited = fault(128, "");
    assert!(!not_waited.contains("bytes in all"), "{not_waited}");
}

/// The same with constants of the file and in a function of it.
#[test]
fn elements_that_constants_name() {
    let kernel = |index: &str| {
        let file = format!(
            "const N: u32 = 16;
            #[cluster_kernel(cluster = 4, block = 64)]
            fn scatter(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let inbox = shared_array::<u32, 64>();
                let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, 1);
                if i == 0 {{ bar.expect_tx(4 * 16 * 4); let _ = bar.arrive(); }}
                let owner = i / N;
                let there = cluster.map_shared_rank(&inbox, owner);
                there.store_async({index}, input[cluster.thread_rank()], &cluster.map_shared_rank(&bar, owner));
                bar.wait_parity(false);
                out[cluster.thread_rank()] = inbox[i];
                cluster.sync();
            }}"
        );
        session().check_file(&file).iter().map(|fault| fault.rule().to_string()).collect::<Vec<String>>()
    };
    assert_eq!(kernel("rank * N + i % N"), [""; 0]);
    assert_eq!(kernel("rank * N + i % 8"), ["unordered_remote_write"]);
    assert_eq!(kernel("rank / 2 * N + i % N"), ["unordered_remote_write"]);
}
