//! Right and wrong skeletons with their verdicts.

use super::kernels::{
    EMPTY, FULL, TILE, changed, cross, drops, early, groups, handshake, kept, last_act, multicast, order_barrier, own,
    ping_pong, ring, ring_of, split, stores, tail, tiles_of_a_ring, two_groups, two_queues, unbounded, using,
};
use super::words::{Word, arrive, copy, expect, wait};
use crate::rings::{CountFault, Fault, Skeleton, Verdict, check};

/// Returns a verdict's family.
pub(super) fn family(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved { .. } => "proved",
        Verdict::NotProved(_) => "unknown",
        Verdict::Fault { fault, .. } => match fault {
            Fault::Deadlock { .. } => "deadlock",
            Fault::Overwrite { .. } => "overwrite",
            Fault::Read { .. } => "read",
            Fault::Count(CountFault::Arrivals { .. }) => "count",
            Fault::Count(CountFault::Index { .. }) => "index",
            Fault::Overtaken { .. } => "overtaken",
            Fault::Undrained(_) => "undrained",
        },
    }
}

/// Returns a ring's steps, some of which are replaced.
fn with(steps: &[Word], changes: &[(usize, Word)]) -> Option<Vec<Word>> {
    let mut steps = steps.to_vec();
    for (at, word) in changes {
        steps[*at] = word.clone();
    }
    Some(steps)
}

fn picked(steps: &[Word], order: &[usize]) -> Option<Vec<Word>> {
    Some(order.iter().map(|at| steps[*at].clone()).collect())
}

pub(super) fn cases() -> Vec<(&'static str, &'static str, Skeleton)> {
    let (p, c) = (own(2), using(2));
    let (i, parity) = ("k%2", "k//2%2");
    let other_ring =
        vec![wait(EMPTY, "k%3", "1-k//2%2"), expect(FULL, "k%3", 64), copy(TILE, "k%3", FULL, 64), arrive(FULL, "k%3")];
    let mut cases = vec![
        ("2 groups N=4", "proved", groups(4, 2, 128)),
        ("3 groups N=2", "proved", groups(2, 3, 128)),
        ("3 groups N=4 as one role", "proved", groups(4, 1, 384)),
        ("12 warps' lanes N=4", "proved", groups(4, 1, 12)),
        ("producer parity wrong", "deadlock", changed(with(&p, &[(0, wait(EMPTY, i, parity))]), None, 128)),
        ("consumer parity wrong", "read", changed(None, with(&c, &[(0, wait(FULL, i, "1-k//2%2"))]), 128)),
        ("no release", "deadlock", changed(None, picked(&c, &[0, 1, 2]), 128)),
        ("no acquire", "overwrite", changed(picked(&p, &[1, 2, 3]), None, 128)),
        ("release before the read", "overwrite", changed(None, picked(&c, &[0, 3, 1, 2]), 128)),
        ("no wait for full", "read", changed(None, picked(&c, &[1, 2, 3]), 128)),
        ("count 129 of 128", "deadlock", changed(None, None, 129)),
        ("count 127 of 128", "count", changed(None, None, 127)),
        ("count 4 lanes, 128 arrive", "count", changed(None, None, 4)),
        ("count 128, 4 lanes arrive", "deadlock", ring_of(2, 128, own(2), &[(4, using(2))])),
        ("2 groups release 1 and 1", "proved", two_groups(1, 1)),
        ("2 groups release 1 and 2", "count", two_groups(1, 2)),
        ("no expect_tx", "read", changed(picked(&p, &[0, 2, 3]), None, 128)),
        ("expect_tx after the arrival", "read", changed(picked(&p, &[0, 2, 3, 1]), None, 128)),
        ("too many bytes expected", "deadlock", changed(with(&p, &[(1, expect(FULL, i, 8192))]), None, 128)),
        ("parity of another N", "deadlock", ring_of(3, 128, other_ring, &[(128, using(3))])),
        ("kept counters, persistent", "proved", kept(2, "1-phase", false, 128)),
        ("kept: phase never flips", "overwrite", kept(2, "phase", false, 128)),
        ("kept: wraps one late", "index", kept(3, "1-phase", false, 128)),
        ("kept: consumer begins anew a tile", "read", kept(2, "1-phase", true, 128)),
        ("skipped by both", "proved", tail(true, true)),
        ("skipped by the consumer only", "fault", tail(false, true)),
        ("multicast N=2", "proved", multicast(2, 2, true, true, 1, 2)),
        ("multicast N=4", "proved", multicast(4, 2, true, true, 1, 2)),
        ("multicast, own empty twice", "fault", multicast(2, 2, false, true, 1, 2)),
        ("multicast, peer not told", "fault", multicast(2, 2, false, true, 1, 2)),
        ("multicast, no closing barrier", "undrained", multicast(2, 2, true, false, 1, 2)),
        ("ping-pong N=2", "proved", ping_pong(0, 2, 128)),
        ("ping-pong N=4", "proved", ping_pong(0, 4, 128)),
        ("ping-pong, second goes first", "deadlock", ping_pong(1, 2, 128)),
        ("order barrier", "proved", order_barrier(0, false, 128)),
        ("order: both go first", "overwrite", order_barrier(0, true, 128)),
        ("order: nobody goes first", "deadlock", order_barrier(2, false, 128)),
        ("handshake, two barriers", "proved", handshake(2, 32)),
        // A thread arrives twice in a phase, or one is lapped.
        ("handshake, one barrier: lapped", "overtaken or count", handshake(1, 32)),
        ("two rows, stores drained", "proved", stores(2, 1, true, 31)),
        ("stores not drained at exit", "undrained", stores(2, 1, false, 31)),
        ("one row, wait for all but one", "overwrite", stores(1, 1, true, 31)),
        ("one row, wait for all", "proved", stores(1, 0, true, 31)),
        ("bulk copies and products, both waited for", "proved", two_queues(true)),
        ("bulk copies and products, one waited for", "overwrite", two_queues(false)),
        ("tiles that all have parts or none", "proved", tiles_of_a_ring("same?", "same?")),
        ("tiles that need not have as many parts", "proved", tiles_of_a_ring("all?", "all?")),
        ("tokens, two halves", "proved", split(2, 128)),
        // A thread fills what its neighbour reads, in either order.
        ("tokens, one half", "overwrite or read", split(1, 128)),
        ("idle threads drop out", "proved", early(64)),
        ("some drop out midway", "proved", drops(false, 64)),
        ("dropped out, arrives again", "fault", drops(true, 64)),
        ("crossed waits", "deadlock", cross()),
        ("remote arrival, closing barrier", "proved", last_act(true)),
        ("remote arrival as last act", "undrained", last_act(false)),
        ("stage from data", "unknown", changed(None, with(&c, &[(0, wait(FULL, "data", parity))]), 128)),
        ("a parity of five stages", "index", changed(None, with(&c, &[(0, wait(FULL, "k%5", parity))]), 128)),
        ("nobody holds the producer", "proved", unbounded()),
    ];
    for (n, name) in (2..).zip(["ring N=2", "ring N=3", "ring N=4", "ring N=5", "ring N=6", "ring N=7", "ring N=8"]) {
        cases.push((name, "proved", ring(n)));
    }
    cases
}

#[test]
fn verdicts() {
    let cases = cases();
    assert_eq!(cases.len(), 65);
    let mut wrong = Vec::new();
    for (name, expected, skeleton) in cases {
        let verdict = check(&skeleton, 200_000);
        let family = family(&verdict);
        let is_fault = matches!(verdict, Verdict::Fault { .. });
        if !(expected.split(" or ").any(|expected| expected == family) || expected == "fault" && is_fault) {
            wrong.push(format!("{name}: {expected} expected, {verdict:?}"));
        }
        if let Verdict::Fault { trace, fault } = &verdict
            && trace.is_empty()
            && !matches!(fault, Fault::Deadlock { .. })
        {
            wrong.push(format!("{name}: no trace of {fault:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
