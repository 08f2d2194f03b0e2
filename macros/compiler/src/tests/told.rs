//! Tests of blocks that tell another one, by an arrival at its phase barrier, that they are done with its memory, and leave.

use super::rules;

/// Asserts that a kernel whose blocks tell block 0 and leave is right, and wrong with each of these changes.
#[track_caller]
fn right_leader_but_for(body: &str, changes: &[(&str, &str)]) {
    let kernel = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)]
            fn leader(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let slots = shared_array::<[u32; 64], 4>();
                let arrived = shared_cluster_barrier();
                {body}
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

#[test]
fn blocks_that_tell_and_leave() {
    right_leader_but_for(
        "arrived.init_collective(&cluster, 3 * 64);
        let mine = input[this_grid().thread_rank()];
        if rank != 0 {
            cluster.map_shared_rank(&slots, 0)[rank][i] = mine;
            cluster.map_shared_rank(&arrived, 0).arrive();
            return;
        }
        arrived.wait_parity(false);
        let mut sum = mine;
        for from in 1..4 { sum += slots[from][i]; }
        out[i] = sum;",
        &[
            ("arrived.wait_parity(false);", ""),
            ("arrived.wait_parity(false);", "arrived.wait_parity(true);"),
            ("arrived.wait_parity(false);", "if n > 2 { arrived.wait_parity(false); }"),
            ("arrived.wait_parity(false);", "if i < 32 { arrived.wait_parity(false); }"),
            ("arrived.wait_parity(false);", "let _ = arrived.try_wait_parity(false);"),
            ("arrived.wait_parity(false);", "let early = slots[1][i]; arrived.wait_parity(false); out[i] = early;"),
            ("arrived.wait_parity(false);", "slots[1][i] = 0; arrived.wait_parity(false);"),
            ("3 * 64", "2 * 64"),
            ("3 * 64", "4 * 64"),
            ("[rank][i] = mine", "[rank][i / 2] = mine"),
            ("[rank][i] = mine", "[1][i] = mine"),
            ("(&arrived, 0)", "(&arrived, 1)"),
            ("(&arrived, 0).arrive();", "(&arrived, 0).arrive(); cluster.map_shared_rank(&slots, 0)[rank][i] = 1;"),
            ("(&slots, 0)", "(&slots, rank / 2)"),
            ("(&slots, 0)", "(&slots, n)"),
            ("if rank != 0 {", "if n == rank {"),
            (
                "cluster.map_shared_rank(&arrived, 0).arrive();",
                "if mine > 3 { cluster.map_shared_rank(&arrived, 0).arrive(); }",
            ),
            ("return;", ""),
        ],
    );
}

/// One thread of each block tells for it, and a loop of which the text shows no end writes.
#[test]
fn one_thread_tells_for_a_block_that_leaves() {
    right_leader_but_for(
        "arrived.init_collective(&cluster, 3);
        if rank > 0 {
            let there = cluster.map_shared_rank(&slots, 0);
            for k in (i..n.min(64)).step_by(64) { there[rank][k] = input[k as usize]; }
            block.sync();
            if i == 0 { cluster.map_shared_rank(&arrived, 0).arrive(); }
            return;
        }
        arrived.wait_parity(false);
        out[i] = slots[1][i] + slots[2][63 - i];",
        &[
            ("block.sync();", ""),
            ("block.sync();", "tiled_partition::<32>(&block).sync();"),
            ("block.sync();", "block.sync(); there[rank][i] = 1;"),
            ("if i == 0 { cluster", "if i == 0 && rank > 1 { cluster"),
            ("&cluster, 3", "&cluster, 4"),
            ("arrived.wait_parity(false);", "if i == 0 { arrived.wait_parity(false); }"),
            ("return;", "there[rank][i] = 1; return;"),
        ],
    );
}

/// A peer reads, and the block overwrites what it has read.
#[test]
fn blocks_that_read_and_leave() {
    right_leader_but_for(
        "arrived.init_collective(&cluster, 3 * 64);
        slots[0][i] = input[i];
        cluster.sync();
        if rank > 0 {
            out[this_grid().thread_rank()] = cluster.map_shared_rank(&slots, 0)[0][63 - i];
            cluster.map_shared_rank(&arrived, 0).arrive_n(1);
            return;
        }
        arrived.wait_parity(false);
        slots[0][i] += 1;
        out[i] = slots[0][i];",
        &[("cluster.sync();", ""), ("arrived.wait_parity(false);", ""), ("arrive_n(1)", "arrive_n(2)")],
    );
}

/// A block to whose memory nobody writes reads it.
#[test]
fn memory_that_nobody_writes() {
    let kernel = |condition: &str, write: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 32)]
            fn leader(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let sums = shared_array::<[u32; 32], 2>();
                let arrived = shared_cluster_barrier();
                arrived.init_collective(&cluster, 2 * 32);
                {write}
                cluster.map_shared_rank(&sums, 0)[rank][i] = input[i];
                cluster.map_shared_rank(&arrived, 0).arrive();
                if rank == 0 {{ arrived.wait_parity(false); }}
                if {condition} {{ out[this_grid().thread_rank()] = sums[0][i] + sums[1][i]; }}
            }}"
        ))
    };
    assert_eq!(kernel("rank == 0", ""), [""; 0]);
    assert_eq!(kernel("rank < 2", ""), ["uninit_shared_read"]);
    assert_eq!(kernel("rank == 1", ""), ["uninit_shared_read"]);
    assert_eq!(kernel("rank == 1", "if rank == 1 { sums[0][i] = 1; sums[1][i] = 2; }"), [""; 0]);
}
