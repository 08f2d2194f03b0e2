//! Tests of meetings: which handshakes of two blocks at phase barriers order what the blocks did.

use super::rules;

/// Returns the rules that a kernel of two blocks breaks in which a block reads what the other wrote, after such a handshake.
#[track_caller]
fn broken(begins: &str, meets: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2, block = 64)] fn meets(out: &mut [u32], deep: bool) {{
            let cluster = this_cluster(); let block = this_thread_block(); let i = block.thread_rank(); let rank = cluster.block_rank();
            let array = shared_array::<u32, 64>(); let bar = shared_cluster_barrier();
            {begins}
            let theirs = cluster.map_shared_rank(&array, 1 - rank);
            let peer = cluster.map_shared_rank(&bar, 1 - rank); let next = cluster.map_shared_rank(&bar, (rank + 1) % cluster.num_blocks());
            theirs[i] = rank;
            {meets}
            out[i] = array[63 - i];
        }}"
    ))
}

const TOGETHER: &str = "bar.init_collective(&cluster, block.num_threads());";
const ELECTED: &str = "if i == 0 { bar.init(1); } cluster.sync();";

/// Each of these orders what both blocks did.
#[test]
fn right_ones() {
    for (begins, meets) in [
        (TOGETHER, "peer.arrive(); bar.wait_parity(false);"),
        (TOGETHER, "next.arrive(); bar.wait_parity(false);"),
        ("if i == 0 { bar.init(64); } cluster.sync();", "peer.arrive(); bar.wait_parity(false);"),
        (
            "if i == 0 { bar.init(64); fence(Release, Scope::Cluster); } let t = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(t);",
            "peer.arrive(); bar.wait_parity(false);",
        ),
        (ELECTED, "block.sync(); if i == 0 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "let leader = i == 5; block.sync(); if leader { next.arrive(); } bar.wait_parity(false);"),
        ("bar.init_collective(&cluster, 1);", "block.sync(); if i == 0 { peer.arrive(); } bar.wait_parity(false);"),
    ] {
        assert!(broken(begins, meets).is_empty(), "{begins} {meets}: {:?}", broken(begins, meets));
    }
}

/// None of these does.
#[test]
fn wrong_ones() {
    for (begins, meets) in [
        (TOGETHER, "peer.arrive(); bar.wait_parity(true);"),
        (TOGETHER, "let own = cluster.map_shared_rank(&bar, rank); own.arrive(); bar.wait_parity(false);"),
        (TOGETHER, "let own = cluster.map_shared_rank(&bar, (rank + 2) % 2); own.arrive(); bar.wait_parity(false);"),
        (TOGETHER, "if deep { peer.arrive(); bar.wait_parity(false); }"),
        (TOGETHER, "peer.arrive(); theirs[i] = 7; bar.wait_parity(false);"),
        (TOGETHER, "peer.arrive(); if i == 0 { bar.wait_parity(false); }"),
        (ELECTED, "if i == 0 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); theirs[i] = 3; if i == 0 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i == 0 { peer.arrive(); } theirs[i] = 3; bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i < 2 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i == 0 && deep { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i == 0 && rank == 0 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i != 0 { peer.arrive(); } bar.wait_parity(false);"),
        (ELECTED, "block.sync(); if i == 64 { peer.arrive(); } bar.wait_parity(false);"),
        (
            "if i == 0 { bar.init(2); } cluster.sync();",
            "block.sync(); if i == 0 { peer.arrive(); } bar.wait_parity(false);",
        ),
        (
            "if i == 0 { bar.init(64); } let t = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(t);",
            "peer.arrive(); bar.wait_parity(false);",
        ),
        (
            "if i == 0 { fence(Release, Scope::Cluster); bar.init(64); } let t = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(t);",
            "peer.arrive(); bar.wait_parity(false);",
        ),
        ("if i == 0 { bar.init(64); } block.sync();", "peer.arrive(); bar.wait_parity(false);"),
    ] {
        assert!(!broken(begins, meets).is_empty(), "{begins} {meets}");
    }
}
