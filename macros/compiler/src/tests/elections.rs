//! Tests of elections: which conditions let at most one thread of a block through, and whether each block has one.

use super::rules;

/// What the kernels of these tests have in common.
const HEAD: &str = "let cluster = this_cluster(); let block = this_thread_block(); let grid = this_grid();
    let rank = block.thread_rank();
    let warp = tiled_partition::<32>(&block); let lane = warp.thread_rank(); let warp_rank = warp.meta_group_rank();
    let bar = shared_barrier(); let bars = shared_barriers::<4>();";

/// Returns the rules that a kernel with such a block breaks which initializes a barrier here and then uses it.
#[track_caller]
fn broken_in(block: &str, body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2{block})] fn elects(input: &[u32], flags: &mut [u32], n: u32, k: u32) {{
            {HEAD} {body} cluster.sync(); bar.arrive_and_wait();
        }}"
    ))
}

#[track_caller]
fn broken(body: &str) -> Vec<String> {
    broken_in(", block = 64", body)
}

/// One thread of each block initializes the barrier.
#[test]
fn one_thread() {
    for body in [
        "if rank == 0 { bar.init(64); }",
        "if 0 == rank { bar.init(64); }",
        "if block.thread_rank() == 63 { bar.init(64); }",
        "if rank == k { bar.init(64); }",
        "if rank == n + 3 { bar.init(64); }",
        "if rank == input[0] { bar.init(64); }",
        "if rank == block.num_threads() - 1 { bar.init(64); }",
        "if rank == cluster.block_rank() { bar.init(64); }",
        "if rank < 1 { bar.init(64); }",
        "if rank <= 0 { bar.init(64); }",
        "if !(rank > 0) { bar.init(64); }",
        "if !(rank != 0) { bar.init(64); }",
        "if rank != 0 { } else { bar.init(64); }",
        "if rank as i32 == 0 { bar.init(64); }",
        "if (rank as u8) == 3 { bar.init(64); }",
        "if rank + 5 == 7 { bar.init(64); }",
        "if rank - k == 0 { bar.init(64); }",
        "if rank ^ 1 == 0 { bar.init(64); }",
        "if warp_rank == 0 && lane == 0 { bar.init(64); }",
        "if lane == 0 && warp_rank == 1 { bar.init(64); }",
        "if warp_rank == 0 { if lane == k { bar.init(64); } }",
        "if lane == 0 { if warp_rank == 0 { bar.init(64); } }",
        "if rank / 32 == 0 && rank % 32 == 0 { bar.init(64); }",
        "if rank >> 5 == 0 && rank & 31 == 0 { bar.init(64); }",
        "if rank < 32 && lane == 0 { bar.init(64); }",
        "if rank < 32 && warp.any(lane == 3) && lane == 7 { bar.init(64); }",
        "if rank % 2 == 0 { if rank / 2 == 5 { bar.init(64); } }",
        "if warp_rank == 0 { warp.invoke_one(|| { bar.init(64); }); }",
        "block.invoke_one(|| { bar.init(64); });",
        "let at = block.thread_index(); if at.x == 3 && at.y == 0 { bar.init(64); }",
        "let (w, l) = (rank / 32, rank % 32); if w == 0 && l == 0 { bar.init(64); }",
        "let leader = rank == 0; if leader { bar.init(64); }",
        "let leader = warp_rank == 0 && lane == 0; if leader { bar.init(64); }",
        "let follower = rank != 0; if !follower { bar.init(64); }",
        "let leader = if warp_rank == 0 { lane == 0 } else { false }; if leader { bar.init(64); }",
        "let mut leader = false; if rank == 0 { leader = true; } if leader { bar.init(64); }",
        "let leader = match rank { 0 => true, _ => false }; if leader { bar.init(64); }",
        "match rank { 0 => bar.init(64), _ => {} }",
        "match (warp_rank, lane) { (0, 0) => { bar.init(64); } _ => {} }",
        "match warp_rank { 0 => { if lane == 0 { bar.init(64); } } _ => {} }",
        "match lane { 0 if warp_rank == 1 => { bar.init(64); } _ => {} }",
        "if rank == 0 && n > 3 { bar.init(64); } else if rank == 0 { bar.init(32); }",
        "let chosen = if n > 3 { 5 } else { 7 }; if rank == chosen { bar.init(64); }",
        "if n > 3 { if rank == 0 { bar.init(64); } } else { if rank == 7 { bar.init(64); } }",
        "let leader = if n > 3 { rank == 0 } else { rank == 32 }; if leader { bar.init(64); }",
        "let elected = warp.shfl(k, 0); if warp_rank == 0 && lane == elected { bar.init(64); }",
        "let chosen = block.uniform(flags[0]); if rank == chosen { bar.init(64); }",
        "for i in 0..4 { if rank == i { bars[i].init(64); } } bar.init_collective(&block, 64);",
        "if rank == 0 { for i in 0..4 { bars[i].init(64); } bar.init(64); }",
        "if rank < 4 { bars[rank].init(64); } if rank == 0 { bar.init(64); }",
        "if rank < 4 { bars[3 - rank].init(64); } if rank == 0 { bar.init(64); }",
        "if lane == 0 { bars[warp_rank].init(64); } if rank == 0 { bar.init(64); }",
        "if lane == 0 { bars[warp_rank * 2 + 1].init(64); } if rank == 0 { bar.init(64); }",
        "if rank < 8 { if rank < 4 { bars[rank % 4].init(64); } } if rank == 0 { bar.init(64); }",
        "if warp_rank == 0 && lane < 4 { bars[lane].init(64); } if rank == 0 { bar.init(64); }",
        "let quad = tiled_partition::<4>(&warp); if rank < 32 && quad.meta_group_rank() == 0 && quad.thread_rank() == 0 { bar.init(64); }",
        "let quad = tiled_partition::<4>(&block); if quad.meta_group_rank() == 3 && quad.thread_rank() == 1 { bar.init(64); }",
        "if cluster.thread_rank() % 64 == 0 { bar.init(64); }",
        "if cluster.block_rank() == 1 { if cluster.thread_rank() == 70 { bar.init(64); } } else if rank == 0 { bar.init(64); }",
    ] {
        assert!(broken(body).is_empty(), "{body}: {:?}", broken(body));
    }
    assert!(broken("if rank != 0 { return; } bar.init(64); return;").is_empty());
}

/// Several threads of a block may.
#[test]
fn several_threads() {
    for body in [
        "bar.init(64);",
        "if lane == 0 { bar.init(64); }",
        "if rank % 32 == 0 { bar.init(64); }",
        "if warp_rank == 0 { bar.init(64); }",
        "if rank < 2 { bar.init(64); }",
        "if rank <= 1 { bar.init(64); }",
        "if rank != 0 { bar.init(64); }",
        "if rank == rank { bar.init(64); }",
        "if rank == lane { bar.init(64); }",
        "if rank == 0 || rank == 1 { bar.init(64); }",
        "if rank == 0 || n > 3 { bar.init(64); }",
        "if rank == 0 || lane == 0 { bar.init(64); }",
        "if !(rank == 0 && n > 3) { bar.init(64); }",
        "if rank / 2 == 0 { bar.init(64); }",
        "if (rank as u8) / 2 == 0 { bar.init(64); }",
        "if rank & 62 == 0 { bar.init(64); }",
        "if rank == flags[rank] { bar.init(64); }",
        "if rank == flags[0] { bar.init(64); }",
        "if flags[rank] == 0 { bar.init(64); }",
        "if input[rank] == 0 { bar.init(64); }",
        "warp.invoke_one(|| { bar.init(64); });",
        "if warp_rank == lane { bar.init(64); }",
        "let leader = rank == 0 || rank == 5; if leader { bar.init(64); }",
        "let leader = if lane == 0 { rank == 0 } else { rank == 1 }; if leader { bar.init(64); }",
        "let mut leader = rank == 0; if rank == 5 { leader = true; } if leader { bar.init(64); }",
        "let chosen = if lane == 0 { 0 } else { 1 }; if rank == chosen { bar.init(64); }",
        "if warp.any(rank == 0) && lane < 2 { bar.init(64); }",
        "match lane { 0 => bar.init(64), _ => {} }",
        "match rank { 0 | 1 => bar.init(64), _ => {} }",
        "match rank { 0..=1 => bar.init(64), _ => {} }",
        "match (rank, lane) { (_, 0) => { bar.init(64); } _ => {} }",
        "let mut i = 0; loop { if rank == i { break; } i += 1; } bar.init(64);",
        "let mut at = 0; for i in 0..64 { if rank == i { at = i; } } if rank == at { bar.init(64); }",
        "if rank < 8 { bars[rank % 4].init(64); } if rank == 0 { bar.init(64); }",
        "if rank < 4 { bars[rank / 2].init(64); } if rank == 0 { bar.init(64); }",
        "if lane < 4 { bars[lane].init(64); } if rank == 0 { bar.init(64); }",
        "if lane == 0 { bars[n].init(64); } if rank == 0 { bar.init(64); }",
        "bars[flags[rank]].init(64); if rank == 0 { bar.init(64); }",
        "let quad = tiled_partition::<4>(&warp); if quad.meta_group_rank() == 0 && quad.thread_rank() == 0 { bar.init(64); }",
        "let some = coalesced_threads(); if some.thread_rank() == 0 { bar.init(64); }",
        "if rank == 0 { bar.init(64); } else if rank == 32 { bar.init(64); }",
    ] {
        assert_eq!(broken(body), ["barrier_init_not_elected"], "{body}");
    }
    // All threads take the branch, or none does.
    let all = "let leader = Some(rank == 0); if leader.is_some() { bar.init(64); }";
    assert_eq!(broken(all), ["barrier_init_not_elected", "barrier_uninitialized"]);
}

/// In a block of several dimensions, a thread is known by all of them.
#[test]
fn in_several_dimensions() {
    let one =
        |block: &str, condition: &str| broken_in(block, &format!("if {condition} {{ bar.init(64); }}")).is_empty();
    let [x, y, z] = ["block.thread_index().x == 0", "block.thread_index().y == 1", "block.thread_index().z == 0"];
    for block in [", block = 64", ", block = N"] {
        assert!(one(block, x) && one(block, &format!("{x} && {z}")), "{block}");
        assert!(!one(block, y), "{block}");
    }
    for block in [", block = (8, 8)", ", block = (X, Y)", ", block = (X, 8)", ", block = (8, Y)"] {
        assert!(!one(block, x) && !one(block, y) && one(block, &format!("{x} && {y}")), "{block}");
        assert!(one(block, "rank == 3") && !one(block, &format!("{x} && {z}")), "{block}");
    }
    for block in [", block = (4, 4, 4)", ", block = (X, Y, Z)", ""] {
        assert!(!one(block, x) && !one(block, &format!("{x} && {y}")), "{block}");
        assert!(one(block, &format!("{x} && {y} && {z}")) && one(block, "rank == 3"), "{block}");
    }
    assert!(!one(", block = (8, 8)", "block.thread_index().x + 8 * block.thread_index().y == 0"));
    assert!(one(", block = (32, 2)", "block.thread_index().y == 0 && lane == 0"));
    assert!(!one(", block = (16, 4)", "block.thread_index().y < 2 && block.thread_index().x == 0"));
    assert!(one(", block = (16, 4)", "warp_rank == 1 && block.thread_index().y == 2 && block.thread_index().x == 0"));
}

/// Constants that only rustc knows.
#[test]
fn by_constants() {
    assert!(broken("if rank == LEADER { bar.init(64); }").is_empty());
    assert!(broken("if rank / WARP == 0 && rank % WARP == 3 { bar.init(64); }").is_empty());
    assert!(broken("if rank < WARP && rank % WARP == 0 { bar.init(64); }").is_empty());
    assert_eq!(broken("if rank < WARP && rank % OTHER == 0 { bar.init(64); }"), ["barrier_init_not_elected"]);
    assert_eq!(broken("if rank < WARP { bar.init(64); }"), ["barrier_init_not_elected"]);
}

/// A thread of one block initializes no barrier of the others.
#[test]
fn in_each_block() {
    for body in [
        "if cluster.thread_rank() == 0 { bar.init(64); }",
        "if cluster.thread_rank() < 1 { bar.init(64); }",
        "if grid.thread_rank() == 0 { bar.init(64); }",
        "let leader = cluster.thread_rank() == 0; if leader { bar.init(64); }",
        "if cluster.block_rank() == 0 && rank == 0 { bar.init(64); }",
        "if rank == 0 && cluster.block_rank() == 0 { bar.init(64); }",
        "if rank == 0 { if cluster.block_rank() == 0 { bar.init(64); } }",
        "let leader = rank == 0 && cluster.block_rank() == 0; if leader { bar.init(64); }",
        "if cluster.thread_rank() / 32 == 0 && lane == 0 { bar.init(64); }",
        "if n > 3 && rank == 0 { bar.init(64); }",
        "if rank == 64 { bar.init(64); }",
        "if warp_rank == 2 { if lane == 0 { bar.init(64); } }",
    ] {
        assert_eq!(broken(body), ["barrier_uninitialized"], "{body}");
    }
    let used = |condition: &str, used: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn elects(n: u32) {{
                {HEAD} if {condition} {{ bar.init(64); }} cluster.sync(); if {used} {{ bar.arrive_and_wait(); }}
            }}"
        ))
        .is_empty()
    };
    assert!(used("cluster.thread_rank() == 0", "cluster.block_rank() == 0"));
    assert!(used("cluster.thread_rank() == 70", "cluster.block_rank() == 1"));
    assert!(!used("cluster.thread_rank() == 70", "cluster.block_rank() == 0"));
    assert!(used("rank == 0 && cluster.block_rank() == 0", "cluster.block_rank() == 0"));
    assert!(used("n > 3 && rank == 0", "n > 3"));
    assert!(used("rank == 0 && n > 3", "n > 3 && n < 100"));
    let alone = "#[cluster_kernel(cluster = 1, block = 64)] fn elects() { let cluster = this_cluster(); let bar = shared_barrier();
        if cluster.thread_rank() == 0 { bar.init(64); } cluster.sync(); bar.arrive_and_wait(); }";
    assert!(rules(alone).is_empty());
}

/// One thread ends a barrier's life, when no other is there.
#[test]
fn invalidated_by_one_thread() {
    let after = |body: &str| broken(&format!("bar.init_collective(&block, 64); {body} return;"));
    assert!(after("bar.arrive_and_wait(); block.sync(); if rank == 3 { bar.invalidate(); }").is_empty());
    assert!(after("if rank == 3 { bar.invalidate(); }").is_empty());
    assert!(after("let t = bar.arrive(); if rank == 0 { bar.wait(t); bar.invalidate(); }").is_empty());
    assert_eq!(after("bar.arrive_and_wait(); block.sync(); bar.invalidate();"), ["barrier_init_not_elected"]);
    // The thread that has ended it uses it, too.
    assert_eq!(after("if rank == 3 { bar.invalidate(); } bar.arrive_and_wait();"), ["barrier_uninitialized"]);
    assert_eq!(
        after("bar.arrive_and_wait(); block.sync(); if lane == 0 { bar.invalidate(); }"),
        ["barrier_init_not_elected"]
    );
    assert_eq!(after("bar.arrive_and_wait(); if rank == 3 { bar.invalidate(); }"), ["barrier_unpublished"]);
    assert_eq!(after("let t = bar.arrive(); bar.wait(t); if rank == 3 { bar.invalidate(); }"), ["barrier_unpublished"]);
    // The first round ends what nobody has begun, though later ones find a live barrier.
    let first = "for _ in 0..n { if rank == 0 { bar.invalidate(); } bar.init_collective(&block, 64); } return;";
    assert_eq!(broken(first), ["barrier_uninitialized"]);
}

/// The others may be on another arm, or have still to come to what the thread has done.
#[test]
fn invalidated_beside_uses() {
    // Whether as many arrive as a phase expects is another matter.
    let after = |body: &str| -> Vec<String> {
        let found = broken(&format!("bar.init_collective(&block, 64); {body} return;"));
        found.into_iter().filter(|rule| rule != "barrier_count").collect()
    };
    for wrong in [
        "let t = bar.arrive(); if rank == 0 { bar.invalidate(); } else { bar.wait(t); }",
        "if rank == 0 { bar.arrive_and_wait(); bar.invalidate(); } else { bar.arrive_and_wait(); }",
        "if rank == 0 { bar.invalidate(); } else { bar.arrive_and_wait(); }",
        "if rank == 0 { bar.invalidate(); } else { if rank == 5 { while !bar.try_wait_parity(false) {} } }",
        "let t = bar.arrive(); if rank == 0 { bar.invalidate(); }",
        "if rank == 1 { bar.arrive(); } if rank == 0 { bar.invalidate(); }",
        "let b = &bar; if rank == 0 { b.invalidate(); } else { bar.arrive_and_wait(); }",
        "for i in 0..3 { if i == 2 { if rank == 0 { bar.invalidate(); } break; } bar.arrive_and_wait(); }",
        "match rank { 0 => bar.invalidate(), 1 => bar.arrive_and_wait(), _ => {} }",
        "let t = bar.arrive(); if rank == 0 { bar.wait(t); bar.invalidate(); } else if rank == 7 { bar.wait_parity(false); }",
    ] {
        assert_eq!(after(wrong), ["barrier_unpublished"], "{wrong}");
    }
    // The second may be the thread of the first, as far as branches are followed.
    let next = "if rank == 0 { bar.invalidate(); } if rank == 1 { bar.arrive_and_wait(); }";
    assert_eq!(after(next), ["barrier_uninitialized"]);
    for right in [
        "if rank == 0 { bar.wait_parity(false); bar.invalidate(); } else { bar.arrive(); }",
        "let t = bar.arrive(); bar.wait(t); block.sync(); if rank == 0 { bar.invalidate(); } else { let _x = rank; }",
        "if rank == 0 { bar.arrive_and_wait(); } block.sync(); if rank == 0 { bar.invalidate(); }",
        "if rank == 0 { bar.arrive(); bar.invalidate(); }",
        "if n > 3 { if rank == 0 { bar.invalidate(); } } else { bar.arrive_and_wait(); }",
        "for i in 0..3 { bar.arrive_and_wait(); block.sync(); } if rank == 0 { bar.invalidate(); }",
    ] {
        assert_eq!(after(right), [] as [&str; 0], "{right}");
    }
}
