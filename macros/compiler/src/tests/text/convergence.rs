//! Tests that whole warps make together, in kernels whose threads meet.

use super::text;

/// Returns the body of a kernel of warps.
#[track_caller]
fn printed(body: &str) -> String {
    let kernel = format!(
        "#[cluster_kernel(block = 64)] fn subject(x: &[f32], out: &mut [f32], count: &mut [u32], n: u32) {{
            let block = this_thread_block(); let tile = shared_array::<f32, 64>(); let t = block.thread_rank(); {body}
        }}"
    );
    text(&kernel, |_| None)
}

#[track_caller]
fn is_together(body: &str) -> bool {
    printed(body).contains("require_of_warp(")
}

#[test]
fn a_test_before_a_barrier_is_one_of_whole_warps() {
    assert!(is_together("tile[t] = x[t]; block.sync(); out[t] = tile[63 - t];"));
    assert!(is_together(
        "if t / 32 == 1 { tile[t] = x[t]; tile[t - 32] = x[t]; } block.sync(); out[t] = tile[63 - t];"
    ));
    assert!(is_together("if n > 3 { tile[t] = x[t] + x[n]; } block.sync();"));
    // They meet at the barrier, before which the test stands.
    assert!(is_together("block.sync(); out[t] = x[t] + x[n];"));
    assert!(is_together("let warp = tiled_partition::<32>(&block); let v = x[t]; out[t] = warp.reduce(v, op::Plus);"));
    // The barrier of the round before comes after the access.
    assert!(is_together("for k in 0..n { block.sync(); tile[t] = x[t]; }"));
}

#[test]
fn threads_of_a_warp_that_are_apart_have_tests_of_their_own() {
    assert!(!is_together("if t < n { tile[t] = x[t] + x[n]; } block.sync();"));
    assert!(!is_together("for k in 0..t { tile[t] = x[k] + x[t]; } block.sync();"));
    assert!(!is_together(
        "let at = |k: u32| { let mut v = x[k]; v += x[k + 1] * x[k + 2]; v }; tile[t] = at(t); block.sync();"
    ));
    // Some are in the copy of the loop without checks, and some in the other.
    assert!(!is_together("for k in t..n { tile[t] = x[k] + x[k + 1] * x[k]; } block.sync();"));
    let loops = printed("tile[t] = 0.0; for k in t..n { tile[t] += x[k]; } block.sync();");
    assert!(!loops.contains("all_of_warp"), "{loops}");
}

#[test]
fn nothing_comes_of_it_where_no_threads_meet_afterwards() {
    assert!(!is_together("out[t] = x[t] + x[n];"));
    assert!(!is_together("block.sync(); fence(Release, Scope::Device); out[t] = x[t] + x[n];"));
}

/// A thread that waits, before the test, for what another one does after it would wait forever.
#[test]
fn threads_that_may_wait_for_others_of_their_warp() {
    let after = "tile[t] = x[t] + x[n]; block.sync();";
    assert!(!is_together(&format!("while count.atomic(0).load(Relaxed) == 0 {{}} {after}")));
    assert!(!is_together(&format!("loop {{ if count.atomic(0).load(Relaxed) == 1 {{ break; }} }} {after}")));
    assert!(!is_together(&format!("helper(|| count.atomic(0).load(Relaxed)); {after}")));
    assert!(is_together(&format!("count.atomic(0).fetch_add(1, Relaxed); {after}")));
    assert!(!is_together(&format!("let bar = shared_barrier(); bar.init_collective(&block, 64); {after}")));
}

/// What a function does is not known where it is called: the runtime leaves the ending out if its threads meet or wait.
#[test]
fn calls_of_functions_in_which_threads_may_meet() {
    let of = |body: &str| {
        let kernel = format!(
            "#[cluster_kernel(block = 64)] fn subject(x: &[f32], out: &mut [f32], n: u32) {{
                let block = this_thread_block(); let t = block.thread_rank();
                let warp = tiled_partition::<32>(&block); {body}
            }}"
        );
        text(&kernel, |kind| (kind == "Alone").then(|| "<alone>".to_string()))
    };
    let run = of("let v = helper(x[t] + x[n]); out[t] = warp.reduce(v, op::Plus);");
    assert!(run.contains("require<alone>_of_warp(within(x, t)"), "{run}");
    let tested = of("for k in 0..n { out[k] = warp.reduce(helper(x[k]), op::Plus); }");
    assert!(tested.contains("<alone>if (<alone>all_of_warp(covers("), "{tested}");
    // What a closure does that makes an array is known.
    for v in ["x[t] + x[n]", "[x[t], x[n]].map(|x| x * 3.0)[1]"] {
        let none = of(&format!("let v = {v}; out[t] = warp.reduce(v, op::Plus);"));
        assert!(none.contains("require_of_warp(") && !none.contains("<alone>"), "{none}");
    }
    let fails =
        of("let [v, _] = std::array::from_fn(|k| x[k + n as usize]); out[t] = warp.reduce(v, op::Plus) + x[n];");
    assert!(!fails.contains("of_warp("), "{fails}");
}

#[test]
fn where_the_rules_of_convergence_are_waived_nothing_is_known() {
    let kernel = "#[cluster_kernel(block = 64, unchecked(divergent_collective))]
        fn subject(x: &[f32], out: &mut [f32]) {
            let block = this_thread_block(); let t = block.thread_rank();
            let v = x[t] + x[t + 1]; if v > 0.0 { block.sync(); } block.sync(); out[t] = v;
        }";
    assert!(!text(kernel, |_| None).contains("of_warp"));
    assert!(
        !text(
            "#[device] fn subject(block: &ThreadBlock, x: &[f32]) -> f32 {
        let v = x[block.thread_rank()] + x[0]; block.sync(); v }",
            |_| None
        )
        .contains("of_warp")
    );
}

#[test]
fn loops_whose_test_is_one_of_whole_warps() {
    let rounds =
        printed("for k in 0..n { tile[t] = x[k * 64 + t]; block.sync(); out[t] = tile[63 - t]; block.sync(); }");
    assert!(rounds.contains("const bool all_within = all_of_warp("), "{rounds}");
    assert!(rounds.contains("if (!all_within) {\n            require_of_warp("), "{rounds}");
    // Where threads of the warp meet, it runs one of two copies; where those of the block do, there is one.
    let meets = printed(
        "let warp = tiled_partition::<32>(&block); for k in 0..n { tile[t] = warp.shfl(x[k * 64 + t], 3); } block.sync();",
    );
    assert!(meets.contains("if (all_of_warp(covers("), "{meets}");
    assert_eq!(meets.matches("warp.shfl(").count(), 2, "{meets}");
    let vectors = printed(
        "let warp = tiled_partition::<32>(&block); for k in 0..n { tile[t] = warp.shfl(x.load_vec::<4>(k * 64)[0], 3); } block.sync();",
    );
    assert!(vectors.contains("const bool all_within = all_of_warp(") && !vectors.contains("unclamped("), "{vectors}");
    let apart = printed(
        "let warp = tiled_partition::<32>(&block); if x[t] > 0.5 { for k in 0..n { out[t] = x[k * 64 + t]; } } out[t] = warp.shfl(x[0], 3);",
    );
    assert!(!apart.contains("all_of_warp(covers("), "{apart}");
    let twice = printed("let mut sum = 0.0; for k in 0..n { sum += x[k * 64 + t]; } tile[t] = sum; block.sync();");
    let both = "if (all_of_warp(covers(x, values_of(steps) * 64 + t) && holds(within(tile, t)))) {";
    assert!(twice.contains(both), "{twice}");
    assert!(twice.contains("require_of_warp(within(x, k * 64 + t));"), "{twice}");
    let counting = printed(
        "let mut sum = 0.0; let mut k = t / 32; while k < n { sum += x[k]; k += 1; } tile[t] = sum; block.sync();",
    );
    assert!(counting.contains("if (all_of_warp(is_counting(steps) && "), "{counting}");
}
