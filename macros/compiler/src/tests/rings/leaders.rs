//! Warps of which several lanes release a stage, each at the barrier of another block.

use super::super::{Attributed, faults, session};
use crate::RingReport;

/// A ring of two stages that multicasts of two blocks fill, each one half for both, and that a warp of each block reads.
fn ring(cluster: &str, count: &str, read: &[&str]) -> String {
    format!(
        "#[cluster_kernel(cluster = {cluster}, block = 64)] fn sums(a: &TensorMap<Half>, out: &mut [f32], chunks: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            let halves = shared_array::<Half, 4>();
            let full = shared_cluster_barriers::<2>();
            let empty = shared_cluster_barriers::<2>();
            full.init_collective(&cluster, 1);
            empty.init_collective(&cluster, {count});
            if i == 32 {{
                for k in 0..chunks {{
                    let s = k % 2;
                    empty[s].wait_parity(k / 2 % 2 == 0);
                    a.expect_multicast(&halves[s * 2], &full[s]);
                    a.expect_multicast(&halves[s * 2 + 1], &full[s]);
                    a.multicast_async([rank as i32 * 8, k as i32 * 64], &halves[s * 2 + rank % 2], &full[s], cluster.row());
                    let _ = full[s].arrive();
                }}
            }} else if i < 32 {{
                let mut sum = 0.0;
                for k in 0..chunks {{ let s = k % 2; {} }}
                out[i] = sum;
            }}
            cluster.sync();
        }}",
        read.concat(),
    )
}

const WAIT: &str = "full[s].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += halves[s * 2][0][i].to_f32() * halves[s * 2 + 1][1][i].to_f32();";
const MEET: &str = "warp.sync();";
const TELL: &str = "if i < 2 { cluster.map_shared_rank(&empty[s], i).arrive(); }";

/// What is known of the kernel's rings: `proved`, `open`, or the rules that it breaks.
fn verdict(source: &str) -> String {
    let Attributed { options, item, .. } = Attributed::parse(source);
    let is_proved = |report: &RingReport| matches!(report, RingReport::Proved { arrays, .. } if arrays.len() == 1);
    match session().rings("", options, item) {
        Ok(cases) if cases.iter().all(|case| is_proved(&case.report)) => "proved".into(),
        Ok(_) => "open".into(),
        Err(faults) => faults.iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>().join(", "),
    }
}

#[test]
fn lanes_that_tell_several_blocks() {
    assert_eq!(verdict(&ring("2", "2", &[WAIT, READ, MEET, TELL])), "proved");
    // The first lane tells its own block, the others those of the row beside.
    let by_rank = "if i < 4 && i / 2 == rank / 2 { cluster.map_shared_rank(&empty[s], i).arrive(); }";
    assert_eq!(verdict(&ring("(2, 2)", "2", &[WAIT, READ, MEET, by_rank])), "proved");
    // What a lane does may depend on the round.
    let in_turn = "if i == 0 { cluster.map_shared_rank(&empty[s], 0).arrive(); }
        if i == 1 { cluster.map_shared_rank(&empty[s], 1).arrive(); }";
    assert_eq!(verdict(&ring("2", "2", &[WAIT, READ, MEET, in_turn])), "proved");
}

#[test]
fn mistakes_of_lanes_that_tell_several_blocks() {
    let one_block = TELL.replace("(&empty[s], i)", "(&empty[s], 0)");
    let one_lane = TELL.replace("i < 2", "i < 1");
    let three_lanes = TELL.replace("i < 2", "i < 3").replace("], i)", "], i % 2)");
    let sometimes = TELL.replace("i < 2", "i < 2 && (i == 0 || k % 2 == 0)");
    for (count, read, rule) in [
        ("2", &[WAIT, READ, MEET][..], "multicast_unarmed"),
        ("2", &[WAIT, READ, MEET, &one_lane], "ring_deadlock"),
        ("2", &[WAIT, READ, MEET, &sometimes], "ring_deadlock"),
        ("3", &[WAIT, READ, MEET, TELL], "ring_deadlock"),
        ("2", &[WAIT, MEET, TELL, READ], "ring_read"),
        ("1", &[WAIT, READ, MEET, TELL], "ring_overtaken"),
        ("2", &[READ, MEET, TELL], "copy_in_flight"),
    ] {
        let source = ring("2", count, read);
        assert_eq!(verdict(&source), rule, "{source}");
    }
    for read in [
        // A lane may tell before the others have read, or before they have passed their wait.
        &[WAIT, READ, TELL][..],
        &[WAIT, TELL, READ, MEET],
        &[MEET, WAIT, READ, TELL],
        &[WAIT, READ, MEET, &one_block],
        &[WAIT, READ, MEET, &three_lanes],
        // The lanes that tell have not waited with the others.
        &["if i >= 2 { full[s].wait_parity(k / 2 % 2 == 1); }", READ, MEET, TELL],
    ] {
        let source = ring("2", "2", read);
        assert_ne!(verdict(&source), "proved", "{source}");
    }
    // What a lane does alone beside an arrival is not followed as the warp's.
    let waits = "if i == 0 { cluster.map_shared_rank(&empty[s], 0).arrive(); }
        if i == 1 { full[s].wait_parity(k / 2 % 2 == 1); cluster.map_shared_rank(&empty[s], 1).arrive(); }";
    assert_eq!(verdict(&ring("2", "2", &[WAIT, READ, MEET, waits])), "open");
    assert!(faults(&ring("2", "2", &[WAIT, READ, MEET, waits])).is_empty());
}
