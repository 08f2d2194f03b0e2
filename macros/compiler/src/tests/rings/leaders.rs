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

/// A ring of two stages that a thread fills by copies, and that two warps read, of which one lane waits and releases for the others.
fn waited_for_by_a_lane(wait: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[f32], out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let (i, lane) = (block.thread_rank(), warp.thread_rank());
            let rows = shared_array::<[f32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 2);
            if i == 64 {{
                for k in 0..chunks {{
                    let s = k % 2;
                    empty[s].wait_parity(k / 2 % 2 == 0);
                    full[s].expect_tx(256);
                    bulk_copy_async(&rows[s], &input[k * 64..(k + 1) * 64], &full[s]);
                    let _ = full[s].arrive();
                }}
            }} else if i < 64 {{
                let mut sum = 0.0;
                for k in 0..chunks {{
                    let s = k % 2;
                    if lane == 0 {{ full[s].wait_parity(k / 2 % 2 == 1); }}
                    {wait}
                    {read}
                    warp.sync();
                    if lane == 0 {{ let _ = empty[s].arrive(); }}
                }}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn a_lane_waits_for_its_warp() {
    const READ: &str = "sum += rows[s][i];";
    assert_eq!(verdict(&waited_for_by_a_lane(MEET, READ)), "proved");
    assert_eq!(verdict(&waited_for_by_a_lane("", READ)), "ring_read");
    assert_eq!(verdict(&waited_for_by_a_lane("", "for row in 0..2 { sum += rows[s][row * 32 + lane]; }")), "ring_read");
    // The lane that waits may read alone.
    assert_eq!(verdict(&waited_for_by_a_lane("", "if lane == 0 { sum += rows[s][i]; }")), "proved");
    let handed = "let x = if lane == 0 { rows[s][i] } else { 0.0 }; sum += warp.shfl(x, 0);";
    assert_eq!(verdict(&waited_for_by_a_lane("", handed)), "proved");
}

/// A warp fills the stages of a ring, whose first lane waits and arrives for all.
fn filled_behind_a_lane(wait: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[f32], out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let (i, lane) = (block.thread_rank(), warp.thread_rank());
            let rows = shared_array::<[f32; 32], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i >= 32 {{
                for k in 0..chunks {{
                    let s = k % 2;
                    if lane == 0 {{ empty[s].wait_parity(k / 2 % 2 == 0); }}
                    {wait}
                    rows[s][lane] = input[k * 32 + lane];
                    warp.sync();
                    if lane == 0 {{ let _ = full[s].arrive(); }}
                }}
            }} else {{
                let mut sum = 0.0;
                for k in 0..chunks {{
                    let s = k % 2;
                    full[s].wait_parity(k / 2 % 2 == 1);
                    sum += rows[s][31 - i];
                    let _ = empty[s].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn a_lane_waits_for_its_warp_to_fill() {
    assert_ne!(verdict(&filled_behind_a_lane(MEET)), "ring_overwrite");
    assert_eq!(verdict(&filled_behind_a_lane("")), "ring_overwrite");
}

/// The ring of `waited_for_by_a_lane`, where each lane does `wait` before it reads, and `release` after that.
fn released_by_a_lane(read: &str, release: &str) -> String {
    waited_for_by_a_lane(MEET, read)
        .replace("warp.sync();\n                    if lane == 0 { let _ = empty[s].arrive(); }", release)
}

#[test]
fn a_lane_releases_for_its_warp() {
    let reads = [
        "sum += rows[s][i];",
        "for row in 0..2 { sum += rows[s][row * 32 + lane]; }",
        "let a = rows[s][i]; let b = rows[s][63 - i]; sum += a * b;",
    ];
    for read in reads {
        let met = released_by_a_lane(read, "warp.sync(); if lane == 0 { let _ = empty[s].arrive(); }");
        assert_eq!(verdict(&met), "proved", "{met}");
        let unmet = released_by_a_lane(read, "if lane == 0 { let _ = empty[s].arrive(); }");
        assert!(matches!(&verdict(&unmet)[..], "ring_overwrite" | "ring_read"), "{}: {unmet}", verdict(&unmet));
        let message = format!("{:?}", faults(&unmet));
        assert!(message.contains("one lane arrives for its warp"), "{message}");
        // A meeting after that comes too late.
        let late = released_by_a_lane(read, "if lane == 0 { let _ = empty[s].arrive(); } warp.sync();");
        assert!(matches!(&verdict(&late)[..], "ring_overwrite" | "ring_read"), "{}: {late}", verdict(&late));
    }
    // What lanes exchange orders nothing, in the simulator neither.
    let reduced = "let x = rows[s][i]; sum += warp.reduce(x, op::Plus);";
    let unmet = released_by_a_lane(reduced, "if lane == 0 { let _ = empty[s].arrive(); }");
    assert!(matches!(&verdict(&unmet)[..], "ring_overwrite" | "ring_read"), "{}: {unmet}", verdict(&unmet));
    let met = released_by_a_lane(reduced, "warp.sync(); if lane == 0 { let _ = empty[s].arrive(); }");
    assert!(faults(&met).is_empty(), "{:?}", faults(&met));
    // Every lane arrives for itself, or the one that reads does.
    let alone = "if lane == 0 { sum += rows[s][i]; let _ = empty[s].arrive(); }";
    assert!(faults(&released_by_a_lane("", alone)).is_empty());
}

#[test]
fn a_lane_tells_what_its_warp_has_filled() {
    let source = filled_behind_a_lane(MEET);
    assert!(faults(&source).is_empty());
    let unmet =
        source.replace("warp.sync();\n                    if lane == 0 { let _ = full", "if lane == 0 { let _ = full");
    assert_ne!(source, unmet);
    assert_eq!(verdict(&unmet), "ring_read");
}
