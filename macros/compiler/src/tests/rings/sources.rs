//! Rows that a bulk copy sends to a peer: they are read from when the copy begins until it has landed. Against explicit runs, and in kernels:
//! right ones are accepted, and a missing barrier before the copy or an early write after it is found.

use super::agreement::{Tally, compare, trips};
use super::cases::family;
use super::explicit;
use super::kernels::{EMPTY, FULL, turn};
use super::words::{
    WithRole, Word, arrive, arrive_to, copy_to, done, expect, fill, filled, read, rounds, skeleton, wait,
};
use crate::rings::{Among, Reason, Skeleton, Verdict, check};
use crate::tests::session;

const INBOX: usize = 0;
const OUTBOX: usize = 1;

/// Each block writes a row and sends it to the other one, and gets one from there. The row is written by steps 3 and 4, and sent by step 5.
fn exchange(n: u32) -> Vec<Word> {
    let (i, parity) = turn(n);
    let sent = match copy_to(INBOX, &i, FULL, 4, "1-b") {
        Word::Copy { slot, index, barrier, bytes, to, signals, .. } => {
            Word::Copy { slot, index, barrier, bytes, to, signals, from: Some((OUTBOX, i.clone())) }
        }
        other => other,
    };
    vec![
        expect(FULL, &i, 4),
        arrive(FULL, &i),
        wait(EMPTY, &i, &format!("1-{parity}")),
        fill(OUTBOX, &i),
        filled(OUTBOX, &i),
        sent,
        wait(FULL, &i, &parity),
        read(INBOX, &i),
        done(INBOX, &i),
        arrive_to(EMPTY, &i, "1-b"),
    ]
}

fn of_blocks(n: u32, body: Vec<Word>) -> Skeleton {
    let ring = skeleton(2, &[(n, 1), (n, 1)], &[(n, 1), (n, 1)]);
    ring.role(1, &[rounds(body), Word::Sync(0, Among::Cluster)])
}

#[test]
fn a_row_is_read_until_the_copy_has_landed() {
    for n in [1, 2] {
        let in_order = |order: [usize; 10]| {
            let right = exchange(n);
            check(&of_blocks(n, order.map(|at| right[at].clone()).to_vec()), 200_000)
        };
        let verdict = in_order([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(family(&verdict), "proved", "{verdict:?}");
        // The next row is written before the answer to the one in its place.
        let verdict = in_order([3, 4, 0, 1, 2, 5, 6, 7, 8, 9]);
        assert!(family(&verdict) == if n == 1 { "overwrite" } else { "proved" }, "{verdict:?}");
        // The copy begins before the row is written, and while it is.
        for order in [[0, 1, 2, 5, 3, 4, 6, 7, 8, 9], [0, 1, 2, 3, 5, 4, 6, 7, 8, 9]] {
            let verdict = in_order(order);
            assert_eq!(family(&verdict), "read", "{verdict:?}");
        }
    }
}

/// Each step left out, doubled, exchanged with the next one, and of another row.
#[test]
fn changed_exchanges_agree() {
    let mut tally = Tally::default();
    for n in [1, 2] {
        let elsewhere = format!("(k+1)%{n}");
        for at in 0..10 {
            for change in 0..4 {
                let mut body = exchange(n);
                match change {
                    0 => drop(body.remove(at)),
                    1 => body.insert(at, body[at].clone()),
                    2 => body.swap(at, (at + 1) % 10),
                    _ => match &mut body[at] {
                        Word::Copy { from: Some((_, index)), .. }
                        | Word::Fill(_, index, _)
                        | Word::Filled(_, index)
                        | Word::Wait(_, index, _) => index.clone_from(&elsewhere),
                        _ => continue,
                    },
                }
                let ring = of_blocks(n, body);
                if let Verdict::NotProved(Reason::Unpaired { .. }) = check(&ring, 200_000) {
                    continue;
                }
                let different = compare(&ring, &trips(2 * n as usize + 1), &mut tally);
                assert!(different.is_none(), "{at} {change}: {}", different.unwrap_or_default());
            }
        }
    }
    assert!(tally.proved > 3 && tally.faulty > 20, "{tally:?}");
}

/// The sender's block may not exit before what it sends has been read.
#[test]
fn a_block_waits_for_what_it_sends() {
    let steps = exchange(1);
    let ring = skeleton(2, &[(1, 1), (1, 1)], &[(1, 1), (1, 1)]);
    let only = |block: &str, steps: &[Word]| Word::When(format!("b=={block}"), steps.to_vec());
    let body = vec![only("0", &steps[2..6]), only("1", &[&steps[..2], &steps[6..]].concat())];
    let ring = ring.role(1, &[rounds(body)]);
    let verdict = check(&ring, 200_000);
    let explicit =
        trips(3).iter().map(|trips| explicit::run(&ring, trips, 100_000)).find(|run| matches!(run, Some(Err(_))));
    assert_eq!((family(&verdict), explicit.is_some()), ("undrained", true), "{verdict:?}");
}

/// A chain of blocks: each gets rows from the block before it, and sends others to the block behind it.
const CHAIN: &str = "#[cluster_kernel(cluster = 4, block = 32)] fn chain(input: &[u32], out: &mut [u32], tiles: u32) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        let warp = tiled_partition::<32>(&block);
        let (rank, i) = (cluster.block_rank(), block.thread_rank());
        let last = cluster.num_blocks() - 1;
        let inbox = shared_array::<[u32; 32], 2>();
        let outbox = shared_array::<[u32; 32], 2>();
        let full = shared_cluster_barriers::<2>();
        let empty = shared_cluster_barriers::<2>();
        full.init_collective(&cluster, 1);
        empty.init_collective(&cluster, 1);
        for k in 0..tiles {
            let (s, parity) = (k % 2, k / 2 % 2 == 1);
            let mut x = input[k * 32 + i];
            if rank > 0 {
                if i == 0 {
                    full[s].expect_tx(128);
                    let _ = full[s].arrive();
                }
                full[s].wait_parity(parity);
                x = inbox[s][i];
                warp.sync();
                if i == 0 { cluster.map_shared_rank(&empty[s], rank - 1).arrive(); }
            }
            if rank < last {
                empty[s].wait_parity(!parity);
                outbox[s][i] = x + rank;
                block.sync();
                if i == 0 {
                    let there = cluster.map_shared_rank(&inbox, rank + 1);
                    bulk_copy_async(&there[s], &outbox[s], &cluster.map_shared_rank(&full[s], rank + 1));
                }
            } else {
                out[k * 32 + i] = x;
            }
        }
        cluster.sync();
    }";

fn rules(kernel: &str) -> Vec<String> {
    session().check_file(kernel).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn a_chain_of_blocks() {
    assert_eq!(rules(CHAIN), [""; 0]);
    // The same by two warps, and with the barrier of a warp.
    let wide = CHAIN.replace("block = 32", "block = 64").replace("u32; 32]", "u32; 64]").replace("128", "256");
    let wide = wide.replace("k * 32", "k * 64").replace("warp.sync()", "block.sync()");
    let by_warp = CHAIN.replace("block.sync()", "warp.sync()");
    assert_eq!((rules(&wide), rules(&by_warp)), (Vec::new(), Vec::new()));
    let (wait, write) = ("empty[s].wait_parity(!parity);", "outbox[s][i] = x + rank;");
    for kernel in [CHAIN, &wide, &by_warp] {
        for (from, to) in [
            // What others have not written is sent.
            (format!("{write}\n                block.sync();"), write.to_string()),
            (format!("{write}\n                warp.sync();"), write.to_string()),
            // What is being sent is written.
            (format!("{wait}\n                {write}"), format!("{write} {wait}")),
            // The answer to an earlier row.
            ("outbox[s][i]".into(), "outbox[(k + 1) % 2][i]".into()),
        ] {
            let wrong = kernel.replace(&from, &to);
            // A warp that does not meet the other one may come too late for a phase, too.
            let is_found = |rules: &[String]| matches!(rules, [rule] if ["ring_overwrite", "ring_read", "ring_overtaken"].contains(&&**rule));
            assert!(wrong == *kernel || is_found(&rules(&wrong)), "{:?} of {wrong}", rules(&wrong));
        }
    }
}
