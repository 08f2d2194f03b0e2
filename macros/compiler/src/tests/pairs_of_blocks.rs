//! Tests of what pairs of blocks tell, tried one by one: an access that no other block's memory can be meant by, and indexes that are
//! never equal where the peer's rank leads to the owner.

use super::rules;

/// Returns the rules that a kernel of four blocks of 64 threads breaks by these statements; `last` is its end.
#[track_caller]
fn broken_at(body: &str, last: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 4, block = 64)]
        fn pairs(output: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let array = shared_array::<u32, 64>();
            let rows = shared_array::<[u32; 64], 4>();
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            array[i] = 1;
            rows[0][i] = 1; rows[1][i] = 1; rows[2][i] = 1; rows[3][i] = 1;
            cluster.sync();
            {body}
            {last}
        }}"
    );
    rules(&source)
}

#[track_caller]
fn broken(body: &str) -> Vec<String> {
    broken_at(body, "cluster.sync();")
}

/// A block may map its own memory, which no barrier of the cluster need protect.
#[test]
fn the_own_rank() {
    for rank in ["rank", "rank % 4", "(rank + 4) % 4", "3 - (3 - rank)", "slot"] {
        let body = format!("let slot = rank; output[i] = cluster.map_shared_rank(&array, {rank})[i]; array[i] = 2;");
        assert!(broken_at(&body, "").is_empty(), "{rank}");
    }
    for rank in ["rank % 3", "(rank + 1) % 4", "n", "rank ^ 1"] {
        let body = format!("output[i] = cluster.map_shared_rank(&array, {rank})[i]; array[i] = 2;");
        assert_eq!(broken_at(&body, ""), ["exit_before_peers_done", "overwrite_while_read"], "{rank}");
    }
    assert!(broken_at("if rank == 2 { output[i] = cluster.map_shared_rank(&array, 2)[i]; }", "").is_empty());
    assert_eq!(
        broken_at("if rank >= 2 { output[i] = cluster.map_shared_rank(&array, 2)[i]; }", ""),
        ["exit_before_peers_done"]
    );
}

/// Both accesses are made by one block, so that neither is another's.
#[test]
fn a_single_block() {
    let under = |guard: &str| {
        broken(&format!(
            "if {guard} {{ output[i] = cluster.map_shared_rank(&array, (rank + 1) % 4)[i]; array[i] = 5; }}"
        ))
    };
    assert!(under("rank == 1").is_empty());
    assert!(under("rank > 2").is_empty());
    assert_eq!(under("rank >= 2"), ["overwrite_while_read"]);
    assert_eq!(under("rank != 1"), ["overwrite_while_read"]);
    let two =
        "if rank == 0 || rank == 2 { output[i] = cluster.map_shared_rank(&array, (rank + 1) % 4)[i]; array[i] = 5; }";
    assert_eq!(broken(two), ["overwrite_while_read"], "of several blocks, bounds alone are known");
    let last = "if rank != 3 { array[i] = 5; } output[i] = cluster.map_shared_rank(&array, 3)[i];";
    assert!(broken(last).is_empty());
}

/// Quotients of the rank, exclusive ors with it, and remainders of one sum in the owner's rank and in an index.
#[test]
fn indexes_of_each_block() {
    let exchange = |owner: &str, own: &str, peers: &str| {
        broken(&format!("rows[{own}][i] = 5; output[i] = cluster.map_shared_rank(&rows, {owner})[{peers}][i];"))
    };
    // The pair of blocks of which this is the other one writes another row.
    assert!(exchange("rank ^ 2", "rank / 2", "rank / 2").is_empty());
    assert_eq!(exchange("rank ^ 1", "rank / 2", "rank / 2"), ["unpublished_remote_read"]);
    assert!(exchange("(rank + 1) % 4", "rank", "rank").is_empty());
    assert!(exchange("rank ^ 3", "rank % 2", "rank % 2").is_empty());
    assert_eq!(exchange("rank ^ 2", "rank % 2", "rank % 2"), ["unpublished_remote_read"]);
    // The owner's index is the peer's only where `n` is a multiple of 4, and the peer the owner.
    assert!(exchange("(rank + n) % 4", "(rank + n) % 4", "(rank + n) % 4").is_empty());
    assert_eq!(exchange("(rank + n) % 4", "(rank + n) % 2", "(rank + n) % 2"), ["unpublished_remote_read"]);
    assert!(exchange("(rank + n % 2) % 4", "n % 2", "1 - n % 2").is_empty());
    // The peer reads row 0 of the next block, which writes row 1 or 3.
    assert!(exchange("(rank + 1) % 4", "(rank % 2) * 2 + 1", "(rank % 2) * 2").is_empty());
    assert_eq!(exchange("(rank + 1) % 4", "(rank % 2) * 2", "(1 - rank % 2) * 2"), ["unpublished_remote_read"]);
}

/// Blocks that write to a third one meet where neither may have learned of the other by a phase barrier.
#[test]
fn phase_barriers_between_blocks() {
    let kernel = |index: &str, [before, after]: [&str; 2]| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)]
            fn leader(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let slots = shared_array::<[u32; 64], 4>();
                let arrived = shared_cluster_barrier();
                let turn = shared_cluster_barrier();
                arrived.init_collective(&cluster, 3 * 64);
                turn.init_collective(&cluster, 64);
                {before}
                if rank != 0 {{ cluster.map_shared_rank(&slots, 0){index} = input[i]; }}
                {after}
                if rank == 0 {{ out[i] = slots[1][i]; }}
                cluster.sync();
            }}"
        ))
    };
    let told = "if rank != 0 { cluster.map_shared_rank(&arrived, 0).arrive(); } else { arrived.wait_parity(false); }";
    for tells in [["", told], ["", "cluster.sync();"], ["cluster.sync();", told]] {
        assert_eq!(kernel("[rank][i]", tells), [""; 0], "{tells:?}");
        for index in ["[1][i]", "[rank / 2][i]"] {
            assert_eq!(kernel(index, tells), ["unordered_remote_write"], "{index} {tells:?}");
        }
    }
    // The blocks take turns.
    let turns = [
        "if rank > 1 { turn.wait_parity(false); }",
        "if rank > 0 && rank < 3 { cluster.map_shared_rank(&turn, rank + 1).arrive(); } cluster.sync();",
    ];
    assert_eq!(kernel("[1][i]", turns), [""; 0]);
}
