//! Proofs from one order of the steps: what has too many states for a search, as rings of four blocks that all do the same.

use super::cases::cases;
use super::kernels::{groups, multicast};
use crate::rings::{Verdict, check, proved_in_order};
use crate::tests::session;

/// Each thread writes its own element and tells the block before, whose threads then read it.
const PULL: &str = "#[cluster_kernel(cluster = 4, block = 64)] fn pull(a: &[f32], c: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, me) = (block.thread_rank(), cluster.block_rank());
    let p = shared_array::<f32, 64>();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 64);
    p[i] = a[cluster.thread_rank()];
    cluster.map_shared_rank(&bar, (me + 3) % 4).arrive();
    bar.wait_parity(false);
    c[cluster.thread_rank()] = cluster.map_shared_rank(&p, (me + 1) % 4)[63 - i];
    cluster.sync();
}";

/// Each block writes into the next one, which gives the stage back.
const PUSH: &str = "#[cluster_kernel(cluster = 4, block = 64)] fn push(a: &[f32], c: &mut [f32], n: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, me) = (block.thread_rank(), cluster.block_rank());
    let p = shared_array::<[f32; 64], 2>();
    let full = shared_cluster_barriers::<2>();
    let empty = shared_cluster_barriers::<2>();
    full.init_collective(&cluster, 64);
    empty.init_collective(&cluster, 64);
    let (next, before) = ((me + 1) % 4, (me + 3) % 4);
    let mut x = a[cluster.thread_rank()];
    for k in 0..n {
        let s = k % 2;
        empty[s].wait_parity(k / 2 % 2 == 0);
        cluster.map_shared_rank(&p, next)[s][i] = x;
        cluster.map_shared_rank(&full[s], next).arrive();
        full[s].wait_parity(k / 2 % 2 == 1);
        x = p[s][63 - i] + 1.0;
        cluster.map_shared_rank(&empty[s], before).arrive();
    }
    c[cluster.thread_rank()] = x;
    cluster.sync();
}";

#[test]
fn states_do_not_multiply() {
    for (skeleton, most) in [
        (groups(16, 3, 128), 2_000),
        (multicast(2, 4, true, true, 1, 4), 1_500),
        (multicast(4, 4, true, true, 1, 4), 3_000),
    ] {
        assert!(matches!(check(&skeleton, most), Verdict::Proved { .. }), "{:?}", check(&skeleton, most));
    }
}

#[test]
fn no_wrong_skeleton_is_proved() {
    let mut proved = 0;
    for (name, expected, skeleton) in cases() {
        let found = proved_in_order(&skeleton, 200_000);
        assert!(found.is_none() || expected == "proved", "{name}: {found:?}");
        proved += usize::from(found.is_some());
    }
    assert!(proved > 25, "{proved}");
}

#[test]
fn four_blocks() {
    for (right, wrong) in [
        (
            PULL,
            &[
                ("(me + 3) % 4", "(me + 1) % 4"),
                ("cluster, 64", "cluster, 32"),
                ("bar.wait_parity(false);", ""),
                ("cluster.sync();", ""),
            ][..],
        ),
        (
            PUSH,
            &[
                ("k / 2 % 2 == 0", "k / 2 % 2 == 1"),
                ("empty[s].wait_parity(k / 2 % 2 == 0);", ""),
                ("(&empty[s], before)", "(&empty[s], next)"),
                ("(&full[s], next)", "(&full[s], before)"),
                ("empty.init_collective(&cluster, 64)", "empty.init_collective(&cluster, 32)"),
                ("cluster.sync();", ""),
            ],
        ),
    ] {
        let rules = |file: &str| session().check_file(file).iter().map(|fault| fault.rule().to_string()).collect();
        let found: Vec<String> = rules(right);
        assert!(found.is_empty(), "{found:?} of\n{right}");
        for (from, to) in wrong {
            let file = right.replacen(from, to, 1);
            let found: Vec<String> = rules(&file);
            assert!(file != right && !found.is_empty(), "{from} -> {to} in\n{right}");
        }
    }
}
