//! Chains of blocks: each writes into the next one's memory, meets, and has one thread arrive at the next one's barrier.

use super::super::rules;

/// A chain of blocks, each of which passes its sums on.
fn chain(options: &str, passes: &[&str]) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel({options})] fn chain(input: &[u32], out: &mut [u32]) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (rank, i) = (cluster.block_rank(), block.thread_rank());
            let state = shared_array::<u32, 128>();
            let came = shared_cluster_barrier();
            came.init_collective(&cluster, 1);
            let at = this_grid().thread_rank();
            let mut carry = 0;
            if rank > 0 {{ came.wait_parity(false); carry = state[i]; }}
            let value = carry * 2 + input[at];
            if rank + 1 < cluster.num_blocks() {{ {} }}
            out[at] = value;
            cluster.sync();
        }}",
        passes.concat()
    ))
}

const WRITE: &str = "cluster.map_shared_rank(&state, rank + 1)[i] = value;";
const MEET: &str = "block.sync();";
const TELL: &str = "if i == 0 { cluster.map_shared_rank(&came, rank + 1).arrive(); }";

#[test]
fn one_thread_arrives_for_its_block() {
    for options in ["cluster = 2, block = 32", "cluster = 2, block = 128", "cluster = 4, block = 32"] {
        assert_eq!(chain(options, &[WRITE, MEET, TELL]), [""; 0], "{options}");
        for wrong in [&[WRITE, TELL][..], &[TELL, WRITE, MEET], &[MEET, TELL, WRITE], &[WRITE, MEET]] {
            assert_ne!(chain(options, wrong), [""; 0], "{options} {wrong:?}");
        }
    }
}

/// Each warp of a block arrives for itself, when its lanes have met.
#[test]
fn one_lane_arrives_for_its_warp() {
    let of_warps = |count: u32, passes: &[&str]| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)] fn chain(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let warp = tiled_partition::<32>(&block);
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let state = shared_array::<u32, 64>();
                let came = shared_cluster_barrier();
                came.init_collective(&cluster, {count});
                let mut value = input[this_grid().thread_rank()];
                if rank > 0 {{ came.wait_parity(false); value += state[i]; }}
                if rank < 3 {{ {} }}
                out[this_grid().thread_rank()] = value;
                cluster.sync();
            }}",
            passes.concat()
        ))
    };
    let tell = "if warp.thread_rank() == 0 { cluster.map_shared_rank(&came, rank + 1).arrive(); }";
    assert_eq!(of_warps(2, &[WRITE, "warp.sync();", tell]), [""; 0]);
    for (count, wrong) in [
        (1, &[WRITE, "warp.sync();", tell][..]),
        (2, &[WRITE, tell]),
        (2, &["warp.sync();", tell, WRITE]),
        (2, &[WRITE, "warp.sync();", "let x = cluster.map_shared_rank(&state, rank + 1)[i ^ 1]; value += x;", tell]),
    ] {
        assert_ne!(of_warps(count, wrong), [""; 0], "{count} {wrong:?}");
    }
}

/// A chain of two stages a block, whose branches on the rank are apart: what comes from the block before, and what goes to the next one.
const STAGES: &str = "#[cluster_kernel(cluster = 4, block = 32)]
    fn systolic(input: &[u32], out: &mut [u32], rows: u32) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        let (rank, i) = (cluster.block_rank(), block.thread_rank());
        let inbox = shared_array::<[u32; 32], 2>();
        let (full, room) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
        full.init_collective(&cluster, 32);
        room.init_collective(&cluster, 32);
        for r in 0..rows {
            let s = r % 2;
            if rank > 0 { full[s].wait_parity(r / 2 % 2 == 1); }
            let x = if rank > 0 { inbox[s][i] } else { input[r * 32 + i] };
            if rank > 0 { cluster.map_shared_rank(&room[s], rank - 1).arrive(); }
            if rank < 3 { room[s].wait_parity(r / 2 % 2 == 0); }
            if rank < 3 { cluster.map_shared_rank(&inbox, rank + 1)[s][i] = x + rank; }
            if rank < 3 { cluster.map_shared_rank(&full[s], rank + 1).arrive(); } else { out[r * 32 + i] = x; }
        }
        cluster.sync();
    }";

/// The first block reads nothing, and the last one sends nothing: a branch on the rank is one also where it has accesses alone.
#[test]
fn branches_on_the_rank_that_only_access() {
    assert_eq!(rules(STAGES), [""; 0]);
    for (from, to) in [
        ("if rank > 0 { inbox[s][i] }", "if rank < 3 { inbox[s][i] }"),
        ("if rank > 0 { inbox[s][i] }", "if rows > 0 { inbox[s][i] }"),
        ("if rank > 0 { inbox[s][i] }", "if rank > 0 { inbox[1 - s][i] }"),
        (
            "if rank > 0 { full[s].wait_parity(r / 2 % 2 == 1); }",
            "if rank > 1 { full[s].wait_parity(r / 2 % 2 == 1); }",
        ),
        ("if rank > 0 { full[s].wait_parity(r / 2 % 2 == 1); }", ""),
        ("if rank < 3 { room[s].wait_parity(r / 2 % 2 == 0); }", ""),
        ("if rank < 3 { room[s].wait", "if rank < 2 { room[s].wait"),
        ("if rank < 3 { cluster.map_shared_rank(&inbox, rank + 1)", "if rank < 3 { cluster.map_shared_rank(&inbox, 3)"),
        ("(&inbox, rank + 1)[s][i]", "(&inbox, rank + 1)[0][i]"),
        ("full.init_collective(&cluster, 32)", "full.init_collective(&cluster, 16)"),
        ("if rank > 0 { cluster.map_shared_rank(&room[s], rank - 1).arrive(); }", ""),
        ("let s = r % 2;", "let s = r % 2; if rank > 0 { cluster.map_shared_rank(&room[s], rank - 1).arrive(); }"),
    ] {
        let other = STAGES.replace(from, to);
        assert!(other != STAGES && !rules(&other).is_empty(), "{from} -> {to}");
    }
}

/// A block takes tiles of a queue and tells all blocks by an array of one element.
const ONE_ELEMENT: &str = "#[cluster_kernel(cluster = 2, block = 32)]
    fn persistent(queue: &mut [u32], out: &mut [u32], tiles: u32) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        let (rank, i) = (cluster.block_rank(), block.thread_rank());
        let tile = shared_array::<u32, 1>();
        let (told, free) = (shared_cluster_barrier(), shared_cluster_barrier());
        told.init_collective(&cluster, 1);
        free.init_collective(&cluster, 64);
        let mut k = 0;
        loop {
            if i == 0 {
                told.expect_tx(4);
                let _ = told.arrive();
                if rank == 0 {
                    free.wait_parity(k % 2 == 0);
                    let ticket = queue.atomic(0).fetch_add(1, Relaxed);
                    for b in 0..2 {
                        cluster.map_shared_rank(&tile, b).store_async(0, ticket, &cluster.map_shared_rank(&told, b));
                    }
                }
            }
            told.wait_parity(k % 2 == 1);
            let taken = tile[0];
            cluster.map_shared_rank(&free, 0).arrive();
            if taken >= tiles { break; }
            out[taken * 64 + rank * 32 + i] = taken;
            k += 1;
        }
        cluster.sync();
    }";

/// The only element of an array is a slot as a row is.
#[test]
fn an_array_of_one_element() {
    assert_eq!(super::verdict("", ONE_ELEMENT), "proved");
    for (from, to) in [
        ("free.wait_parity(k % 2 == 0);", ""),
        ("free.wait_parity(k % 2 == 0);", "free.wait_parity(k % 2 == 1);"),
        ("told.wait_parity(k % 2 == 1);", "told.wait_parity(k % 2 == 0);"),
        ("told.expect_tx(4);", ""),
        ("told.expect_tx(4);", "told.expect_tx(8);"),
        ("&cluster, 64", "&cluster, 32"),
        ("for b in 0..2 {", "for b in 0..1 {"),
        ("let taken = tile[0];", "cluster.map_shared_rank(&free, 0).arrive(); let taken = tile[0];"),
        ("cluster.map_shared_rank(&free, 0)", "cluster.map_shared_rank(&free, rank)"),
    ] {
        let other = ONE_ELEMENT.replace(from, to);
        assert!(other != ONE_ELEMENT && !rules(&other).is_empty(), "{from} -> {to}");
    }
}
