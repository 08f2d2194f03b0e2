//! Tests of asynchronous copies into a peer's memory, and of writes by all blocks to one element.

use super::rules;

/// Returns the rules that a kernel of four blocks of 64 threads with this body breaks, between two barriers of the cluster.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 4, block = 64)]
        fn sends(input: &[u32], output: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let inbox = shared_array::<u32, 64>();
            let outbox = shared_array::<u32, 64>();
            let bar = shared_cluster_barrier();
            bar.init_collective(&cluster, 64);
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            outbox[i] = input[i];
            let next = (rank + 1) % 4;
            let there = cluster.map_shared_rank(&inbox, next);
            let full = cluster.map_shared_rank(&bar, next);
            bar.expect_tx(4);
            let _ = bar.arrive();
            block.sync();
            {body}
            cluster.sync();
        }}"
    );
    rules(&source)
}

const SENDS: [&str; 2] = ["there.store_async(i, 7, &full);", "if i == 0 { bulk_copy_async(&there, &outbox, &full); }"];

/// What a peer's copy writes is left alone until a wait; barriers of the cluster do not wait for copies.
#[test]
fn the_destination() {
    for send in SENDS {
        for access in [
            "output[i] = inbox[i];",
            "inbox[i] = 1;",
            "inbox.atomic(i).fetch_add(1, Relaxed);",
            "output[i] = inbox[0];",
        ] {
            for before in
                ["", "block.sync();", "cluster.sync();", "let t = cluster.barrier_arrive(); cluster.barrier_wait(t);"]
            {
                let early = format!("{send} {before} {access} bar.wait_parity(false);");
                assert_eq!(broken(&early), ["copy_in_flight"], "{early}");
            }
            let late = format!("{send} bar.wait_parity(false); {access}");
            assert!(broken(&late).is_empty(), "{late}");
            let by_one = format!("{send} if i == 0 {{ bar.wait_parity(false); }} block.sync(); {access}");
            assert!(broken(&by_one).is_empty(), "{by_one}");
        }
        let polled = format!("{send} while !bar.try_wait_parity(false) {{}} output[i] = inbox[i];");
        assert!(broken(&polled).is_empty());
        let by_a_function = format!("{send} waits(&bar); output[i] = inbox[i];");
        assert!(broken(&by_a_function).is_empty());
    }
    assert!(broken("there.store_async(i, 7, &full); output[i] = outbox[i]; bar.wait_parity(false);").is_empty());
}

/// A peer's copy does not begin while the owner may still access what it writes.
#[test]
fn before_the_copy() {
    for send in SENDS {
        for access in ["output[i] = inbox[i];", "inbox[i] = 1;"] {
            let unordered = format!("inbox[i] = 0; cluster.sync(); {access} {send} bar.wait_parity(false);");
            assert_eq!(broken(&unordered), ["unordered_remote_write"], "{unordered}");
            let ordered =
                format!("inbox[i] = 0; cluster.sync(); {access} cluster.sync(); {send} bar.wait_parity(false);");
            assert!(broken(&ordered).is_empty(), "{ordered}");
        }
        // A peer may be one round ahead.
        let lapped = format!("for _ in 0..4 {{ {send} bar.wait_parity(false); output[i] = inbox[i]; }}");
        assert_eq!(broken(&lapped), ["unordered_remote_write"], "{lapped}");
        let told = format!(
            "for round in 0..4 {{
                {send} bar.wait_parity(round % 2 == 1); output[i] = inbox[i];
                cluster.sync(); bar.expect_tx(4); let _ = bar.arrive();
            }}"
        );
        assert!(broken(&told).is_empty(), "{told}");
    }
    let roles = "if rank == 0 { there.store_async(i, 7, &full); } else if rank == 1 { bar.wait_parity(false); output[i] = inbox[i]; }";
    assert_eq!(broken(roles), [""; 0]);
    let early =
        "if rank == 0 { there.store_async(i, 7, &full); } else { output[i] = inbox[i]; bar.wait_parity(false); }";
    // Nobody sends to the blocks 2 and 3, which read their memory, too.
    assert_eq!(broken(early), ["uninit_shared_read", "copy_in_flight"]);
}

/// The source of a bulk copy to a peer is not written before a wait.
#[test]
fn the_source() {
    let sent = |after: &str| {
        broken(&format!("if i == 0 {{ bulk_copy_async(&there, &outbox, &full); {after} }} bar.wait_parity(false);"))
    };
    assert_eq!(sent("outbox[3] = 5;"), ["copy_in_flight"]);
    assert!(sent("output[0] = outbox[3];").is_empty());
    // What comes to the own barrier is a peer's copy.
    assert_eq!(sent("bar.wait_parity(false); outbox[3] = 5;"), ["copy_in_flight"]);
    assert_eq!(sent("bar.wait_parity(false); block.sync(); outbox[3] = 5;").last().unwrap(), "copy_in_flight");
}

/// A copy to a peer ends for its sender when the receiver has waited for it and told the sender so.
#[test]
fn the_receiver_tells() {
    let send = "if i == 0 { bulk_copy_async(&there, &outbox, &full); }";
    let after = |told: &str| broken(&format!("{send} {told} outbox[i] = 5;"));
    assert_eq!(after("bar.wait_parity(false);"), ["copy_in_flight"]);
    assert_eq!(after("cluster.sync();"), ["copy_in_flight"]);
    assert_eq!(after("bar.wait_parity(false); block.sync();"), ["copy_in_flight"]);
    assert!(after("bar.wait_parity(false); cluster.sync();").is_empty());
    assert!(after("bar.wait_parity(false); let t = cluster.barrier_arrive(); cluster.barrier_wait(t);").is_empty());
    // The next wait there is for a copy that was sent after a wait. The inbox is another matter.
    let again = "bar.wait_parity(false); bar.expect_tx(4); let _ = bar.arrive(); block.sync();
        if i == 0 { bulk_copy_async(&there, &other, &full); }";
    let twice =
        |then: &str| broken(&format!("let other = shared_array::<u32, 64>(); other[i] = i; {send} {again} {then}"));
    assert_eq!(twice("outbox[i] = 5; bar.wait_parity(true);"), ["copy_in_flight"]);
    assert_eq!(twice("bar.wait_parity(true); outbox[i] = 5;"), ["ring_overwrite"]);
    let ring = |then: &str| {
        broken(&format!(
            "for round in 0..4 {{
                {send} bar.wait_parity(round % 2 == 1); {then}
                bar.expect_tx(4); let _ = bar.arrive(); block.sync();
            }}"
        ))
    };
    assert_eq!(ring("outbox[i] += inbox[i]; cluster.sync();"), ["copy_in_flight"]);
    assert_eq!(ring("cluster.sync(); outbox[i] += inbox[i]; cluster.sync();"), [""; 0]);
    // Blocks in different roles answer each other.
    let answered = "if rank == 0 {
            if i == 0 { bulk_copy_async(&there, &outbox, &full); } bar.wait_parity(false); outbox[i] = 5;
        } else {
            bar.wait_parity(false); if i == 0 { bulk_copy_async(&there, &outbox, &full); }
        }";
    assert_eq!(broken(answered), [""; 0]);
}

/// A cooperative copy is a collective of its group, which does not come between an arrival and its wait.
#[test]
fn between_arrival_and_wait() {
    let between = |group: &str| {
        broken(&format!(
            "let t = {group}.barrier_arrive(); memcpy_async(&block, &outbox, &input[..64]); {group}.barrier_wait(t);
            block.wait_async(); bar.wait_parity(false);"
        ))
    };
    assert_eq!(between("block"), ["collective_while_pending"]);
    // Nobody sends the bytes that `bar` expects.
    assert_eq!(between("cluster"), ["ring_deadlock"]);
}

/// All blocks write one element of the same block.
#[test]
fn the_same_element() {
    let written = |write: &str| {
        broken(&format!("inbox[i] = 0; cluster.sync(); let first = cluster.map_shared_rank(&inbox, 0); {write}"))
    };
    for write in [
        "first[0] = 7;",
        "first[n as usize] = 7;",
        "if i == 0 { first[0] = 7; }",
        "if i / 32 == 1 && n > 3 { first[0] = rank as u32; }",
        "first.store_async(0, 7, &cluster.map_shared_rank(&bar, 0));",
        "for k in 0..4usize { first[k] = 7; }",
    ] {
        assert_eq!(written(write), ["unordered_remote_write"], "{write}");
    }
    for write in [
        "first[rank] = 7;",
        "if rank == 1 { first[0] = 7; }",
        "if cluster.thread_rank() == 64 { first[0] = 7; }",
        "if this_grid().thread_rank() == 0 { first[0] = 7; }",
        "if input[i] == 7 { first[0] = 7; }",
        "first.atomic(0).fetch_add(1, Relaxed);",
        "there[0] = 7;",
    ] {
        assert!(written(write).is_empty(), "{write}");
    }
}

/// Returns the rules that a kernel of two blocks breaks in which copies fill `tile` and peers read it through `peer`.
#[track_caller]
fn published(body: &str) -> Vec<String> {
    let arrivals = if body.contains("full.arrive_and_wait") { 64 } else { 1 };
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn publishes(input: &[f32], output: &mut [f32], n: usize) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let tile = shared_array::<f32, 64>();
            let full = shared_barrier();
            let told = shared_barrier();
            full.init_collective(&block, {arrivals});
            told.init_collective(&block, 1);
            let i = block.thread_rank();
            let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
            let mut phase = false;
            {body}
            cluster.sync();
        }}"
    );
    rules(&source)
}

const BULK: &str =
    "if i == 0 { full.expect_tx(256); bulk_copy_async(&tile, &input[..64], &full); let _ = full.arrive(); }";

/// Each kind of copy into a block's own memory, with its wait.
const FILLS: [(&str, &str); 3] = [
    (BULK, "full.wait_parity(false);"),
    ("memcpy_async(&block, &tile, &input[..64], &full);", "full.arrive_and_wait();"),
    ("memcpy_async(&block, &tile, &input[..64]);", "block.wait_async();"),
];

/// A copy writes until somebody has waited for it, so that peers read it only after the wait and a barrier of the cluster.
#[test]
fn peers_of_a_copy() {
    let read = "output[i] = peer[i];";
    for (fill, wait) in FILLS {
        let right = format!("{fill} {wait} cluster.sync(); {read}");
        assert!(published(&right).is_empty(), "{right}");
        let split = format!("{fill} {wait} let t = cluster.barrier_arrive(); cluster.barrier_wait(t); {read}");
        assert!(published(&split).is_empty(), "{split}");
        for wrong in [
            format!("{fill} cluster.sync(); {read} {wait}"),
            format!("{fill} cluster.sync(); {wait} {read}"),
            format!("cluster.sync(); {fill} {wait} {read}"),
            format!("{fill} cluster.sync(); cluster.sync(); {read} {wait}"),
            format!("for k in 0..n {{ {fill} cluster.sync(); {wait} {read} cluster.sync(); }}"),
        ] {
            assert_eq!(published(&wrong), ["unpublished_remote_read"], "{wrong}");
        }
        let late = format!("{fill} let t = cluster.barrier_arrive(); {wait} cluster.barrier_wait(t); {read}");
        assert_eq!(published(&late), ["write_after_arrive"], "{late}");
        let by_peer = format!("{fill} cluster.sync(); if i == 1 {{ peer[i] = 1.0; }} {wait}");
        assert_eq!(published(&by_peer), ["unordered_remote_write"], "{by_peer}");
        // Each round waits for its own phase.
        let again = wait.replace("false", "k % 2 == 1");
        let in_rounds = format!("for k in 0..n {{ {fill} {again} cluster.sync(); {read} cluster.sync(); }}");
        assert!(published(&in_rounds).is_empty(), "{in_rounds}");
        let not_read = format!("for k in 0..n {{ {fill} {wait} cluster.sync(); {read} }}");
        assert_eq!(published(&not_read), ["overwrite_while_read"], "{not_read}");
    }
    // What a peer writes must not be the source of a bulk copy that nobody has waited for.
    let store = "if i == 0 { bulk_copy_async(&mut output[..64], &tile); }";
    let wait = "if i == 0 { bulk_wait_group_read::<0>(); }";
    let own = "tile[i] = 1.0; block.sync();";
    assert_eq!(published(&format!("{own} {store} cluster.sync(); peer[i] = 2.0; {wait}")), ["unordered_remote_write"]);
    assert!(published(&format!("{own} {store} {wait} cluster.sync(); peer[i] = 2.0;")).is_empty());
}

/// A wait shows the copies that complete on its barrier, and those of which a thread that has waited tells.
#[test]
fn which_wait() {
    let other = "if i == 0 { let _ = told.arrive(); } told.wait_parity(false);";
    let elected = "if i == 0 { full.wait_parity(false); let _ = told.arrive(); } told.wait_parity(false);";
    let in_arms = "if i == 32 { full.wait_parity(false); } ";
    let (peers, own) = ("cluster.sync(); output[i] = peer[i];", "output[i] = tile[i];");
    assert_eq!(published(&format!("{BULK} {other} {own} full.wait_parity(false);")), ["copy_in_flight"]);
    assert_eq!(published(&format!("{BULK} {other} {peers} full.wait_parity(false);")), ["unpublished_remote_read"]);
    for right in [format!("{BULK} {elected} {own}"), format!("{BULK} {elected} {peers}")] {
        assert!(published(&right).is_empty(), "{right}");
    }
    for right in [format!("{BULK} {in_arms} block.sync(); {own}"), format!("{BULK} {in_arms} {peers}")] {
        assert!(published(&right).is_empty(), "{right}");
    }
    // A function waits only at barriers that it is given.
    assert_eq!(published(&format!("{BULK} let x = twice(1.0); output[i] = x; {own}")), ["copy_in_flight"]);
    assert!(published(&format!("{BULK} waits(&full); {own}")).is_empty());
}

/// What a thread waited for in an earlier round says nothing of a copy that another thread has begun since.
#[test]
fn waits_of_an_earlier_round() {
    let next = "full.wait_parity(phase); phase = !phase;";
    let own = "output[i] = tile[i]; block.sync();";
    assert_eq!(published(&format!("for k in 0..n {{ {BULK} {own} {next} }}")), ["copy_in_flight"]);
    assert!(published(&format!("for k in 0..n {{ {BULK} {next} {own} }}")).is_empty());
    // A producer and its consumers take different arms.
    let arms = "if i == 32 { for k in 0..n { told.wait_parity(k % 2 == 0); full.expect_tx(256); \
                bulk_copy_async(&tile, &input[..64], &full); let _ = full.arrive(); } } \
                else if i == 0 { for k in 0..n { full.wait_parity(k % 2 == 1); output[i] = tile[i]; \
                let _ = told.arrive(); } }";
    assert!(published(arms).is_empty());
    assert!(published(&format!("{arms} cluster.sync(); output[i] = peer[i];")).is_empty());
}

/// Waits for all but the last copies leave the last one in flight.
#[test]
fn all_but_the_last() {
    let store = "tile[i] = 1.0; block.sync(); if i == 0 { bulk_copy_async(&mut output[..64], &tile); ";
    for wait in ["bulk_wait_group_read", "bulk_wait_group"] {
        assert!(published(&format!("{store} {wait}::<0>(); }}")).is_empty());
        assert_eq!(published(&format!("{store} {wait}::<1>(); }}")), ["copy_in_flight"]);
        let round = format!("block.sync(); {store} }} if i == 0 {{ {wait}::<1>(); }}");
        // The next round writes what the last copy reads, and the block exits while it does.
        assert_eq!(published(&format!("for k in 0..n {{ {round} }}")), ["copy_in_flight"; 2]);
        let two_buffers = round.replace("&tile)", "&other)").replace("tile[i]", "other[i]");
        let two_buffers = format!("let other = shared_array::<f32, 64>(); for k in 0..n {{ {round} {two_buffers} }}");
        assert_eq!(published(&two_buffers), ["copy_in_flight"]);
        assert!(published(&format!("{two_buffers} if i == 0 {{ {wait}::<0>(); }}")).is_empty());
        let drained = format!("for k in 0..n {{ {round} }} if i == 0 {{ {wait}::<0>(); }}");
        assert_eq!(published(&drained), ["copy_in_flight"]);
    }
    let two = "let other = shared_array::<f32, 64>(); memcpy_async(&block, &other, &input[..64]); \
               memcpy_async(&block, &tile, &input[..64]); block.wait_prior::<1>();";
    assert!(published(&format!("{two} output[i] = other[i]; block.wait_async();")).is_empty());
    assert_eq!(published(&format!("{two} output[i] = tile[i]; block.wait_async();")), ["copy_in_flight"]);
}

/// A wait for what a peer sends says nothing of what that peer has read before, unless the thread has sent as well.
#[test]
fn a_wait_is_no_word_of_the_receiver() {
    let guarded = |body: &str| broken(&format!("if rank > 0 {{ {body} }} there.store_async(i, 7, &full);"));
    assert_eq!(guarded("output[i] = inbox[i]; bar.wait_parity(false);"), ["unordered_remote_write"]);
}

/// Two inboxes in turn: a thread that has received in one has sent to the other before, and its peer has read that by then.
#[test]
fn two_inboxes_in_turn() {
    let with = |elect: &str, inbox: &str| {
        let source = format!(
            "#[cluster_kernel(cluster = 4, block = 64)]
            fn turns(output: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let inboxes = shared_array::<u32, 8>();
                let bars = shared_cluster_barriers::<2>();
                bars.init_collective(&cluster, 1);
                let i = block.thread_rank();
                let next = (cluster.block_rank() + 1) % 4;
                for step in 0..n {{
                    let from = step % 2;
                    {elect} {{
                        bars[from].expect_tx(4);
                        let _ = bars[from].arrive();
                        let bar = cluster.map_shared_rank(&bars[from], next);
                        cluster.map_shared_rank(&inboxes, next).store_async({inbox}, step, &bar);
                    }}
                    output[1] = twice(step);
                    {elect} {{
                        bars[from].wait_parity(step / 2 % 2 == 1);
                        output[0] = inboxes[{inbox}];
                    }}
                    block.sync();
                }}
                cluster.sync();
            }}"
        );
        rules(&source)
    };
    for elect in ["", "if i == 0"] {
        for inbox in ["from", "2 * from + 1", "from * 4 + 3"] {
            assert!(with(elect, inbox).is_empty(), "{elect} {inbox}");
        }
        for inbox in ["1", "step % 3 / 3"] {
            assert_eq!(with(elect, inbox), ["unordered_remote_write"], "{elect} {inbox}");
        }
    }
}

/// A copy that a branch leaves in flight, on which all threads take the same arm: nobody waits there.
#[test]
fn waits_on_one_arm() {
    let broken = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)]
            fn tile(input: &[u32], output: &mut [u32], eager: bool, n: u32) {{
                let block = this_thread_block();
                let (tile, i) = (shared_array::<u32, 64>(), block.thread_rank());
                {body}
            }}"
        ))
    };
    let copy = "memcpy_async(&block, &tile, &input[..64]);";
    let (wait, read) = ("block.wait_async();", "output[i] = tile[63 - i];");
    for early in ["if eager { block.wait_async(); }", "if n > 4 { output[0] = 1; } else { block.wait_async(); }"] {
        assert_eq!(broken(&format!("{copy} {early} {read} {wait}")), ["copy_in_flight"], "{early}");
        assert_eq!(broken(&format!("{copy} {early} block.sync(); {read} {wait}")), ["copy_in_flight"], "{early}");
        assert!(broken(&format!("{copy} {early} {wait} {read}")).is_empty(), "{early}");
        let repeated = format!("for k in 0..8 {{ {copy} {early} {read} {wait} block.sync(); }}");
        assert_eq!(broken(&repeated), ["copy_in_flight"], "{early}");
    }
    assert_eq!(broken(&format!("{copy} if eager {{ {wait} }}")), ["copy_in_flight"]);
    // A wait before the copy says nothing of it, also where the paths to it are told apart.
    let (count, on_arms) =
        ("let mut k = 1;", "if input[k] > 4 { k += 1; block.wait_async(); } else { block.wait_async(); }");
    let later = "k += 1; if input[k] > 4 { output[0] = 1; }";
    for between in ["", later] {
        assert_eq!(
            broken(&format!("{count} {on_arms} {copy} {between} {read} {wait}")),
            ["copy_in_flight"],
            "{between}"
        );
        assert!(broken(&format!("{count} {on_arms} {copy} {between} {wait} {read}")).is_empty(), "{between}");
    }
    // Other branches may tell that the copy was waited for, or never began.
    for right in [
        format!("{copy} if eager {{ {wait} }} if !eager {{ {wait} }} block.sync(); {read}"),
        format!("if eager {{ {copy} }} if eager {{ {wait} }} block.sync(); {read}"),
        format!("{copy} for k in 0..n {{ if k == 0 {{ {wait} block.sync(); }} {read} }} {wait}"),
        format!(
            "let mut pending = false;
            for k in 0..n {{ if pending {{ {wait} block.sync(); {read} block.sync(); }} {copy} pending = true; }}
            if pending {{ {wait} }}"
        ),
        // Some threads have waited, and told the others.
        format!("{copy} if i < 64 {{ {wait} }} block.sync(); {read}"),
    ] {
        assert!(!broken(&right).contains(&"copy_in_flight".into()), "{right}");
    }
}

/// Where only the last round waits for all copies, none is in flight behind the loop.
#[test]
fn the_last_round() {
    let pipeline = |condition: &str, ahead: &str| {
        broken(
            &format!(
                "for s in 0..2u32 {{ if s < n {{ memcpy_async(&block, &stages[s], &input[s * 64..(s + 1) * 64]); }} }}
            for k in 0..n {{
                {condition}
                let ahead = k + 2;
                {ahead}
                output[i] += stages[k % 3][i];
                block.sync();
            }}"
            )
            .replace("for s in", "let stages = shared_array::<[u32; 64], 3>(); for s in"),
        )
    };
    let copy = |condition: &str| {
        format!("if {condition} {{ memcpy_async(&block, &stages[ahead % 3], &input[ahead * 64..(ahead + 1) * 64]); }}")
    };
    let waits = ["block.wait_prior::<1>();", "block.wait_async();"];
    for condition in ["k + 1 < n", "n > k + 1", "k < n - 1", "k + 1 != n", "k + 2 <= n"] {
        let test = format!("if {condition} {{ {} }} else {{ {} }}", waits[0], waits[1]);
        assert_eq!(pipeline(&test, &copy("ahead < n")), [""; 0], "{condition}");
    }
    let turned = format!("if k + 1 == n {{ {} }} else {{ {} }}", waits[1], waits[0]);
    assert_eq!(pipeline(&turned, &copy("ahead < n")), [""; 0]);
    // The last round leaves a copy in flight, or begins one.
    for condition in ["k < n", "k + 1 <= n", "k != n"] {
        let test = format!("if {condition} {{ {} }} else {{ {} }}", waits[0], waits[1]);
        assert!(pipeline(&test, &copy("ahead < n")).contains(&"copy_in_flight".to_owned()), "{condition}");
    }
    let test = format!("if k + 1 < n {{ {} }} else {{ {} }}", waits[0], waits[1]);
    assert!(pipeline(&test, &copy("true")).contains(&"copy_in_flight".to_owned()));
}

/// What is begun before a loop is left in flight where the loop has no round, unless the kernel asserts that it has one.
#[test]
fn loops_without_a_round() {
    let pipeline = |before: &str, round: &str| {
        let copies = "let stages = shared_array::<[u32; 64], 3>(); memcpy_async(&block, &stages[0], &input[..64]);
            memcpy_async(&block, &stages[1], &input[64..128]);";
        let ahead = "if k + 2 < n { memcpy_async(&block, &stages[(k + 2) % 3], &input[(k + 2) * 64..(k + 3) * 64]); }";
        broken(&format!(
            "{before} {copies} for k in 0..n {{ {round} output[i] += stages[k % 3][63 - i]; block.sync(); {ahead} }}"
        ))
    };
    let last = "if k + 1 < n { block.wait_prior::<1>(); } else { block.wait_async(); }";
    for round in ["block.wait_async();", last] {
        for before in
            ["assert!(n > 0);", "assert!(n >= 2);", "assert!(1 <= n);", "assert!(n != 0);", "if n == 0 { return; }"]
        {
            assert_eq!(pipeline(before, round), [""; 0], "{before} {round}");
        }
        for before in ["", "assert!(n < 1000);"] {
            assert_eq!(pipeline(before, round), ["copy_in_flight"], "{before} {round}");
        }
    }
    // A wait that some launch never comes to.
    assert_eq!(pipeline("assert!(n > 0);", "if k == 9 { block.wait_async(); }"), ["copy_in_flight"]);
}
