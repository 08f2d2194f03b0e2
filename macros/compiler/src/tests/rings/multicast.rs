//! Rings whose stages multicasts fill: each receiver is a copy of its own, and a block sends again only once all receivers have released
//! the stage. `multicast_unarmed`, where the rings are not followed.

use super::super::{Attributed, faults, session};
use crate::RingReport;

/// A ring of two stages, each of two halves. Each of two blocks loads one half for both.
fn ring(producer: &[&str], consumer: &[&str]) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 64)] fn sums(a: &TensorMap<Half>, out: &mut [f32], chunks: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            let halves = shared_array::<Half, 4>();
            let full = shared_cluster_barriers::<2>();
            let empty = shared_cluster_barriers::<2>();
            full.init_collective(&cluster, 1);
            empty.init_collective(&cluster, 2);
            if i == 32 {{
                for k in 0..chunks {{ let s = k % 2; {} }}
            }} else if i == 0 {{
                let mut sum = 0.0;
                for k in 0..chunks {{ let s = k % 2; {} }}
                out[i] = sum;
            }}
            cluster.sync();
        }}",
        producer.concat(),
        consumer.concat(),
    )
}

const ACQUIRE: &str = "empty[s].wait_parity(k / 2 % 2 == 0);";
const EXPECT: &str = "a.expect_multicast(&halves[s * 2], &full[s]); a.expect_multicast(&halves[s * 2 + 1], &full[s]);";
const SEND: &str = "a.multicast_async([rank as i32 * 8, k as i32 * 64], &halves[s * 2 + rank], &full[s], &cluster);";
const ARRIVE: &str = "let _ = full[s].arrive();";
const WAIT: &str = "full[s].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += halves[s * 2][0][i].to_f32() * halves[s * 2 + 1][1][i].to_f32();";
const RELEASE: &str = "cluster.map_shared_rank(&empty[s], 0).arrive(); cluster.map_shared_rank(&empty[s], 1).arrive();";

fn found(source: &str) -> Vec<String> {
    faults(source).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn rings_of_multicasts() {
    let listed = SEND.replace("&cluster", "[rank, 1 - rank]");
    let row = SEND.replace("&cluster", "cluster.row()");
    let by_one = (
        "a.expect_multicast(&halves[s], &full[s]);",
        "if rank == 0 { a.multicast_async([0, k as i32 * 64], &halves[s], &full[s], &cluster); }",
        "sum += halves[s][0][i].to_f32();",
    );
    for (expect, send, read) in [by_one, (EXPECT, SEND, READ), (EXPECT, &listed, READ), (EXPECT, &row, READ)] {
        let source = ring(&[ACQUIRE, expect, send, ARRIVE], &[WAIT, read, RELEASE]);
        let Attributed { options, item, .. } = Attributed::parse(&source);
        let cases = session().rings("", options, item).unwrap_or_else(|_| panic!("{:?} in\n{source}", found(&source)));
        let proved = |report: &RingReport| match report {
            RingReport::Proved { arrays, .. } => arrays.len() == 1,
            RingReport::Open { .. } | RingReport::Refused(_) | RingReport::Waived => false,
        };
        assert!(matches!(&cases[..], [case] if proved(&case.report)), "{cases:?} of\n{source}");
    }
}

/// The bytes are expected: that they may arrive after the thread's own arrival is no mistake.
#[test]
fn an_arrival_before_the_copy() {
    assert!(found(&ring(&[ACQUIRE, EXPECT, ARRIVE, SEND], &[WAIT, READ, RELEASE])).is_empty());
}

#[test]
fn mistakes_in_rings_of_multicasts() {
    let right = ([ACQUIRE, EXPECT, SEND, ARRIVE], [WAIT, READ, RELEASE]);
    let one_half = "a.expect_multicast(&halves[s * 2], &full[s]);";
    let by_one = format!("if rank == 0 {{ {EXPECT} }}");
    let to_one = SEND.replace("&cluster", "[0]");
    let to_itself = SEND.replace("&cluster", "[rank]");
    let own_release =
        "cluster.map_shared_rank(&empty[s], rank).arrive(); cluster.map_shared_rank(&empty[s], rank).arrive();";
    let other_half = SEND.replace("s * 2 + rank", "s * 2");
    let other_bar = SEND.replace("&full[s]", "&full[(k + 1) % 2]");
    for (producer, consumer, rule) in [
        (&[ACQUIRE, SEND, ARRIVE][..], &right.1[..], "multicast_unarmed"),
        (&[ACQUIRE, &by_one, SEND, ARRIVE], &right.1, "multicast_unarmed"),
        (&[ACQUIRE, one_half, SEND, ARRIVE], &right.1, "ring_read"),
        (&[ACQUIRE, EXPECT, one_half, SEND, ARRIVE], &right.1, "ring_deadlock"),
        (&[ACQUIRE, EXPECT, &to_one, ARRIVE], &right.1, "ring_deadlock"),
        (&[ACQUIRE, EXPECT, &to_itself, ARRIVE], &right.1, "ring_deadlock"),
        (&[ACQUIRE, EXPECT, &other_half, ARRIVE], &right.1, "ring_overwrite"),
        (&[ACQUIRE, EXPECT, &other_bar, ARRIVE], &right.1, "ring_deadlock"),
        (&[EXPECT, SEND, ARRIVE], &right.1, "multicast_unarmed"),
        (&right.0, &[WAIT, READ, own_release], "multicast_unarmed"),
        (&right.0, &[READ, WAIT, RELEASE], "ring_read"),
        (&right.0, &[WAIT, READ], "multicast_unarmed"),
    ] {
        let source = ring(producer, consumer);
        assert_eq!(
            found(&source),
            [rule],
            "{:?} of\n{source}",
            faults(&source).first().map(|fault| fault.text().to_string())
        );
    }
}

/// The first rounds send tiles that no round has sent before, and do not wait.
#[test]
fn first_rounds_without_a_wait() {
    let after = |condition: &str| {
        let acquire = format!("if {condition} {{ {ACQUIRE} }}");
        found(&ring(&[&acquire, EXPECT, SEND, ARRIVE], &[WAIT, READ, RELEASE]))
    };
    for condition in ["k > 1", "k >= 2", "2 <= k", "!(k < 2)", "k >= 1"] {
        assert!(!after(condition).contains(&"multicast_unarmed".into()), "{condition}");
    }
    assert!(after("k > 1").is_empty());
    for condition in ["k > 2", "k >= 3", "k < 2", "chunks > 1", "k % 3 > 0"] {
        assert_eq!(after(condition), ["multicast_unarmed"], "{condition}");
    }
    // The loop begins anew: its first rounds send the tiles of the last ones.
    let again = ring(&["if k > 1 { ", ACQUIRE, " }", EXPECT, SEND, ARRIVE], &[WAIT, READ, RELEASE])
        .replace("if i == 32 {", "if i == 32 { for _ in 0..2 {")
        .replace("} else if i == 0", "} } else if i == 0");
    assert!(found(&again).contains(&"multicast_unarmed".into()));
}

/// A launch with two equal ranks fails at the multicast, and shows no fault of the ring.
#[test]
fn receivers_that_the_launch_gives() {
    let source = "#[cluster_kernel(cluster = 2, block = 1)] fn some(a: &TensorMap<Half>, out: &mut [bf16], first: u32, second: u32) {
        let cluster = this_cluster();
        let halves = shared_array::<Half, 1>();
        let full = shared_cluster_barrier();
        full.init_collective(&cluster, 1);
        a.expect_multicast(&halves[0], &full);
        if cluster.block_rank() == 0 { a.multicast_async([0, 0], &halves[0], &full, [first, second]); }
        full.arrive_and_wait();
        out[cluster.block_rank()] = halves[0][0][0];
        cluster.sync();
    }";
    assert!(found(source).is_empty(), "{:?}", found(source));
}
