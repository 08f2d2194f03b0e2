//! Tests of blocks that tell another one at a phase barrier that they are done with its memory.

use super::rules;

/// Returns the rules that a kernel breaks.
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 4, block = 32)]
        fn kernel(x: &[u32], out: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let me = cluster.block_rank();
            let t = block.thread_rank();
            let s = shared_array::<[u32; 32], 4>();
            let done = shared_cluster_barrier();
            {body}
            cluster.sync();
        }}"
    ))
}

/// Checks that a kernel is right, and wrong with each other text in the place of one.
#[track_caller]
fn right_but_not_with(body: &str, changes: &[(&str, &str)]) {
    assert_eq!(broken(body), [""; 0], "{body}");
    for (word, other) in changes {
        assert!(body.contains(word), "{word} in {body}");
        let wrong = body.replace(word, other);
        assert!(!broken(&wrong).is_empty(), "{wrong}");
    }
}

#[test]
fn all_tell_one() {
    right_but_not_with(
        "done.init_collective(&cluster, 128);
        cluster.map_shared_rank(&s, 0)[me][t] = x[t];
        cluster.map_shared_rank(&done, 0).arrive();
        if me == 0 { done.wait_parity(false); out[t] = s[1][t] + s[2][t]; }",
        &[
            ("128", "32"),
            ("128", "127"),
            ("wait_parity(false)", "wait_parity(true)"),
            // After the arrival, by some of the threads, and for other threads than those that wait.
            (".arrive();", ".arrive(); cluster.map_shared_rank(&s, 0)[me][31 - t] = 1;"),
            (
                "cluster.map_shared_rank(&done, 0).arrive();",
                "if t < 16 { cluster.map_shared_rank(&done, 0).arrive(); }",
            ),
            ("if me == 0 { done.wait_parity(false);", "{ if t == 0 { done.wait_parity(false); }"),
            ("if me == 0 { done.wait_parity(false);", "if me == 0 { done.wait_parity(false); } {"),
            (
                "cluster.map_shared_rank(&done, 0).arrive();",
                "for _ in 0..n { cluster.map_shared_rank(&done, 0).arrive(); }",
            ),
        ],
    );
    right_but_not_with(
        "done.init_collective(&cluster, cluster.num_threads());
        s[0][t] = x[t];
        cluster.map_shared_rank(&done, 2).arrive();
        if me == 2 { done.wait_parity(false); out[t] = cluster.map_shared_rank(&s, 1)[0][t]; }",
        &[
            ("cluster.num_threads()", "block.num_threads()"),
            ("out[t] =", "} if me == 3 { out[t] ="),
            ("s[0][t] = x[t];", "if me == 1 { cluster.map_shared_rank(&done, 2).arrive(); } s[0][t] = x[t];"),
        ],
    );
}

#[test]
fn one_thread_tells_for_its_block() {
    right_but_not_with(
        "done.init_collective(&cluster, cluster.num_blocks());
        cluster.map_shared_rank(&s, 0)[me][t] = x[t];
        block.sync();
        if t == 0 { cluster.map_shared_rank(&done, 0).arrive(); }
        if me == 0 { done.wait_parity(false); for r in 0..4 { out[t] += s[r][t]; } }",
        &[
            ("cluster.num_blocks()", "1"),
            ("cluster.num_blocks()", "3"),
            ("block.sync();", ""),
            ("block.sync();", "block.sync(); cluster.map_shared_rank(&s, 0)[me][31 - t] = 1;"),
            ("if t == 0 { cluster", "if t < 2 { cluster"),
            ("if t == 0 { cluster", "if t == x[0] { cluster"),
        ],
    );
}

#[test]
fn all_tell_each() {
    right_but_not_with(
        "done.init_collective(&cluster, cluster.num_threads());
        for r in 0..cluster.num_blocks() {
            cluster.map_shared_rank(&s, r)[me][t] = x[t];
            cluster.map_shared_rank(&done, r).arrive();
        }
        done.wait_parity(false);
        out[t] = s[0][t] + s[3][t];",
        &[
            ("cluster.num_threads()", "block.num_threads()"),
            ("for r in 0..", "for r in 1..1 + "),
            ("cluster.map_shared_rank(&s, r)", "cluster.map_shared_rank(&s, (r + 1) % 4)"),
            ("done, r).arrive();", "done, r).arrive(); cluster.map_shared_rank(&s, r)[me][31 - t] = 1;"),
            ("done, r).arrive();", "done, r).arrive(); cluster.map_shared_rank(&s, 0)[me][31 - t] = 1;"),
        ],
    );
}

#[test]
fn each_tells_its_neighbour() {
    let kernel = |to: &str, tells: &str| {
        format!(
            "done.init_collective(&cluster, block.num_threads());
            cluster.map_shared_rank(&s, {to})[0][t] = x[t];
            cluster.map_shared_rank(&done, {tells}).arrive();
            done.wait_parity(false);
            out[t] = s[0][31 - t];"
        )
    };
    for to in
        ["(me + 1) % 4", "(me + 3) % cluster.num_blocks()", "(me + cluster.num_blocks() - 1) % cluster.num_blocks()"]
    {
        right_but_not_with(
            &kernel(to, to),
            &[("block.num_threads()", "16"), ("block.num_threads()", "cluster.num_threads()")],
        );
    }
    assert!(!broken(&kernel("(me + 1) % 4", "(me + 3) % 4")).is_empty());
    // Two blocks tell one, and none another.
    assert!(!broken(&kernel("2 * me % 4", "2 * me % 4")).is_empty());
    assert!(!broken(&kernel("me / 2", "me / 2")).is_empty());
}
