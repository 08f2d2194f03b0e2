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
        let told = format!("for _ in 0..4 {{ {send} bar.wait_parity(false); output[i] = inbox[i]; cluster.sync(); }}");
        assert!(broken(&told).is_empty(), "{told}");
    }
    let roles =
        "if rank == 0 { there.store_async(i, 7, &full); } else { bar.wait_parity(false); output[i] = inbox[i]; }";
    assert!(broken(roles).is_empty());
    let early =
        "if rank == 0 { there.store_async(i, 7, &full); } else { output[i] = inbox[i]; bar.wait_parity(false); }";
    assert_eq!(broken(early), ["copy_in_flight"]);
}

/// The source of a bulk copy to a peer is not written before a wait.
#[test]
fn the_source() {
    let sent = |after: &str| {
        broken(&format!("if i == 0 {{ bulk_copy_async(&there, &outbox, &full); {after} }} bar.wait_parity(false);"))
    };
    assert_eq!(sent("outbox[3] = 5;"), ["copy_in_flight"]);
    assert!(sent("output[0] = outbox[3];").is_empty());
    assert!(sent("bar.wait_parity(false); outbox[3] = 5;").is_empty());
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
    assert!(between("cluster").is_empty());
}

/// All blocks write one element of the same block.
#[test]
fn the_same_element() {
    let written = |write: &str| broken(&format!("let first = cluster.map_shared_rank(&inbox, 0); {write}"));
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
