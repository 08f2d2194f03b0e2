//! Who may know of whom in the traces of threads: what orders two accesses besides barriers of the block, and conditions that data decide
//! beside what a thread knows of itself.

use super::rules;

/// The rules that a kernel of one block of 128 threads breaks.
fn of(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 128)]
        fn k(input: &[u32], flags: &mut [u32], out: &mut [u32], n: usize) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let t = block.thread_rank();
            let s = shared_array::<u32, 128>();
            {body}
        }}"
    ))
}

const RACE: [&str; 1] = ["unsynchronized_access"];

/// What one warp does together hands on what a lane of it has learned, and only where one of them may have learned something.
#[test]
fn a_warp_hands_on_what_it_knows() {
    for first in [
        "flags.atomic(0).store(1, Release); s[0] = input[0];",
        "if input[3] > 1 { flags.atomic(0).store(1, Release); } s[0] = input[0];",
        "while flags.atomic(0).load(Acquire) == 0 {} s[0] = input[0];",
        "s[0] = flags.atomic(0).fetch_add(1, AcqRel);",
        "flags.atomic(0).store(1, Release); s[0] = flags.atomic(1).load(Acquire);",
        "fence(AcqRel, Scope::Device); s[0] = flags.atomic(1).load(Relaxed);",
    ] {
        let by = |barrier: &str| of(&format!("if t == 0 {{ {first} }} {barrier} out[t] = s[0];"));
        assert!(by("block.sync();").is_empty(), "{first}");
        assert_eq!(by("warp.sync();"), RACE, "{first}");
        assert_eq!(by("let all = warp.any(t > n as u32); if all { out[0] = 1; }"), RACE, "{first}");
    }
    // A lane of the reader's own warp may know of the write.
    for told in [
        "if t == 0 { s[0] = input[0]; flags.atomic(0).store(1, Release); } if warp.thread_rank() == 0 { while flags.atomic(0).load(Acquire) == 0 {} }",
        "if t == 0 { s[0] = input[0]; flags.atomic(0).store(1, Release); } if t % 32 == 5 { while flags.atomic(0).load(Acquire) == 0 {} }",
    ] {
        assert!(of(&format!("{told} warp.sync(); out[t] = s[0];")).is_empty(), "{told}");
    }
    // What was learned before a barrier of the block says nothing of a write behind it.
    let before = "while flags.atomic(0).load(Acquire) == 0 {} block.sync(); if t == 0 { s[0] = input[0]; }";
    assert_eq!(of(&format!("{before} warp.sync(); out[t] = s[0];")), RACE);
    assert!(of(&format!("{before} block.sync(); out[t] = s[0];")).is_empty());
}

/// A block whose last thread to count adds up all blocks: the sum in shared memory before is not ordered by the count behind it.
#[test]
fn a_count_behind_a_sum() {
    let sum = |barrier: &str, last: &str| {
        of(&format!(
            "s[t] = input[t]; block.sync(); let mut d = 64; while d > 0 {{ if t < d {{ s[t] += s[t + d]; }} {barrier} d /= 2; }}
             let last = shared_array::<u32, 1>(); if t == 0 {{ out[1] = s[0]; last[0] = flags.atomic(0).fetch_add(1, AcqRel); }}
             {last} if last[0] == 7 {{ out[0] = 1; }}"
        ))
    };
    assert!(sum("block.sync();", "block.sync();").is_empty());
    for barrier in ["warp.sync();", "if d > 32 { block.sync(); }", ""] {
        assert_eq!(sum(barrier, "block.sync();"), RACE, "{barrier}");
    }
    assert_eq!(sum("block.sync();", "warp.sync();"), RACE);
}

/// Data decide only where what the thread knows of itself lets them.
#[test]
fn data_beside_ranks() {
    let swaps = |condition: &str, barrier: &str| {
        of(&format!(
            "s[t] = input[t]; block.sync();
             for round in 0..128 {{ let at = 2 * t + round % 2; if {condition} {{ let x = s[at]; s[at] = s[at + 1]; s[at + 1] = x; }} {barrier} }}
             out[t] = s[t];"
        ))
    };
    for condition in ["at + 1 < 128 && s[at] > s[at + 1]", "t < 63 && at < 127 && s[at] > s[at + 1]"] {
        assert!(swaps(condition, "block.sync();").is_empty(), "{condition}");
        assert_eq!(swaps(condition, "warp.sync();"), RACE, "{condition}");
        assert_eq!(swaps(condition, ""), RACE, "{condition}");
    }
    // Each thread its own part.
    let own = "if t < 64 && input[t] > 3 { s[t] = 1; } out[t] = s[t];";
    assert!(of(&format!("s[t] = input[t]; {own}")).is_empty());
    let kept = |barrier: &str| {
        of(&format!(
            "if t == 0 {{ s[0] = input[5]; }} {barrier} if (t as usize) < n && input[t] > 10 {{ out[s[0] + t] = input[t]; }}"
        ))
    };
    assert!(kept("block.sync();").is_empty());
    assert_eq!(kept(""), RACE);
    // No thread for which the first holds meets another.
    assert!(
        of("if t < 64 && input[t] > 3 { s[t] = 1; } if t >= 64 { s[t] = 2; } block.sync(); out[t] = s[t];").is_empty()
    );
}

/// A relaxed arrival at the cluster's barrier orders nothing, neither of the arriving thread's own block: only a fence before it does, or
/// another barrier.
#[test]
fn a_relaxed_arrival_orders_no_accesses_of_its_own_block() {
    let by = |barrier: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 128)]
            fn k(out: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let t = block.thread_rank();
                let s = shared_array::<u32, 128>();
                for _ in 0..n {{
                    s[t] = t;
                    {barrier}
                    out[cluster.thread_rank()] = s[127 - t];
                    block.sync();
                }}
            }}"
        ))
    };
    let arrival = "let token = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(token);";
    assert_eq!(by(arrival), RACE);
    assert_eq!(by(&format!("{arrival} {arrival}")), RACE);
    let ordered = [
        "let token = cluster.barrier_arrive(); cluster.barrier_wait(token);",
        "fence(AcqRel, Scope::Cluster); let token = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(token);",
        "block.sync(); let token = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(token);",
        "let token = cluster.barrier_arrive_relaxed(); block.sync(); cluster.barrier_wait(token);",
        "let token = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(token); cluster.sync();",
    ];
    for barrier in ordered {
        assert!(by(barrier).is_empty(), "{barrier}");
    }
}
