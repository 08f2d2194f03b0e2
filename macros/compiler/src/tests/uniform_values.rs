//! Tests of values that are uniform in a group because of the sizes that the attribute fixes.

use super::rules;

/// A rank in the grid, divided by the size of the cluster or the block, is the same for all of its threads.
#[test]
fn quotients_of_ranks() {
    let broken = |attribute: &str, rank: &str, group: &str| {
        rules(&format!(
            "#[cluster_kernel({attribute})]
            fn rows(out: &mut [u32], rows: usize) {{
                if this_grid().{rank} >= rows {{ return; }}
                {group}().sync();
            }}"
        ))
    };
    let (cluster, block) = ("this_cluster", "this_thread_block");
    for (attribute, rank, group) in [
        ("cluster = 4, block = 64", "block_rank() / 4", cluster),
        ("cluster = 4, block = 64", "block_rank() / 8", cluster),
        ("cluster = BLOCKS, block = 64", "block_rank() / BLOCKS", cluster),
        ("block = 64", "thread_rank() / 64", block),
        ("block = 64", "thread_rank() / 128", block),
        ("block = THREADS", "thread_rank() / THREADS", block),
    ] {
        assert!(broken(attribute, rank, group).is_empty(), "{attribute}: {rank}");
    }
    for (attribute, rank, group) in [
        ("cluster = 4, block = 64", "block_rank() / 2", cluster),
        ("cluster = 4, block = 64", "block_rank() / 6", cluster),
        ("cluster = (2, 2), block = 64", "block_rank() / 4", cluster),
        ("cluster = BLOCKS, block = 64", "block_rank() / OTHERS", cluster),
        ("cluster = 4, block = 64", "block_rank() % 4", cluster),
        ("block = 64", "thread_rank() / 32", block),
        ("block = 64", "thread_rank() / THREADS", block),
        ("", "thread_rank() / 64", block),
    ] {
        assert_eq!(broken(attribute, rank, group), ["divergent_exit"], "{attribute}: {rank}");
    }
}

/// The rules that a kernel of this attribute and body breaks, with a block, its warps, a rank, and memory.
fn broken(attribute: &str, body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel({attribute})]
        fn f(x: &[u32], out: &mut [u32], n: u32, m: usize) {{
            let cluster = this_cluster();
            let grid = this_grid();
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let lane = warp.thread_rank();
            let t = block.thread_rank();
            {body}
        }}"
    ))
}

/// All threads of a group make as many trips through a loop whose start is below a number that divides its end and its step.
#[test]
fn rounded_loops() {
    let body = |range: &str, collective: &str| format!("for i in {range} {{ {collective} }}");
    let (block, warp, grid, cluster) =
        ("block.sync();", "out[0] = warp.reduce(x[i], op::Plus);", "grid.sync();", "cluster.sync();");
    for (attribute, range, collective) in [
        ("block = 64", "(t..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(t as usize..x.len().next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(t..n.div_ceil(64) * 64).step_by(64)", block),
        ("block = 64", "(t..n / 64 * 64).step_by(64)", block),
        ("block = 64", "(t..n * 64).step_by(64)", block),
        ("block = 64", "(t..(n + 63) & !63).step_by(64)", block),
        ("block = 64", "(t..n << 6).step_by(64)", block),
        ("block = 64", "(t..256).step_by(64)", block),
        ("block = 64", "(t..256).step_by(64).rev()", block),
        ("block = 64", "(t * 4..n.next_multiple_of(256)).step_by(256)", block),
        ("block = 64", "(t..n.next_multiple_of(128)).step_by(64)", block),
        ("block = 64", "(t..n.next_multiple_of(128)).step_by(128)", block),
        ("block = 64", "(block.thread_index().x..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 96", "(t as usize..x.len().next_multiple_of(96)).step_by(96)", block),
        ("block = 96", "(t as usize..x.len().div_ceil(96) * 96).step_by(96)", block),
        ("block = 64", "(t..n.next_multiple_of(block.num_threads())).step_by(block.num_threads())", block),
        (
            "",
            "(t as usize..x.len().next_multiple_of(block.num_threads() as usize)).step_by(block.num_threads() as usize)",
            block,
        ),
        ("block = 64", "(lane..n.next_multiple_of(32)).step_by(32)", warp),
        ("block = 64", "(t % 32..n.next_multiple_of(32)).step_by(32)", warp),
        ("block = 64", "(t & 31..n.next_multiple_of(32)).step_by(32)", warp),
        ("block = 64", "(t..n.next_multiple_of(32)).step_by(64)", warp),
        ("block = 64", "(grid.thread_rank()..m.next_multiple_of(64)).step_by(grid.num_threads())", block),
        ("block = 64", "(grid.thread_rank()..m.next_multiple_of(64)).step_by(64 * grid.num_blocks())", block),
        (
            "block = 64",
            "(grid.block_rank() * 64 + t as usize..m.next_multiple_of(64)).step_by(64 * grid.num_blocks())",
            block,
        ),
        ("cluster = 2, block = 64", "(cluster.thread_rank()..n.next_multiple_of(128)).step_by(128)", cluster),
        (
            "cluster = 2, block = 64",
            "(grid.thread_rank()..m.next_multiple_of(128)).step_by(grid.num_threads())",
            cluster,
        ),
        (
            "block = 64",
            "(grid.thread_rank()..x.len().next_multiple_of(grid.num_threads())).step_by(grid.num_threads())",
            grid,
        ),
    ] {
        let found = broken(attribute, &body(range, collective));
        assert!(found.iter().all(|rule| rule != "divergent_collective"), "{attribute}: {range}: {found:?}");
    }
    for (attribute, range, collective) in [
        // The end is no multiple.
        ("block = 64", "(t..n).step_by(64)", block),
        ("block = 64", "(t..n.next_multiple_of(32)).step_by(64)", block),
        ("block = 64", "(t..n.next_multiple_of(64) + 1).step_by(64)", block),
        ("block = 64", "(t..n.next_multiple_of(64) - 32).step_by(64)", block),
        ("block = 64", "(t..n & !31).step_by(64)", block),
        ("block = 64", "(t..=n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(t..n.div_ceil(64) * 32).step_by(64)", block),
        // Neither is the step.
        ("block = 64", "(t..n.next_multiple_of(64)).step_by(32)", block),
        ("block = 64", "(t..n.next_multiple_of(64)).step_by(n)", block),
        ("block = 64", "t..n.next_multiple_of(64)", block),
        // The start is not below it.
        ("block = 128", "(t..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(t + 1..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(2 * t..n.next_multiple_of(64)).step_by(64)", block),
        ("", "(t..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(grid.thread_rank()..m.next_multiple_of(64)).step_by(64)", cluster),
        ("block = 64", "(cluster.thread_rank()..n.next_multiple_of(64)).step_by(64)", cluster),
        ("block = 64", "(x[t]..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(x[t] * 64 + t..n.next_multiple_of(64)).step_by(64)", block),
        ("block = 64", "(lane..x[t].next_multiple_of(32)).step_by(32)", warp),
        ("block = 128", "(t / 2..n.next_multiple_of(32)).step_by(32)", block),
        // A sum or a product may wrap around, so that a multiple of 96 is none.
        ("block = 96", "(t..n.next_multiple_of(96)).step_by(96)", block),
        ("block = 96", "(t..n * 96).step_by(96)", block),
        // A remainder of what may be negative is below zero.
        ("block = 64", "((x[t] as i32) % 64..(n as i32).next_multiple_of(64)).step_by(64)", block),
    ] {
        let found = broken(attribute, &body(range, collective));
        assert!(found.contains(&"divergent_collective".to_owned()), "{attribute}: {range}: {found:?}");
    }
}

/// A rank is below a multiple of its group's size for all threads of the group, or for none.
#[test]
fn bounds_of_ranks() {
    let body = |condition: &str, collective: &str| format!("if {condition} {{ {collective} }}");
    let (warp, block) = ("out[0] = warp.reduce(x[t], op::Plus);", "block.sync();");
    for (condition, collective) in [
        ("t < n * 32", warp),
        ("n * 32 > t", warp),
        ("t >= 32 * n", warp),
        ("32 * n <= t", warp),
        ("t < n.next_multiple_of(32)", warp),
        ("t < n << 5", warp),
        ("t < n / 32 * 32", warp),
        ("t < (n + 31) & !31", warp),
        ("t / 32 < n", warp),
        ("grid.thread_rank() < m * 32", warp),
        ("grid.thread_rank() < m * 64", block),
        ("grid.thread_rank() < m.next_multiple_of(64)", block),
        ("grid.thread_rank() / block.num_threads() as usize == m", block),
        ("cluster.thread_rank() / 64 == n", block),
        ("t < n * 64", block),
    ] {
        let found = broken("block = 64", &body(condition, collective));
        assert!(found.is_empty(), "{condition}: {found:?}");
    }
    for (condition, collective) in [
        ("t < n * 16", warp),
        ("t < n * 48", warp),
        ("t < n", warp),
        ("t < n * 32 + 1", warp),
        ("t <= n * 32", warp),
        ("t < n * 32 - 16", warp),
        ("t == n * 32", warp),
        ("t < x[t] * 32", warp),
        ("t + 1 < n * 32", warp),
        ("2 * t < n * 32", warp),
        ("t < n & !15", warp),
        ("t < n << 4", warp),
        ("t < n * 32", block),
        ("grid.thread_rank() < m * 32", block),
        ("grid.thread_rank() / 96 == m", block),
        ("(grid.thread_rank() as u8) / 64 == 0", block),
        ("((t as i64 - 40 + 64 * (n as i64)) / 64) == 0", block),
        ("((t as i64 + 64 * (n as i64)) / 64) == 0", block),
    ] {
        let found = broken("block = 64", &body(condition, collective));
        let is_divergent = |rule: &String| rule == "divergent_collective";
        assert!(found.iter().any(is_divergent), "{condition}: {found:?}");
    }
}

/// A variable that counts in steps of the block's size has the same quotient by it in all threads.
#[test]
fn counted_by_hand() {
    let body =
        |start: &str, test: &str, step: &str| format!("let mut i = {start}; while {test} {{ block.sync(); {step} }}");
    let rounded = "i < n.next_multiple_of(64)";
    for (start, test, step) in [
        ("t", rounded, "i += 64;"),
        ("t", rounded, "i += block.num_threads();"),
        ("t", "i < n * 64", "i = i + 64;"),
        ("t", rounded, "i += 64 * n;"),
        ("t", rounded, "if n > 3 { i += 64; } else { i += 128; }"),
        ("t + 64", rounded, "i += 64;"),
    ] {
        let found = broken("block = 64", &body(start, test, step));
        assert!(found.is_empty(), "{start}, {test}, {step}: {found:?}");
    }
    for (start, test, step) in [
        ("t", "i < n", "i += 64;"),
        ("t", rounded, "i += 32;"),
        ("t", rounded, "i += 1;"),
        ("t", rounded, "i += x[t] * 64;"),
        ("t", rounded, "if x[t] > 3 { i += 64; }"),
        ("t", rounded, "if t > 3 { i += 64; } else { i += 128; }"),
        ("t + 1", rounded, "i += 64;"),
        ("x[t]", rounded, "i += 64;"),
        ("t", rounded, "for _ in 0..x[t] { i += 64; }"),
        ("t", rounded, "i *= 2;"),
    ] {
        let found = broken("block = 64", &body(start, test, step));
        assert!(found.contains(&"divergent_collective".to_owned()), "{start}, {test}, {step}: {found:?}");
    }
}

/// What the threads of a warp agree on, a block of one warp agrees on.
#[test]
fn blocks_of_one_warp() {
    let vote = "while warp.any(x[t] > n) { block.sync(); }";
    for attribute in ["block = 32", "block = (8, 4)", "cluster = 2, block = 32"] {
        assert!(broken(attribute, vote).is_empty(), "{attribute}");
    }
    for attribute in ["block = 64", "", "block = (32, 2)", "block = 96"] {
        assert_eq!(broken(attribute, vote), ["divergent_collective"], "{attribute}");
    }
    for other in [
        "while warp.any(x[t] > n) { cluster.sync(); }",
        "while lane > n { block.sync(); }",
        "let tile = tiled_partition::<16>(&block); while tile.any(x[t] > n) { block.sync(); }",
        "let some = coalesced_threads(); while some.any(x[t] > n) { block.sync(); }",
    ] {
        assert_eq!(broken("cluster = 2, block = 32", other), ["divergent_collective"], "{other}");
    }
}

/// The counter of a loop that all threads repeat as often is no less divergent for that; only its quotient is the same.
#[test]
fn counters_of_rounded_loops() {
    let body = |condition: &str| {
        format!("for i in (t..n.next_multiple_of(64)).step_by(64) {{ if {condition} {{ block.sync(); }} }}")
    };
    for condition in ["i / 64 == n", "i < n * 64", "i >= 64 * n", "i / 128 == n"] {
        let found = broken("block = 64", &body(condition));
        assert!(found.is_empty(), "{condition}: {found:?}");
    }
    for condition in ["i == n", "i & 1 == 0", "i / 32 == n", "i < n", "i < n * 32", "i % 64 == 0"] {
        assert_eq!(broken("block = 64", &body(condition)), ["divergent_collective"], "{condition}");
    }
}

/// A condition that the first warp of a block of one warp passes is no branch of the block as a whole: an elected thread
/// initializes the barrier under it.
#[test]
fn conditions_that_all_threads_pass() {
    for condition in ["t / 32 == 0 && lane == 0", "t < 32 && t == 0", "t >> 5 == 0 && t == 0"] {
        let body = format!(
            "let bar = shared_barrier();
            if {condition} {{ bar.init(32); }}
            block.sync();
            bar.arrive_and_wait();"
        );
        assert!(broken("block = 32", &body).is_empty(), "{condition}: {:?}", broken("block = 32", &body));
    }
}

/// Whether an `Option` holds something may be uniform where what it holds differs between threads, and the other way round.
#[test]
fn variants_of_options() {
    let made = |made: &str, test: &str| broken("block = 64", &format!("{made} {test}"));
    let uniform = [
        "let mut next = None; if n > 3 { next = Some(t); }",
        "let next = if n > 3 { Some(x[t]) } else { None };",
        "let next = if n > 3 { Some((t, n)) } else { None };",
        "let next = if n > 3 { Some(t) } else { None }.map(|t| t + 1);",
        "let next = (n > 3).then_some(t);",
        "let mut other = (n > 3).then_some(t); let next = std::mem::replace(&mut other, None);",
        "let mut next = Some(t); for i in 0..n { if i == m as u32 { next = None; } }",
        "let other = match n { 0 => None, 1 => Some(lane), _ => Some(t) }; let next = other;",
    ];
    let divergent = [
        "let mut next = None; if t > 3 { next = Some(n); }",
        "let next = if t > 3 { Some(n) } else { None };",
        "let next = if n > 3 { Some(t) } else { None }.filter(|&t| t > 3);",
        "let next = if n > 3 { Some(t) } else { None }.and_then(|t| if t > 3 { Some(n) } else { None });",
        "let mut next = Some(t); if t > 3 { next = None; }",
        "let mut next = Some(n); for i in 0..t { next = None; }",
        "let other = Some(if t > 3 { Some(n) } else { None }); let next = other.unwrap();",
        "let Some(next) = Some(if t > 3 { Some(n) } else { None }) else { return; };",
        "let mut other = (t > 3).then_some(n); let next = std::mem::replace(&mut other, Some(n));",
        "let mut other = (t > 3).then_some(n); let next = (other, { other = None; n }).0;",
        "let mut next = [Some(t); 2][(t & 1) as usize]; next = [None, Some(t)][(t & 1) as usize];",
    ];
    let tests = [
        "if next.is_some() { block.sync(); }",
        "if next.is_none() { block.sync(); }",
        "if let Some(held) = next { block.sync(); out[t] = n; }",
        "match next { None => {} Some(held) => block.sync() }",
        "let Some(held) = next else { return; }; block.sync();",
        "for i in 0..n { match next { Some(held) => out[t] = n, None => break } block.sync(); }",
    ];
    for test in tests {
        for made_so in uniform {
            let found = made(made_so, test);
            assert!(found.is_empty(), "{made_so} {test}: {found:?}");
        }
        for made_so in divergent {
            let found = made(made_so, test);
            let is_found = |rule: &String| rule == "divergent_collective" || rule == "divergent_exit";
            assert!(found.iter().any(is_found), "{made_so} {test}: {found:?}");
        }
    }
    // What it holds still differs, and a pattern that looks into it depends on that.
    for test in [
        "if next == Some(3) { block.sync(); }",
        "if let Some(3) = next { block.sync(); }",
        "if let Some(held) = next && held > 3 { block.sync(); }",
        "match next { Some(held) if held > 3 => block.sync(), _ => {} }",
        "match next { Some(3) => block.sync(), Some(held) => out[t] = held, None => {} }",
        "if next.unwrap_or(0) > 3 { block.sync(); }",
        "if next.is_some_and(|held| held > 3) { block.sync(); }",
    ] {
        assert_eq!(made("let next = if n > 3 { Some(t) } else { None };", test), ["divergent_collective"], "{test}");
    }
    // The variant of what an option holds is another one.
    for test in [
        "if let Some(Some(held)) = next { block.sync(); }",
        "if let Some(held) = next { if held.is_some() { block.sync(); } }",
        "if let Some(held) = next && let Some(x) = held { block.sync(); }",
        "let held = next.unwrap(); if held.is_some() { block.sync(); }",
    ] {
        let nested = "let next = Some(if t > 3 { Some(n) } else { None });";
        assert_eq!(made(nested, test), ["divergent_collective"], "{test}");
    }
}

/// The token of an arrival at a phase barrier is each thread's own, but whether there is one need not be.
#[test]
fn variants_of_options_of_tokens() {
    let broken = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)]
            fn f(out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let t = block.thread_rank();
                let bar = shared_barrier();
                bar.init_collective(&block, 64);
                let mut next = None;
                {body}
            }}"
        ))
    };
    for body in [
        "if n > 3 { next = Some(bar.arrive()); } if let Some(token) = next { bar.wait(token); block.sync(); }",
        "if n > 3 { next = Some(bar.arrive()); } match next { Some(token) => bar.wait(token), None => return } block.sync();",
        "if n > 3 { next = Some(bar.arrive()); }
        if let Some(token) = next.take() { bar.wait(token); }
        if next.is_none() { block.sync(); }",
    ] {
        assert!(broken(body).is_empty(), "{body}: {:?}", broken(body));
    }
    for body in [
        "if n > 3 { next = Some(bar.arrive()); }
        if t > 3 { if let Some(token) = next.take() { bar.wait(token); } }
        if let Some(token) = next { bar.wait(token); block.sync(); }",
        "if t > 3 { next = Some(bar.arrive()); }
        if let Some(token) = next.take() { bar.wait(token); block.sync(); }",
    ] {
        assert!(broken(body).contains(&"divergent_collective".to_string()), "{body}: {:?}", broken(body));
    }
}

/// What one warp alone writes is uniform in the warp once that has met, whatever other warps do meanwhile.
#[test]
fn own_elements_of_warps() {
    let queue = |write: &str, meets: &str, read: &str, read_by_all: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)]
            fn queue(out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let (i, lane) = (block.thread_rank(), warp.thread_rank());
                let own = block.thread_rank() / 32;
                let next = shared_array::<u32, 1>();
                let items = shared_array::<u32, 8>();
                if i == 0 {{ next[0] = 0; }}
                block.sync();
                loop {{
                    {write}
                    {meets}
                    {read}
                    {read_by_all}
                    if k >= n {{ break; }}
                    out[k * 32 + lane] = k;
                }}
            }}"
        ))
    };
    let found = |write: &str, meets: &str, read: &str| queue(write, meets, read, "warp.sync();");
    const WRITE: &str = "if lane == 0 { items[warp.meta_group_rank()] = next.atomic(0).fetch_add(1, Relaxed); }";
    const READ: &str = "let k = items[warp.meta_group_rank()];";
    assert_eq!(found(WRITE, "warp.sync();", READ), Vec::<String>::new());
    assert_eq!(found(WRITE, "warp.sync();", "let k = items[own];"), Vec::<String>::new());
    // Lane 0 may write the next item before others have read this one.
    assert!(!queue(WRITE, "warp.sync();", READ, "").is_empty());
    assert!(!queue(WRITE, "warp.sync();", READ, "if n > 3 { warp.sync(); }").is_empty());
    for (write, meets, read) in [
        (WRITE, "", READ),
        (WRITE, "tiled_partition::<16>(&block).sync();", READ),
        (WRITE, "warp.sync(); if lane == 1 { items[i / 32] = 3; }", READ),
        (WRITE, "warp.sync();", "let k = items[i / 16];"),
        (WRITE, "warp.sync();", "let k = items[lane % 8];"),
        ("if lane == 0 { items[(i / 32 + 1) % 4] = next.atomic(0).fetch_add(1, Relaxed); }", "warp.sync();", READ),
        ("if lane == 0 { items[i / 64] = next.atomic(0).fetch_add(1, Relaxed); }", "warp.sync();", READ),
        (WRITE, "warp.sync();", "let part = &items[1..5]; let k = part[i / 32];"),
    ] {
        let found = found(write, meets, read);
        assert!(found.contains(&"divergent_collective".to_string()), "{write} {meets} {read}: {found:?}");
    }
}

/// Tables of which the threads of a warp read different elements at once are known to the runtime.
#[test]
fn scattered_tables() {
    let is_scattered = |function: &str| {
        let expansion = super::expand(function).to_string();
        assert!(!expansion.contains("compile_error"), "{expansion}");
        expansion.contains("constant (& TABLE) . scattered ()")
    };
    let kernel = |body: &str| {
        is_scattered(&format!(
            "#[cluster_kernel] fn k(input: &[u32], out: &mut [u32], n: u32) {{
                let (block, i) = (this_thread_block(), this_thread_block().thread_rank());
                {body}
            }}"
        ))
    };
    for body in [
        "out[i] = TABLE[input[i] as usize];",
        "for k in 0..n { out[i] += TABLE[(i + k) as usize] * 2; }",
        "out[i] = TABLE[3].parts[i as usize % 4];",
        "let of = |x: u32| TABLE[x as usize]; out[i] = of(i);",
    ] {
        assert!(kernel(body), "{body}");
    }
    for body in [
        "out[i] = TABLE[3] + input[i];",
        "for k in 0..n { out[i] += TABLE[k as usize] * input[i]; }",
        "out[i] = TABLE[block.group_index().x as usize % 4];",
        "let warp = tiled_partition::<32>(&block); out[i] = TABLE[warp.meta_group_rank() as usize];",
    ] {
        assert!(!kernel(body), "{body}");
    }
    // What it is given may differ.
    assert!(is_scattered("#[device] fn of(x: u32) -> u32 { TABLE[x as usize] }"));
}
