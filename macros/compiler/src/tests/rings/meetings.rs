//! Split barriers of groups in kernels of rings, and roots that send to all blocks of a cluster: right ones are proved or accepted, each
//! mistake is found.

use super::extraction::{cases, faulty, is_proved};
use crate::tests::rules;

/// Threads publish a row by a split barrier of their group, and wait by a phase barrier until it has been read.
fn rounds(group: &str, publish: &str, peer: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 64)] fn sums(input: &[u32], out: &mut [u32], rounds: u32) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let i = block.thread_rank();
            let row = shared_array::<u32, 64>();
            let read = shared_cluster_barrier();
            read.init_collective(&cluster, 128);
            let mut sum = 0;
            for k in 0..rounds {{
                row[i] = input[k * 64 + i];
                {}
                sum += {peer}[63 - i];
                for r in 0..2 {{ cluster.map_shared_rank(&read, r).arrive(); }}
                read.wait_parity(k % 2 == 1);
            }}
            out[i] = sum;
            cluster.sync();
        }}",
        publish.replace("GROUP", group)
    )
}

#[test]
fn split_barriers() {
    const PEER: &str = "cluster.map_shared_rank(&row, 1 - cluster.block_rank())";
    let split = "let token = GROUP.barrier_arrive(); let other = input[i]; GROUP.barrier_wait(token);";
    for (group, peer) in [("block", "row"), ("cluster", PEER), ("cluster", "row")] {
        let of = |publish: &str| format!("{:?}", cases("", &rounds(group, publish, peer)));
        assert_eq!(of(split), of("GROUP.sync();"), "{group}, {peer}");
        assert_eq!(is_proved(&rounds(group, split, peer)), group == "cluster", "{peer}");
        assert_eq!(rules(&rounds(group, split, peer)), Vec::<String>::new());
    }
    // It does not tell the peer.
    assert!(!rules(&rounds("block", split, PEER)).is_empty());
    // A write behind the arrival is published to nobody.
    let late = "let token = GROUP.barrier_arrive(); row[i] += 1; GROUP.barrier_wait(token);";
    for (group, peer) in [("block", "row"), ("cluster", PEER)] {
        assert!(!is_proved(&rounds(group, late, peer)), "{group}");
        assert!(!rules(&rounds(group, late, peer)).is_empty(), "{group}");
    }
    // A relaxed arrival orders nothing.
    let relaxed = "let token = GROUP.barrier_arrive_relaxed(); GROUP.barrier_wait(token);";
    assert!(!is_proved(&rounds("cluster", relaxed, PEER)));
    assert!(!rules(&rounds("cluster", relaxed, PEER)).is_empty());
    // The wait is for the barrier of another group, with the own one in between.
    let nested = "let token = cluster.barrier_arrive(); block.sync(); cluster.barrier_wait(token);";
    assert!(is_proved(&rounds("cluster", nested, PEER)));
}

/// The sums of four lanes each are sent to the first block, behind a handshake.
fn gathered(count: u32, expects: &str, parity: bool) -> String {
    format!(
        "#[cluster_kernel(cluster = 4, block = 64)] fn sums(input: &[u32], out: &mut [u32]) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            let sums = shared_array::<u32, 64>();
            let got = shared_cluster_barrier();
            let four = tiled_partition::<4>(&block);
            if i == 0 {{ got.init({count}); fence(AcqRel, Scope::Cluster); }}
            let up = cluster.barrier_arrive_relaxed();
            let own = four.reduce(input[cluster.thread_rank()], op::Plus);
            cluster.barrier_wait(up);
            if rank == 0 && i == 0 {{ {expects} let _ = got.arrive(); }}
            if four.thread_rank() == 0 {{
                cluster.map_shared_rank(&sums, 0).store_async(rank * 16 + i / 4, own, &cluster.map_shared_rank(&got, 0));
            }}
            if rank == 0 {{ got.wait_parity({parity}); out[i] = sums[i]; }}
            cluster.sync();
        }}"
    )
}

#[test]
fn handshakes() {
    assert_eq!(rules(&gathered(1, "got.expect_tx(4 * 64);", false)), Vec::<String>::new());
    faulty(&gathered(2, "got.expect_tx(4 * 64);", false), "ring_deadlock");
    faulty(&gathered(1, "got.expect_tx(4 * 65);", false), "ring_deadlock");
    faulty(&gathered(1, "", false), "ring_undrained");
    faulty(&gathered(1, "got.expect_tx(4 * 64);", true), "ring_overtaken");
}

/// The first block sends each row to all blocks, which tell it that they have read it.
fn broadcast(count: u32, room: &str, told: u32, early: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 4, block = 64)] fn rows(input: &[u32], out: &mut [u32], rounds: u32) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            let warp = tiled_partition::<32>(&block);
            let slots = shared_array::<[u32; 64], 3>();
            let (full, room) = (shared_cluster_barriers::<3>(), shared_cluster_barriers::<3>());
            full.init_collective(&cluster, 1);
            room.init_collective(&cluster, {count});
            let (mut s, mut phase) = (0, false);
            for k in 0..rounds {{
                if i == 0 {{ full[s].expect_tx(64 * 4); let _ = full[s].arrive(); }}
                if rank == 0 {{
                    {room}
                    for r in 0..4 {{
                        cluster.map_shared_rank(&slots, r)[s].store_async(i, input[k * 64 + i], &cluster.map_shared_rank(&full[s], r));
                    }}
                }}
                full[s].wait_parity(phase);
                {early}
                let value = slots[s][63 - i];
                warp.sync();
                if i % 32 == 0 {{ cluster.map_shared_rank(&room[s], {told}).arrive(); }}
                out[(k * 4 + rank) * 64 + i] = value;
                s += 1;
                if s == 3 {{ s = 0; phase = !phase; }}
            }}
            cluster.sync();
        }}"
    )
}

/// Runs of several blocks are long.
#[test]
fn sent_to_all_blocks() {
    const ROOM: &str = "room[s].wait_parity(!phase);";
    assert_eq!(rules(&broadcast(8, ROOM, 0, "")), Vec::<String>::new());
    faulty(&broadcast(8, "", 0, ""), "ring_deadlock");
    faulty(&broadcast(8, ROOM, 1, ""), "ring_deadlock");
    faulty(&broadcast(4, ROOM, 0, ""), "ring_deadlock");
    faulty(&broadcast(16, ROOM, 0, ""), "ring_deadlock");
    faulty(
        &broadcast(8, ROOM, 0, "if i % 32 == 0 { cluster.map_shared_rank(&room[s], 0).arrive(); }"),
        "ring_deadlock",
    );
}

/// A producer, and two warps of which one lane waits and releases.
fn of_lanes(wait: &str, behind: &str, release: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let (i, lane) = (block.thread_rank(), warp.thread_rank());
            let stages = shared_array::<[u32; 64], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 2);
            if i >= 64 {{
                if lane == 0 {{
                    for k in 0..chunks {{
                        empty[k % 2].wait_parity(k / 2 % 2 == 0);
                        full[k % 2].expect_tx(256);
                        bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
                        let _ = full[k % 2].arrive();
                    }}
                }}
            }} else {{
                let mut sum = 0;
                for k in 0..chunks {{
                    {wait} {behind}
                    let value = stages[k % 2][i];
                    {release}
                    if lane == 0 {{ let _ = empty[k % 2].arrive(); }}
                    sum += value;
                }}
                out[i] = sum;
            }}
        }}"
    )
}

/// A vote, a shuffle or a sum of a warp orders nothing: what its lanes did before may be under way behind it.
#[test]
fn collectives_that_order_nothing() {
    const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
    let by_one = format!("if lane == 0 {{ {WAIT} }}");
    for wait in [WAIT, &by_one] {
        assert_eq!(rules(&of_lanes(wait, "warp.sync();", "warp.sync();")), Vec::<String>::new());
    }
    for vote in [
        "let all = warp.all(value > 3);",
        "let next = warp.shfl_down(value, 1);",
        "sum += warp.reduce(value, op::Plus);",
    ] {
        faulty(&of_lanes(WAIT, "", vote), "ring_overwrite");
        faulty(&of_lanes(WAIT, "", &vote.replace("let ", "let _").repeat(2)), "ring_overwrite");
        assert_eq!(rules(&of_lanes(WAIT, "", &format!("{vote} warp.sync();"))), Vec::<String>::new());
        assert_eq!(rules(&of_lanes(WAIT, "", &format!("warp.sync(); {vote}"))), Vec::<String>::new());
        let before = vote.replace("value", "k");
        faulty(&of_lanes(&by_one, &before, "warp.sync();"), "ring_read");
    }
}

/// Rows that all threads write and read; a barrier tells that the one of the round before is complete.
fn in_turn(begin: &str, wait: &str, rows: [&str; 2], arrive: &str, end: &str) -> String {
    let [read, written] = rows;
    format!(
        "#[cluster_kernel(block = 64)] fn turns(input: &[u32], out: &mut [u32], rounds: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let rows = shared_array::<[u32; 64], 2>();
            let bar = shared_barrier();
            bar.init_collective(&block, 64);
            rows[0][i] = input[i];
            {begin}
            for k in 1..rounds {{
                {wait}
                let value = rows{read};
                rows{written} = input[k * 64 + i];
                out[(k - 1) * 64 + i] = value;
                {arrive}
            }}
            {end}
        }}"
    )
}

/// The token of the round before, and a read with a write of another element behind it.
#[test]
fn tokens_of_the_round_before() {
    const READ: &str = "[(k - 1) % 2][63 - i]";
    const WRITTEN: &str = "[k % 2][i]";
    const NEXT: &str = "token = bar.arrive();";
    let with = |rows: [&str; 2], arrive: &str| {
        in_turn("let mut token = bar.arrive();", "bar.wait(token);", rows, arrive, "bar.wait(token);")
    };
    assert!(is_proved(&with([READ, WRITTEN], NEXT)));
    assert!(is_proved(&with([READ, WRITTEN], "let next = bar.arrive(); let other = next; token = other;")));
    faulty(&with([READ, "[0][i]"], NEXT), "ring_read");
    faulty(&with([READ, WRITTEN], "token = bar.arrive(); rows[k % 2][i] = 7;"), "ring_read");
    faulty(&with([READ, "[(k + 1) % 2][i]"], NEXT), "ring_read");
    let at_once = |rows: [&str; 2]| in_turn("", "bar.arrive_and_wait();", rows, "", "");
    for rows in [[READ, WRITTEN], ["[0][i]", "[0][i]"], ["[0][2 * i / 2]", "[0][i]"]] {
        assert_eq!(rules(&at_once(rows)), Vec::<String>::new(), "{rows:?}");
    }
    faulty(&at_once(["[0][63 - i]", "[0][i]"]), "ring_read");
    faulty(&at_once(["[0][i ^ 1]", "[0][i]"]), "ring_read");
}
