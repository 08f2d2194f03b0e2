//! Tests of barriers that are initialized at an index, in a loop or under a condition of numbers: the runs of single threads.

use super::rules;

/// Returns the rules that a kernel of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)] fn runs(flags: &mut [u32], input: &[u32], n: u32) {{
            let block = this_thread_block(); let rank = block.thread_rank(); let warp = tiled_partition::<32>(&block);
            let bars = shared_barriers::<4>(); let bar = shared_barrier();
            {body}
        }}"
    ))
}

#[track_caller]
fn right(bodies: &[&str]) {
    for body in bodies {
        assert!(broken(body).is_empty(), "{body}: {:?}", broken(body));
    }
}

#[track_caller]
fn wrong(rule: &str, bodies: &[&str]) {
    for body in bodies {
        assert_eq!(broken(body), [rule], "{body}");
    }
}

/// Each barrier that is used is initialized by some thread.
#[test]
fn some_are_not_initialized() {
    let all = "for i in 0..4 { bars[i].arrive_and_wait(); }";
    let then = |init: &str| format!("{init} block.sync(); {all}");
    for init in [
        "if rank == 0 { for i in 0..4 { bars[i].init(64); } }",
        "if rank < 4 { bars[rank].init(64); }",
        "if rank == 0 { let mut i = 0; while i < 4 { bars[i].init(64); i += 1; } }",
        "if rank == 0 { for i in (0..4).rev() { bars[i].init(64); } }",
        "if rank == 0 { bars[0].init(64); for i in 1..4 { bars[i].init(64); } }",
        "if rank % 32 == 0 { bars[rank / 32].init(64); bars[rank / 32 + 2].init(64); }",
        "if rank == 0 { for i in 0..n { bars[i].init(64); } }",
        "if rank == 0 { for i in 0..input[0] { bars[i].init(64); } }",
        "if rank == 0 { for i in 0..flags[0] { bars[i].init(64); } }",
        "if rank == 0 { let set = |i: u32| bars[i].init(64); for i in 0..4 { set(i); } }",
        "if rank == 0 { for i in 0..2 { for k in 0..2 { bars[2 * i + k].init(64); } } }",
    ] {
        right(&[&then(init)]);
    }
    for init in [
        "if rank == 0 { for i in 0..3 { bars[i].init(64); } }",
        "if rank == 0 { for i in 1..4 { bars[i].init(64); } }",
        "if rank < 3 { bars[rank].init(64); }",
        "if rank > 0 && rank < 4 { bars[rank].init(64); }",
        "if rank == 0 { for i in (0..4).step_by(2) { bars[i].init(64); } }",
        "if rank == 0 { let mut i = 0; while i + 1 < 4 { bars[i].init(64); i += 1; } }",
        "if rank == 0 { let mut i = 0; loop { if i == 3 { break; } bars[i].init(64); i += 1; } }",
        "if rank == 0 { for i in 0..4 { if i % 2 == 0 { continue; } bars[i].init(64); } }",
        "if rank % 32 == 0 { bars[rank / 32].init(64); }",
        "if rank == 0 { let set = |i: u32| bars[i].init(64); for i in 0..3 { set(i); } }",
    ] {
        wrong("barrier_uninitialized", &[&then(init)]);
    }
    right(&["bars[1].init_collective(&block, 64); let i = 1; bars[i].arrive_and_wait();"]);
    wrong("barrier_uninitialized", &["bars[0].init_collective(&block, 64); let i = 1; bars[i].arrive_and_wait();"]);
    right(&["if rank == block.num_threads() - 1 { bar.init(64); } block.sync(); bar.arrive_and_wait();"]);
    wrong(
        "barrier_uninitialized",
        &[
            "if rank == block.num_threads() { bar.init(64); } block.sync(); bar.arrive_and_wait();",
            "if warp.meta_group_rank() == 2 && warp.thread_rank() == 0 { bar.init(64); } block.sync(); bar.arrive_and_wait();",
            "if rank == 0 { bars[0].init(64); bars[1].init(64); } block.sync(); for k in 0..n { bars[k % 3].arrive_and_wait(); }",
        ],
    );
}

/// A barrier is initialized once, whatever its index.
#[test]
fn some_are_initialized_again() {
    let rounds =
        |init: &str| format!("for k in 0..n {{ {init} block.sync(); bars[k % 4].arrive_and_wait(); block.sync(); }}");
    right(&[
        &rounds("if rank == 0 && k < 4 { bars[k].init(64); }"),
        &rounds("if rank == 0 && k / 4 == 0 { bars[k % 4].init(64); }"),
        "if rank == 0 { for k in 0..2 { bars[k].init(64); } for k in 2..4 { bars[k].init(64); } }",
        "if rank == 0 { for i in 0..4 { bars[i].init(64); } } block.sync(); if rank == 0 { for i in 0..4 { bars[i].invalidate(); bars[i].init(32); } }",
    ]);
    wrong(
        "barrier_reinit",
        &[
            &rounds("if rank == 0 { bars[k % 4].init(64); }"),
            &rounds("if rank == 0 && k != 2 { bars[k & 3].init(64); } else if rank == 0 { bars[2].init(64); }"),
            &rounds("if rank == k % 64 { bars[k % 4].init(64); }"),
            "if rank == 0 { for i in 0..4 { bars[i].init(64); } for i in 3..4 { bars[i].init(32); } }",
            "if rank == 0 { for i in 0..4 { bars[i / 2].init(64); } }",
            "bars.init_collective(&block, 64); if rank < 4 { bars[rank].init(64); }",
        ],
    );
}

/// A thread that has dropped out does not arrive in a later iteration.
#[test]
fn arrivals_in_later_iterations() {
    let rounds = |body: &str| format!("bar.init_collective(&block, 64); for k in 0..n {{ {body} }}");
    right(&[
        &rounds("if input[rank] == k { bar.arrive_and_drop(); break; } bar.arrive_and_wait();"),
        &rounds("if k < input[rank] { bar.arrive_and_wait(); } else if k == input[rank] { bar.arrive_and_drop(); }"),
        "bar.init_collective(&block, 64); let mut done = false;
         for k in 0..n { if !done { if input[rank] == k { bar.arrive_and_drop(); done = true; } else { bar.arrive_and_wait(); } } }",
        &rounds("if flags[rank] == k { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); }"),
    ]);
    // A thread that arrives twice in each round, and goes on after it has dropped out.
    wrong(
        "ring_count",
        &[
            "bar.init_collective(&block, 128); for k in 0..n { bar.arrive(); if input[rank] == k { bar.arrive_and_drop(); } else { bar.arrive(); } bar.wait_parity(k % 2 == 1); }",
        ],
    );
    wrong(
        "barrier_use_after_drop",
        &[
            &rounds("if input[rank] == k { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); }"),
            &rounds("if input[rank] >= k { bar.arrive_and_wait(); } else { bar.arrive_and_drop(); }"),
            "bar.init_collective(&block, 64); let mut done = false;
             for k in 0..n { if input[rank] == k { bar.arrive_and_drop(); done = true; } if !done || k > 2 { bar.arrive_and_wait(); } }",
            &rounds("match k { 1 => bar.arrive_and_drop(), _ => bar.arrive_and_wait() }"),
            "bars.init_collective(&block, 64); for k in 0..n { if k == 1 { bars[k % 4].arrive_and_drop(); } else { bars[k % 4].arrive_and_wait(); } }",
        ],
    );
}

/// The number of a tile's threads is known, and so is that of arrivals that count several times.
#[test]
fn counts_of_tiles_and_of_several_arrivals() {
    right(&[
        "bar.init_collective(&block, 2 * warp.num_threads()); bar.arrive_and_wait();",
        "bar.init_collective(&block, warp.num_threads()); if warp.meta_group_rank() == 0 { bar.arrive_and_wait(); }",
        "bar.init_collective(&block, 128); let t = bar.arrive_n(2); bar.wait(t);",
    ]);
    wrong(
        "barrier_count",
        &[
            "bar.init_collective(&block, warp.num_threads()); for _ in 0..3 { bar.arrive_and_wait(); }",
            "bar.init_collective(&block, warp.size()); let t = bar.arrive(); bar.wait(t);",
            "bar.init_collective(&block, 3 * warp.num_threads()); bar.arrive_and_wait();",
            "bar.init_collective(&block, block.num_threads()); let t = bar.arrive_n(2); bar.wait(t);",
            "bar.init_collective(&block, 96); let t = bar.arrive_n(2); bar.wait(t);",
        ],
    );
}

/// Threads that take one way use barriers by their ranks: each has to be initialized.
#[test]
fn barriers_of_ranks() {
    let of = |block: &str, init: &str, used: &str| {
        super::rules(&format!(
            "#[cluster_kernel(block = {block})] fn k(out: &mut [u32]) {{
                let block = this_thread_block();
                let at = block.thread_index();
                let bars = shared_barriers::<4>();
                if block.thread_rank() == 0 {{ for b in {init} {{ bars[b].init(32); }} }}
                block.sync();
                let tok = bars[{used}].arrive();
                bars[{used}].wait(tok);
            }}"
        ))
    };
    for (block, used) in [("(32, 4)", "at.y"), ("128", "block.thread_rank() / 32"), ("128", "block.thread_rank() >> 5")]
    {
        assert_eq!(of(block, "0..4", used), [""; 0], "{used}");
        assert_eq!(of(block, "0..3", used), ["barrier_uninitialized"], "{used}");
        assert_eq!(of(block, "1..4", used), ["barrier_uninitialized"], "{used}");
    }
}
