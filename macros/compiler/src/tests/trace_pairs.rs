//! Tests of what the threads of a launch do to each other: two writes, atomics, loops and branches that the text does not decide, and
//! copies that begin too early.

use super::rules;
use super::traces::{copied, in_block};

/// Two threads do not write different values to one element.
#[test]
fn two_writes() {
    for body in [
        "u[0] = t; block.sync(); out[t] = u[0];",
        "u[t] = 1; u[127 - t] = 2; block.sync(); out[t] = u[t];",
        "u[t / 2] = t; block.sync(); out[t] = u[t / 2];",
        "if warp.thread_rank() == 0 { u[0] = input[warp.meta_group_rank()]; } block.sync(); out[t] = u[0];",
        "u[0] = input[t]; block.sync(); out[t] = u[0];",
        "u[0] = warp.reduce(input[t], |a, b| a + b); block.sync(); out[t] = u[0];",
        "u[t % 32] = input[t]; block.sync(); out[t] = u[t % 32];",
    ] {
        assert_eq!(in_block(body), ["unsynchronized_access"], "{body}");
    }
    for body in [
        "u[0] = n; block.sync(); out[t] = u[0];",
        "u[0] = 7; block.sync(); out[t] = u[0];",
        "u[t] = 1; u[127 - t] = 1; block.sync(); out[t] = u[t];",
        "u[t / 2] = input[t / 2]; block.sync(); out[t] = u[t / 2];",
        "u[t % 32] = input[t % 32]; block.sync(); out[t] = u[t % 32];",
        "let v = input[t % 32] * 3; u[t % 32] = v; block.sync(); out[t] = u[t % 32];",
        "if t / 32 == 1 { u[0] = warp.reduce(input[t], |a, b| a + b); } block.sync(); out[t] = u[0];",
        "u[t / 32] = warp.reduce(input[t], |a, b| a + b); block.sync(); out[t] = u[0];",
        "u[t] = t; block.sync(); s[0] = u[5]; block.sync(); out[t] = s[0];",
        "s[0] = out[3]; block.sync(); out[t] = s[0];",
        "if input[t] > 5 { u[0] = t; } block.sync(); out[t] = u[0];",
        "u[0] = t; block.sync(); u[0] = 3; block.sync(); out[t] = u[0];",
    ] {
        let found = in_block(body);
        assert!(
            found.is_empty() || found == ["unsynchronized_access"] && body.contains("u[0] = t; block"),
            "{body}: {found:?}"
        );
    }
}

/// What an atomic of another thread writes is not in order with a read.
#[test]
fn atomics_and_reads() {
    let body = |sync: &str| {
        format!(
            "if t == 0 {{ u[0] = 0; }} block.sync(); u.atomic(0).fetch_add(input[t], Relaxed); {sync} out[t] = u[0];"
        )
    };
    assert_eq!(in_block(&body("")), ["unsynchronized_access"]);
    assert_eq!(in_block(&body("block.sync();")), [""; 0]);
}

/// One thread that learns from others does not tell them.
#[test]
fn one_way() {
    let body = |told: &str| {
        format!(
            "if t == 0 {{ while out.atomic(0).load(Acquire) == 0 {{}} u[0] = 7; {told} }}
            if t > 0 {{ while out.atomic(1).load(Acquire) == 0 {{}} out[t] = u[0]; }}"
        )
    };
    assert_eq!(in_block(&body("out.atomic(1).store(1, Release);")), [""; 0]);
    let waits = "if t == 0 { while out.atomic(0).load(Acquire) == 0 {} u[0] = 7; } out[t] = u[0];";
    assert_eq!(in_block(waits), ["unsynchronized_access"]);
}

/// Elements of any type are followed as a whole.
#[test]
fn elements_of_other_types() {
    let of_type = |ty: &str, body: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn pairs<T: Number>(x: &[{ty}], out: &mut [{ty}]) {{
                let block = this_thread_block(); let t = block.thread_rank(); let a = shared_array::<{ty}, 64>();
                {body}
            }}"
        ))
    };
    for ty in ["Pair", "T"] {
        assert_eq!(of_type(ty, "a[t] = x[t]; out[t] = a[(t + 1) % 64];"), ["unsynchronized_access"], "{ty}");
        assert!(of_type(ty, "a[t] = x[t]; block.sync(); out[t] = a[(t + 1) % 64];").is_empty(), "{ty}");
    }
    assert_eq!(of_type("Pair", "a[t].first = x[t].first; out[t].first = a[(t + 1) % 64].second;"), [""; 0]);
}

/// Where all threads of a block take one arm, whatever decides about it, those on the arm are compared.
#[test]
fn branches_on_data() {
    let under = |condition: &str, sync: &str| {
        in_block(&format!("if {condition} {{ s[t] = input[t]; {sync} out[t] = s[127 - t]; }}"))
    };
    for condition in ["out.len() > 7 && input[0] > 3", "input[n] == 9"] {
        assert_eq!(under(condition, ""), ["unsynchronized_access"], "{condition}");
        assert_eq!(under(condition, "block.sync();"), [""; 0], "{condition}");
    }
    let skipped = |sync: &str| {
        in_block(&format!(
            "for r in 0..4u32 {{
                let (first, last) = (input[r], input[r + 1]); if last - first <= n {{ continue; }}
                s[t] = input[t]; {sync} out[t] = s[127 - t]; block.sync();
            }}"
        ))
    };
    assert_eq!(skipped(""), ["unsynchronized_access"]);
    assert_eq!(skipped("block.sync();"), [""; 0]);
    // One of two branches decides that there is a barrier.
    let twice =
        "if input[0] > 3 { s[t] = 1; } if input[0] > 3 { block.sync(); } if input[0] > 3 { out[t] = s[127 - t]; }";
    assert_eq!(in_block(twice), [""; 0]);
}

/// A bulk copy begins when other threads have written its source, and they write it again when its thread has waited for the copy.
#[test]
fn sources_of_bulk_copies() {
    let stored = |sync: &str, wait: &str| {
        in_block(&format!(
            "for k in 0..4u32 {{
                s[t] = t + k; {sync}
                if t == 0 {{ bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &s); }}
                {wait}
            }}
            if t == 0 {{ bulk_wait_group::<0>(); }}"
        ))
    };
    let wait = "if t == 0 { bulk_wait_group_read::<0>(); } block.sync();";
    assert_eq!(stored("block.sync();", wait), [""; 0]);
    assert_eq!(stored("", wait), ["unsynchronized_access"]);
    assert_eq!(stored("block.sync();", "if t == 0 { bulk_wait_group_read::<0>(); }"), ["unsynchronized_access"]);
    let ring = |wait: &str, sync: &str| {
        copied(&format!(
            "for k in 0..6u32 {{
                {wait} {sync}
                t[k % 2][i] = i; block.sync();
                if i == 0 {{ bulk_copy_async(&mut out[k * 128..(k + 1) * 128], &t[k % 2]); }}
            }}
            if i == 0 {{ bulk_wait_group::<0>(); }}"
        ))
    };
    let wait = |left: u32| format!("if i == 0 {{ bulk_wait_group_read::<{left}>(); }}");
    assert_eq!(ring(&wait(1), "block.sync();"), [""; 0]);
    assert_eq!(ring(&wait(2), "block.sync();"), ["unsynchronized_access"]);
    assert_eq!(ring(&wait(1), ""), ["unsynchronized_access"]);
    let others = "if i == 64 { bulk_wait_group_read::<0>(); }";
    assert_eq!(ring(others, "block.sync();").last().map(String::as_str), Some("unsynchronized_access"));
    let sent = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn sends(out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (i, peer) = (block.thread_rank(), 1 - cluster.block_rank());
                let (a, b) = (shared_array::<u32, 64>(), shared_array::<u32, 64>());
                let bar = shared_cluster_barrier(); bar.init_collective(&cluster, 1);
                a[i] = i; {sync}
                if i == 0 {{
                    bar.expect_tx(256); let _ = bar.arrive();
                    bulk_copy_async(&cluster.map_shared_rank(&b, peer), &a, &cluster.map_shared_rank(&bar, peer));
                }}
                bar.wait_parity(false);
                out[cluster.thread_rank()] = b[i];
                cluster.sync();
            }}"
        ))
    };
    assert_eq!(sent("block.sync();"), [""; 0]);
    // What lies in shared memory until the copy has landed is a slot of a ring.
    assert_eq!(sent(""), ["ring_overwrite"]);
}

/// What a group that is smaller than the block has copied is another warp's after a barrier of the block.
#[test]
fn copies_of_smaller_groups() {
    let own = |sync: &str| {
        in_block(&format!(
            "let own = tiled_partition::<1>(&block); let a = shared_array::<u32, 512>();
            memcpy_async(&own, &a[t * 4..t * 4 + 4], &input[t * 4..t * 4 + 4]); own.wait_async(); {sync}
            out[t] = a[(t * 4 + 4) % 512];"
        ))
    };
    assert_eq!(own("block.sync();"), [""; 0]);
    assert_eq!(own(""), ["unsynchronized_access"]);
    let warps = |sync: &str| {
        in_block(&format!(
            "let a = shared_array::<[u32; 128], 4>(); let w = warp.meta_group_rank();
            memcpy_async(&warp, &a[w], &input[w * 128..w * 128 + 128]); warp.wait_async(); {sync}
            out[t] = a[3 - w][warp.thread_rank()];"
        ))
    };
    assert_eq!(warps("block.sync();"), [""; 0]);
    assert_eq!(warps(""), ["unsynchronized_access"]);
}

/// A loop whose end the text does not show has a few iterations, which all threads of the block have together.
#[test]
fn loops_of_unknown_length() {
    let queue = |taken: &str, used: &str| {
        let body = format!(
            "let head = shared_array::<u32, 1>();
            loop {{
                if t == 0 {{ head[0] = out.atomic(0).fetch_add(1, Relaxed); }}
                {taken}
                let job = head[0];
                if job >= n {{ break; }}
                let mut k = t; while k < input[job] {{ out.atomic(k).fetch_add(1, Relaxed); k += 128; }}
                {used}
            }}"
        );
        in_block(&body)
    };
    assert_eq!(queue("block.sync();", "block.sync();"), [""; 0]);
    // Thread 0 overwrites what the others may not have read, so that the barriers of the loop are not theirs together.
    assert_eq!(queue("block.sync();", ""), ["divergent_collective"]);
    let sums = |first: &str, second: &str| {
        let body = format!(
            "let mut k = 0; while k < input[0] {{
                let v = warp.reduce(input[k * 128 + t], |a, b| a + b);
                if warp.thread_rank() == 0 {{ u[t / 32] = v; }}
                {first}
                if t == 0 {{ out[k] = u[0] + u[1] + u[2] + u[3]; }}
                {second}
                k += 1;
            }}"
        );
        in_block(&body)
    };
    assert_eq!(sums("block.sync();", "block.sync();"), [""; 0]);
    assert_eq!(sums("block.sync();", ""), ["unsynchronized_access"]);
    assert_eq!(sums("", "block.sync();"), ["unsynchronized_access"]);
    // What ends the loop may tell of what the other did.
    let told = |order: &str| {
        in_block(&format!(
            "let flag = shared_array::<u32, 1>(); flag.atomic(0).store(0, Relaxed); block.sync();
            if t == 0 {{ s[5] = 1; flag.atomic(0).store(1, {order}); }}
            while block.uniform(flag.atomic(0).load(Acquire) == 0) {{ block.sync(); }}
            out[t] = s[5];"
        ))
    };
    assert_eq!(told("Release"), [""; 0]);
}

/// Relaxed atomics order nothing.
#[test]
fn relaxed_atomics() {
    let spins = |order: &str, sync: &str| {
        in_block(&format!(
            "if t == 0 {{
                let mut sum = 0;
                loop {{ let state = out.atomic(1).load({order}); if state == 0 {{ continue; }} sum += state; if state > 7 {{ break; }} }}
                u[0] = sum;
            }}
            {sync} out[t] = u[0];"
        ))
    };
    assert_eq!(spins("Relaxed", "block.sync();"), [""; 0]);
    assert_eq!(spins("Relaxed", ""), ["unsynchronized_access"]);
}

/// Elements of a slice that the host passes, and two blocks of a grid that has a barrier.
#[test]
fn elements_of_parameters() {
    for (body, sync) in [
        ("out[t] = input[t]; SYNC let x = out[127 - t]; out[128 + t] = x;", "block.sync();"),
        ("if t == 0 { out[3] = 7; } SYNC s[t] = out[3]; block.sync(); out[128 + t] = s[127 - t];", "block.sync();"),
        ("if out[t] > out[t + 1] { s[t] = 1; } SYNC out[t] = s[127 - t];", "block.sync();"),
    ] {
        assert_eq!(in_block(&body.replace("SYNC", "")), ["unsynchronized_access"], "{body}");
        assert_eq!(in_block(&body.replace("SYNC", sync)), [""; 0], "{body}");
    }
    // All threads have the same sum, and what an index from memory meets is unknown.
    for body in [
        "let mut x = input[t]; for k in 0..5u32 { x += warp.shfl_xor(x, 16 >> k); } out[t / 32] = x;",
        "out[input[t]] = t;",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
    let in_grid = |sync: &str, last: &str| {
        in_block(&format!(
            "let grid = this_grid(); let all = grid.num_threads(); let g = grid.thread_rank();
            out[g] = input[g]; {sync} let x = out[(g + all / 2) % all]; {last} out[g] = x;"
        ))
    };
    assert_eq!(in_grid("grid.sync();", "grid.sync();"), [""; 0]);
    assert_eq!(in_grid("block.sync();", "grid.sync();"), ["unsynchronized_access"]);
    assert_eq!(in_grid("grid.sync();", "block.sync();"), ["unsynchronized_access"]);
    // It may be for a grid of one block.
    assert_eq!(in_grid("block.sync();", "block.sync();"), [""; 0]);
}

/// A test of a phase tells a thread nothing if nobody asks for the result.
#[test]
fn tests_of_phases() {
    let tried = |test: &str| {
        in_block(&format!(
            "let bar = shared_barrier(); bar.init_collective(&block, 128);
            s[t] = input[t]; let token = bar.arrive(); {test} out[t] = s[127 - t];"
        ))
    };
    assert_eq!(tried("let _ = bar.try_wait(&token);"), ["unsynchronized_access"]);
    assert_eq!(tried("while !bar.try_wait(&token) {}"), [""; 0]);
}

/// What a sort does wrong in its last and widest steps alone is behind all others.
#[test]
fn late_steps_of_a_sort() {
    let sorted = |meets: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)] fn sort(data: &mut [u32]) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let i = block.thread_rank();
                let keys = shared_array::<u32, 256>();
                keys[i] = data[i];
                keys[i + 128] = data[i + 128];
                block.sync();
                let mut size = 2;
                while size <= 256 {{
                    let mut stride = size / 2;
                    while stride > 0 {{
                        let low = 2 * i - (i & (stride - 1));
                        let (a, b) = (keys[low], keys[low + stride]);
                        if (a > b) == (low & size == 0) {{ keys[low] = b; keys[low + stride] = a; }}
                        {meets}
                        stride /= 2;
                    }}
                    size *= 2;
                }}
                data[i] = keys[i];
                data[i + 128] = keys[i + 128];
                warp.sync();
            }}"
        ))
    };
    for right in ["block.sync();", "if stride != 2 { block.sync(); } else { warp.sync(); }"] {
        assert_eq!(sorted(right), [""; 0], "{right}");
    }
    for wrong in [
        "warp.sync();",
        "if stride > 32 { block.sync(); } else { warp.sync(); }",
        "if size < 256 || stride > 64 { block.sync(); } else { warp.sync(); }",
        "if stride < 64 { block.sync(); } else { warp.sync(); }",
    ] {
        assert_eq!(sorted(wrong), ["unsynchronized_access"], "{wrong}");
    }
}

/// A copy out of a row lasts until its thread has waited, wherever the lanes of the warp meet before.
#[test]
fn rows_of_warps_that_are_stored() {
    let stored = |waits: &str, meets: &str, met: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)] fn rows(a: &[f32], out: &mut [f32], tiles: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let (i, lane) = (block.thread_rank(), warp.thread_rank());
                let rows = shared_array::<[f32; 32], 4>();
                for tile in 0..tiles {{
                    let x = a[tile * 128 + i];
                    {waits}
                    {meets}
                    rows[warp.meta_group_rank()][lane] = x;
                    {met}
                    if lane == 0 {{
                        let at = tile * 128 + i;
                        bulk_copy_async(&mut out[at..at + 32], &rows[warp.meta_group_rank()]);
                    }}
                }}
                if lane == 0 {{ bulk_wait_group_read::<0>(); }}
            }}"
        ))
    };
    let (waits, meets) = ("if lane == 0 { bulk_wait_group_read::<0>(); }", "warp.sync();");
    assert_eq!(stored(waits, meets, meets), [""; 0]);
    for (waits, before, after) in [
        ("", meets, meets),
        ("if lane == 1 { bulk_wait_group_read::<0>(); }", meets, meets),
        ("if lane == 0 { bulk_wait_group_read::<1>(); }", meets, meets),
        (waits, "", meets),
        (waits, meets, ""),
    ] {
        assert_eq!(stored(waits, before, after), ["unsynchronized_access"], "{waits} {before} {after}");
    }
}

/// What warps count in bins of their own, at indexes that come from memory, other warps read behind a barrier of the block.
#[test]
fn bins_of_warps() {
    let counted = |cleared: &str, counted: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 256)] fn hist(data: &[u32], bins: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let i = block.thread_rank();
                let own = shared_array::<[u32; 32], 8>();
                own[i / 32][i % 32] = 0;
                {cleared}
                for k in (i..n).step_by(256) {{ own[i / 32].atomic(data[k] % 32).fetch_add(1, Relaxed); }}
                {counted}
                let mut sum = 0;
                for w in 0..8 {{ sum += own[w][i % 32]; }}
                if i < 32 {{ bins.atomic(i).fetch_add(sum, Relaxed); }}
                warp.sync();
            }}"
        ))
    };
    let (of_warp, of_block) = ("warp.sync();", "block.sync();");
    assert_eq!(counted(of_warp, of_block), [""; 0]);
    assert_eq!(counted(of_block, of_warp), ["unsynchronized_access"]);
    assert_eq!(counted("", of_block), ["unsynchronized_access"]);
}

/// In a large cluster as in a pair: what the warps of a block tell each other.
#[test]
fn within_a_block_of_a_large_cluster() {
    for blocks in [2, 4, 8] {
        let kernel = |sync: &str| {
            rules(&format!(
                "#[cluster_kernel(cluster = {blocks}, block = 128)]
                fn scan(input: &[u32], out: &mut [u32]) {{
                    let (cluster, block) = (this_cluster(), this_thread_block());
                    let warp = tiled_partition::<32>(&block);
                    let (totals, all) = (shared_array::<u32, 4>(), shared_array::<u32, 1>());
                    let i = this_grid().thread_rank();
                    let sum = warp.inclusive_scan(input[i], op::Plus);
                    if warp.thread_rank() == 31 {{ totals[warp.meta_group_rank()] = sum; }}
                    {sync}
                    let mut before = 0;
                    for w in 0..warp.meta_group_rank() {{ before += totals[w]; }}
                    if block.thread_rank() == 127 {{ all[0] = before + sum; }}
                    cluster.sync();
                    for r in 0..cluster.block_rank() {{ before += cluster.map_shared_rank(&all, r)[0]; }}
                    out[i] = before + sum;
                    cluster.sync();
                }}"
            ))
        };
        assert_eq!(kernel(""), ["unsynchronized_access"], "{blocks} blocks");
        assert_eq!(kernel("block.sync();"), [""; 0], "{blocks} blocks");
    }
}
