//! Tests of phases that are told by counting: how many arrivals a phase expects, and who may still arrive.

use super::rules;

/// Returns the rules that a kernel of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)] fn counts(flags: &mut [u32], input: &[f32], n: u32, deep: bool) {{
            let block = this_thread_block(); let rank = block.thread_rank(); let bar = shared_barrier();
            let buffer = shared_array::<f32, 64>();
            {body}
        }}"
    ))
}

/// A phase expects as many arrivals as there are.
#[test]
fn counts() {
    for body in [
        "bar.init_collective(&block, 65); let t = bar.arrive(); if rank == 0 { bar.arrive(); } bar.wait(t);",
        "bar.init_collective(&block, 64); bar.arrive_and_wait();",
        "bar.init_collective(&block, block.num_threads() / 2); if rank < 32 { bar.arrive_and_wait(); }",
        "bar.init_collective(&block, 128); for _ in 0..2 { bar.arrive(); } bar.wait_parity(false);",
        "bar.init_collective(&block, 64 + n); bar.arrive_and_wait();",
        "bar.init_collective(&block, 1); if rank == 0 { bar.arrive(); } bar.wait_parity(false);",
        "bar.init_collective(&block, 64); bar.wait_parity(true); bar.arrive_and_wait();",
        "bar.init_collective(&block, 128); let t = bar.arrive_n(2); bar.wait(t);",
        "bar.init_collective(&block, 64); if rank < 32 { bar.arrive(); } else { bar.arrive_and_wait(); }",
        "let half = block.num_threads() / 2; bar.init_collective(&block, half); if rank >= half { bar.arrive(); } else { bar.wait_parity(false); }",
        "bar.init_collective(&block, 65); bar.arrive_and_drop();",
    ] {
        assert!(broken(body).is_empty(), "{body}: {:?}", broken(body));
    }
    for body in [
        "bar.init_collective(&block, 65); bar.arrive_and_wait();",
        "bar.init_collective(&block, block.num_threads() + 1); for _ in 0..n { bar.arrive_and_wait(); }",
        "let count = 2 * block.num_threads(); if rank == 0 { bar.init(count); } block.sync(); let t = bar.arrive(); bar.wait(t);",
        "bar.init_collective(&block, 2); if rank == 0 { bar.arrive(); } bar.wait_parity(false);",
        "bar.init_collective(&block, 1); bar.wait_parity(false);",
        "bar.init_collective(&block, n); let mut phase = false; for _ in 0..n { bar.wait_parity(phase); phase = !phase; }",
        "bar.init_collective(&block, 1); if rank == 0 { bar.expect_tx(256); } bar.wait_parity(false);",
        "bar.init_collective(&block, 32); bar.arrive_and_wait();",
        "bar.init_collective(&block, block.num_threads() / 2); for _ in 0..n { let t = bar.arrive(); bar.wait(t); }",
        "bar.init_collective(&block, 4); bar.arrive(); bar.wait_parity(false);",
    ] {
        assert_eq!(broken(body), ["barrier_count"], "{body}");
    }
}

/// What is asked between two elements, or of some of them, is asked more often by some threads than by others. Where they have one result,
/// the threads stay together.
#[test]
fn arrivals_in_closures() {
    let all = |body: &str| broken(&format!("bar.init_collective(&block, 64); {body}"));
    let values = "let mut v = [flags[rank], flags[rank + 1], flags[rank + 2]];";
    for body in [
        "v.sort_by(|a, b| { bar.arrive_and_wait(); a.cmp(b) });",
        "v.sort_unstable_by(|a, b| { bar.arrive_and_wait(); b.cmp(a) });",
        "v.sort_by_key(|x| { bar.arrive_and_wait(); x % 7 });",
        "let least = (0..flags[rank]).min_by(|a, b| { bar.arrive_and_wait(); a.cmp(b) }); v[0] = least.unwrap_or(0);",
        "v[0] = (0..flags[rank]).fold(0, |sum, x| { bar.arrive_and_wait(); sum + x });",
        "let any = (0..n).any(|x| { bar.arrive_and_wait(); x == v[0] }); v[0] = any as u32;",
        "let first = (0..n).position(|x| { bar.arrive_and_wait(); x.cmp(&v[0]).is_gt() }); v[0] = first.unwrap_or(0) as u32;",
        "for k in 0..n { bar.arrive_and_wait(); if v[0].cmp(&k).is_gt() { break; } }",
        "bar.arrive_and_wait(); while v[0] > 3 { bar.arrive_and_wait(); v[0] /= 2; }",
        "for k in 0..n { bar.arrive_and_wait(); if v[0] > k { bar.arrive_and_wait(); } }",
    ] {
        assert_eq!(all(&format!("{values} {body}")), ["barrier_count"], "{body}");
    }
    for body in [
        "v.sort_by(|a, b| a.cmp(b)); bar.arrive_and_wait();",
        "let most = (0..n).max_by(|a, b| { bar.arrive_and_wait(); a.cmp(b) }); v[0] = most.unwrap_or(0);",
        "let first = (0..n).position(|x| { bar.arrive_and_wait(); x.cmp(&3).is_gt() }); v[0] = first.unwrap_or(0) as u32;",
        "v[0] = v.partition_point(|x| { bar.arrive_and_wait(); *x < 3 }) as u32;",
        "if v[0] > 3 { bar.arrive_and_wait(); } else { bar.arrive_and_wait(); }",
        "bar.arrive_and_wait(); if rank < 32 { bar.arrive_and_wait(); } if rank >= 32 { bar.arrive_and_wait(); }",
    ] {
        let found = all(&format!("{values} {body}"));
        assert!(found.is_empty(), "{body}: {found:?}");
    }
}

/// A thread that has dropped out on some path, from which it cannot but arrive, arrives once too often.
#[test]
fn arrivals_after_a_drop() {
    let after = |body: &str| broken(&format!("bar.init_collective(&block, 64); {body}"));
    for body in [
        "if deep { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); }",
        "if rank == 3 { bar.arrive_and_drop(); return; } bar.arrive_and_wait();",
        "let last = rank == 3; if last { bar.arrive_and_drop(); } if !last { bar.arrive_and_wait(); }",
        "for i in 0..n { if flags[rank] == i { bar.arrive_and_drop(); break; } bar.arrive_and_wait(); }",
        "for i in 0..n { if i + 1 == n { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); } }",
        "if deep { bar.arrive_and_drop(); block.sync(); if rank == 0 { bar.invalidate(); bar.init(64); } block.sync(); } bar.arrive_and_wait();",
    ] {
        assert!(after(body).is_empty(), "{body}: {:?}", after(body));
    }
    // Only with some arguments.
    assert_eq!(after("if deep { bar.arrive_and_drop(); } if n > 3 { bar.arrive_and_wait(); }"), ["ring_count"]);
    for body in [
        "bar.arrive_and_drop(); bar.arrive_and_wait();",
        "if rank == 3 { bar.arrive_and_drop(); } bar.arrive_and_wait();",
        "if flags[rank] > 3 { bar.arrive_and_drop(); } bar.arrive();",
        "if deep { bar.arrive_and_drop(); } if deep { bar.arrive_and_wait(); }",
        "if deep { bar.arrive_and_drop(); } if n > 3 { bar.arrive_and_wait(); } else { bar.arrive(); }",
        "bar.arrive_and_drop(); if n > 3 { bar.arrive_and_wait(); }",
        "loop { if flags[rank] > 3 { bar.arrive_and_drop(); } bar.arrive_and_wait(); if n > 5 { break; } }",
    ] {
        let rules = after(body);
        assert!(!rules.is_empty() && rules.iter().all(|rule| rule == "barrier_use_after_drop"), "{body}: {rules:?}");
    }
    // A thread may drop one of several arrivals.
    let twice = "bar.init_collective(&block, 65); if rank == 0 { bar.arrive_and_drop(); } bar.arrive_and_wait();";
    assert!(broken(twice).is_empty(), "{:?}", broken(twice));
}

/// The threads of the cluster are more than those of a block.
#[test]
fn counts_of_clusters() {
    let broken = |count: &str, arrivals: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn counts() {{
                let cluster = this_cluster(); let block = this_thread_block(); let bar = shared_cluster_barrier();
                bar.init_collective(&cluster, {count});
                {arrivals}
                cluster.sync();
            }}"
        ))
    };
    assert_eq!(broken("cluster.num_threads()", "bar.arrive_and_wait();"), ["barrier_count"]);
    assert!(broken("cluster.num_threads() / 2", "bar.arrive_and_wait();").is_empty());
    let both = "let _ = bar.arrive(); let _ = cluster.map_shared_rank(&bar, 1 - cluster.block_rank()).arrive(); bar.wait_parity(false);";
    assert!(broken("cluster.num_threads()", both).is_empty());
}

/// A stage and a phase that a method counts are not followed: nothing is said of such a ring.
#[test]
fn fields_that_methods_change() {
    let ring = |advance: &str| {
        broken(&format!(
            "let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 32);
            empty.init_collective(&block, 32);
            if rank < 32 {{
                let mut p = State {{ stage: 0, phase: 1 }};
                for k in 0..n {{
                    empty[p.stage].wait_parity(p.phase == 1);
                    let _ = full[p.stage].arrive();
                    {advance}
                }}
            }} else {{
                for k in 0..n {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    let _ = empty[k % 2].arrive();
                }}
            }}"
        ))
    };
    for advance in ["p.advance();", "advance(&mut p);", "p = next(p);", "p = State { stage: flags[0], ..p };"] {
        assert!(ring(advance).is_empty(), "{advance}");
    }
    let by_hand = "p.stage += 1; if p.stage == 2 { p.stage = 0; p.phase ^= 1; }";
    assert!(ring(by_hand).is_empty());
    assert_eq!(ring("p.stage += 1; if p.stage == 2 { p.stage = 0; }"), ["ring_count"]);
}

/// Of barriers that a thread initializes in a loop, the others must be told, whatever the loop's end is.
#[test]
fn inits_in_a_loop() {
    let after = |last: &str, then: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 160)] fn loops<const N: u32>(out: &mut [u32], n: u32) {{
                let block = this_thread_block(); let i = block.thread_rank(); let full = shared_barriers::<4>();
                if i == 0 {{ for s in 0..{last} {{ full[s].init(1); }} }}
                {then}
                if i == 128 {{ let _ = full[n % 4].arrive(); }} else if i < 128 {{ full[n % 4].wait_parity(false); out[i] = n; }}
            }}"
        ))
    };
    for last in ["4", "N", "n", "STAGES"] {
        assert!(after(last, "block.sync();").is_empty(), "{last}");
        assert_eq!(after(last, "tiled_partition::<32>(&block).sync();"), ["barrier_unpublished"], "{last}");
        assert_eq!(after(last, ""), ["barrier_unpublished"], "{last}");
    }
}
