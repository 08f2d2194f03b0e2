//! Tests of messages about a barrier that is missing: it is what they ask for, once.

use super::{Attributed, errors, faults};

/// One forgotten barrier of the cluster is one error, which has the other places; two are two.
#[test]
fn one_error_for_one_barrier() {
    let texts = |body: &str| {
        let source = format!(
            "#[cluster_kernel(cluster = 2, block = 32)]
            fn f(out: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let (a, b) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
                let (i, peer) = (block.thread_rank(), 1 - cluster.block_rank());
                {body}
            }}"
        );
        errors(&Attributed::parse(&source).expand()).into_iter().map(|(_, _, text)| text).collect::<Vec<_>>()
    };
    let read = |name: &str| format!("out[i] = cluster.map_shared_rank(&{name}, peer)[i];\n");
    let (both, filled) = ([read("a"), read("b")].concat(), "a[i] = i; b[i] = i;");
    // No barrier before, and none after.
    for (body, rule) in [
        (format!("{filled} block.sync(); {both} cluster.sync();"), "remote_before_entry"),
        (format!("{filled} cluster.sync(); {both}"), "exit_before_peers_done"),
    ] {
        let found = texts(&body);
        let of_rule: Vec<_> = found.iter().filter(|text| text.contains(&format!("[{rule}]\n"))).collect();
        assert_eq!(of_rule.len(), 1, "{body}: {found:#?}");
        assert_eq!(of_rule[0].matches("the same is true here").count(), 1, "{found:#?}");
    }
    // A loop whose round ends with a barrier of the block.
    let round = [&read("a"), &read("a"), "block.sync();\na[i] = n;\nblock.sync();"].concat();
    let found = texts(&format!("{filled} cluster.sync(); for k in 0..n {{ {round} }} cluster.sync();"));
    assert_eq!(found.len(), 1, "{found:#?}");
    for rule in ["unpublished_remote_read", "overwrite_while_read"] {
        assert!(found[0].contains(rule), "{found:#?}");
    }
    // Accesses that take turns in a loop.
    let turns = "let v = from[i]; cluster.map_shared_rank(to, peer)[i] = v; std::mem::swap(&mut from, &mut to); out[i] = from[i];";
    let turns = format!("for k in 0..n {{ {turns} }}");
    let found = texts(&format!("{filled} cluster.sync(); let (mut from, mut to) = (&a, &b); {turns} cluster.sync();"));
    assert_eq!(found.len(), 1, "{found:#?}");
    // Two arrays whose accesses one barrier would order, in a row and over the end of a loop.
    let fields = |first: &str, second: &str| {
        let (of_a, of_b) = (read("a"), read("b"));
        format!(
            "{filled} cluster.sync(); for k in 0..n {{ {of_a} b[i] = k; {first}.sync(); {of_b} a[i] = k + 1; {second}.sync(); }}
            cluster.sync();"
        )
    };
    for (first, second) in [("block", "cluster"), ("cluster", "block")] {
        let found = texts(&fields(first, second));
        assert_eq!(found.len(), 1, "{first}: {found:#?}");
        assert!(found[0].contains("`a` ") && found[0].contains("`b` "), "{found:#?}");
    }
    assert!(texts(&fields("cluster", "cluster")).is_empty());
    let mail = "let there = cluster.map_shared_rank(&a, peer); there[i] = n; cluster.map_shared_rank(&b, peer)[i] = n;";
    let found = texts(&format!("{filled} cluster.sync(); {mail} block.sync(); out[i] = a[i] + b[i]; cluster.sync();"));
    assert_eq!(found.len(), 1, "{found:#?}");
    // Two arrays, each with a write that another barrier has to order.
    let two = format!(
        "{filled} cluster.sync(); a[i] = 1; {} cluster.sync(); b[i] = 2; {} cluster.sync();",
        read("a"),
        read("b")
    );
    assert_eq!(texts(&two).len(), 2, "{:#?}", texts(&two));
}

/// A barrier that not all threads come to is one error, with what it then does not order; so is a wait that not all come to.
#[test]
fn one_error_for_one_branch() {
    let kernel = |body: &str| {
        format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn f(x: &[u32], out: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let (i, peer) = (block.thread_rank(), 1 - cluster.block_rank());
                let a = shared_array::<u32, 64>();
                a[i] = i;
                {body}
            }}"
        )
    };
    let read = "out[i] = cluster.map_shared_rank(&a, peer)[i];";
    for (body, rule) in [
        (format!("if i < 32 {{ cluster.sync(); }} {read} cluster.sync();"), "divergent_collective"),
        (format!("cluster.sync(); {read} if peer == 0 {{ cluster.sync(); }}"), "divergent_collective"),
        ("let t = block.barrier_arrive(); if x[i] > 0 { block.barrier_wait(t); }".into(), "token_never_waited"),
        ("let t = block.barrier_arrive(); if x[i] > 0 { return; } block.barrier_wait(t);".into(), "token_never_waited"),
    ] {
        let found = errors(&Attributed::parse(&kernel(&body)).expand());
        let texts: Vec<_> = found.into_iter().map(|(_, _, text)| text).collect();
        assert!(matches!(&texts[..], [text] if text.contains(&format!("[{rule}]\n"))), "{body}: {texts:#?}");
    }
    // A wait for an unknown token is the fault, not that its barrier orders nothing.
    let unknown = format!("cluster.sync(); {read} cluster.barrier_wait(done); a[i] = 0; cluster.sync();");
    assert_eq!(errors(&Attributed::parse(&kernel(&unknown)).expand()).len(), 1);
}

/// A barrier that is missing before a condition is read is what the message asks for.
#[test]
fn barrier_before_a_condition() {
    let helps = |declared: &str, body: &str| {
        let source = format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn f(out: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let i = block.thread_rank();
                let a = shared_array::<u32, 1>();
                {declared}
                {body}
            }}"
        );
        let faults = faults(&source);
        let text = faults
            .iter()
            .find(|fault| fault.rule().name().starts_with("divergent"))
            .map(|fault| fault.text().to_string());
        text.unwrap_or_else(|| panic!("{faults:#?}"))
    };
    let fill = "if i == 0 { a[0] = n; }\n";
    let of_block = "let all threads execute `block.sync()` before line 10";
    for condition in [
        "let j = a[0];\nif j > 3 { block.sync(); }",
        "let j = a[0];\nif j > 3 { return; } block.sync();",
        "let j = a[0];\nif j > 3 { out[0] = warp.reduce(i, op::Plus); }",
        "while a[0] > n { block.sync(); }",
    ] {
        let text = helps("", &[fill, condition].concat());
        assert!(text.contains(of_block) && !text.contains("uniform("), "{text}");
        let first = text.lines().nth(1).unwrap_or_default();
        assert!(first.starts_with("note: line 10: this memory may have been written"), "{text}");
    }
    // The blocks' own memory differs, and what a thread computes of its own rank, too.
    for condition in ["let j = a[0];\nif j > 3 { cluster.sync(); }", "let j = a[0] + i;\nif j > 3 { block.sync(); }"] {
        let fill = fill.replace("= n", "= n + cluster.block_rank()");
        let text = helps("", &[&fill, "block.sync();\n", condition].concat());
        assert!(!text.contains("before line"), "{text}");
    }
    // Peers write there.
    let peers = "cluster.sync(); if i == 0 { cluster.map_shared_rank(&a, 0)[0] = n; }\n";
    let text = helps("", &[peers, "let j = a[0];\nif j > 3 { block.sync(); }"].concat());
    assert!(text.contains("let all threads execute `cluster.sync()` before line 10"), "{text}");
}

/// What a thread reads too early, and where it leaves a loop by that or returns, is one error.
#[test]
fn one_error_for_what_diverges() {
    let texts = |body: &str| {
        let source = format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn f(x: &[u32], out: &mut [u32], n: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let flag = shared_array::<u32, 1>();
                let (i, rank) = (block.thread_rank(), cluster.block_rank());
                let leader = cluster.map_shared_rank(&flag, 0);
                {body}
            }}"
        );
        errors(&Attributed::parse(&source).expand()).into_iter().map(|(_, _, text)| text).collect::<Vec<_>>()
    };
    let rounds = |between: &str| {
        format!(
            "for k in 0..n {{
                let sum = warp.reduce(x[i], op::Plus);
                cluster.sync();
                if rank == 0 && i == 0 {{ flag[0] = sum; }}
                {between}
                if leader[0] > k {{ break; }}
            }}
            cluster.sync();"
        )
    };
    assert!(texts(&rounds("cluster.sync();")).is_empty());
    let found = texts(&rounds("block.sync();"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("a peer's `flag` is read") && found[0].contains("`reduce` must be reached"),
        "{found:#?}"
    );
    let returns = "let mut stride = 8; while stride > 0 { cluster.sync(); if rank >= stride { return; } stride /= 2; } cluster.sync();";
    let found = texts(returns);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("[divergent_collective]") && found[0].contains("[divergent_exit]"), "{found:#?}");
    // Two branches are two faults.
    let two = "if i > 3 { block.sync(); } if rank > 3 { return; } cluster.sync();";
    assert_eq!(texts(two).len(), 2, "{:#?}", texts(two));
}
