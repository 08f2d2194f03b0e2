//! Tests of names that stand for something else: references that loops and functions lend, and names of memory, barriers and
//! groups that are assigned anew.

use super::rules;

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn refers(input: &[u32], output: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let rank = block.thread_rank();
            let other = 1 - cluster.block_rank();
            let t = shared_array::<[u32; 64], 2>();
            let u = shared_array::<u32, 64>();
            cluster.sync();
            {body}
            cluster.sync();
        }}"
    );
    rules(&source)
}

/// What a loop writes through the references that it is lent is in the array.
#[test]
fn writes_through_references() {
    let test = |body: &str| broken(&format!("let mut a = [0u32; 4]; {body} if a[0] == 0 {{ block.sync(); }}"));
    for body in [
        "for x in a.iter_mut() { *x = rank; }",
        "for x in &mut a { *x = rank; }",
        "for (i, x) in a.iter_mut().enumerate() { *x = rank + i as u32; }",
        "for x in a.iter_mut().rev() { *x += rank; }",
        "let b = [rank; 4]; for (x, y) in a.iter_mut().zip(b.iter()) { *x = *y; }",
        "a.iter_mut().for_each(|x| *x = rank);",
        "for x in a.iter_mut() { if rank == 3 { *x = 1; } }",
        "for x in a.iter_mut() { set(x, rank); }",
        "let mut rows = [[0u32; 4]; 2]; for row in rows.iter_mut() { for x in row.iter_mut() { *x = rank; } } a[0] = rows[0][0];",
        "let mut s = Pair { items: [0u32; 4], count: 0 }; for x in s.items.iter_mut() { *x = rank; } a[0] = s.items[0];",
        "a[3] = rank; a.reverse();",
        "let mut s = Pair { items: [0u32; 4], count: 0 }; s.items[3] = rank; s.items.reverse(); a[0] = s.items[0];",
    ] {
        let rules = test(body);
        assert!(rules.is_empty() == body.contains("set(") && rules.len() < 2, "{body}: {rules:?}");
    }
    assert!(test("for x in a.iter_mut() { *x = cluster.block_rank(); }").is_empty());
    assert!(test("a[3] = cluster.block_rank(); a.reverse();").is_empty());
}

/// An iterator over references that has a filter is one over copies: what its result depends on is known.
#[test]
fn filtered_references() {
    let test = |count: &str| broken(&format!("let a = [0u32; 4]; if a.iter(){count} {{ block.sync(); }}"));
    for (of_thread, of_block) in [
        (".filter(|x| **x > rank).count() > 1", ".filter(|x| **x > 1).count() > 1"),
        (".filter(|&x| *x > rank).count() > 1", ".filter(|&&x| x > 1).count() > 1"),
        (".filter(|x: &&u32| **x > rank).count() > 1", ".filter(|x: &&u32| **x > 1).count() > 1"),
        (".filter(|x| **x > rank).min().is_some()", ".filter(|x| **x > 1).min().is_some()"),
        (
            ".rev().filter(|x| **x > 1).map(|x| *x + rank).sum::<u32>() > 1",
            ".filter(|_| true).map(|x| x + 1).sum::<u32>() > 1",
        ),
        (".filter(|x| matches!(**x + rank, 1 | 2)).count() > 1", ".filter(|x| matches!(**x, 1 | 2)).count() > 1"),
        (".filter(|x| **x > 1).any(|&x| x == rank)", ".filter(|x| **x > 1).all(|x| *x > 3)"),
        (".filter(|x| **x > 1).fold(0, |t, x| t + *x * rank) > 1", ".filter(|x| **x > 1).fold(0, |t, &x| t + x) > 1"),
    ] {
        assert_eq!(test(of_thread), ["divergent_collective"], "{of_thread}");
        assert!(test(of_block).is_empty(), "{of_block}");
    }
    // What `x` means in the guard of a `matches!` or below another `x` is not followed.
    for refused in
        [".filter(|x| matches!(2, 2 if **x > 1)).count() > 1", ".filter(|x| { let x = **x; x > 1 }).count() > 1"]
    {
        assert_eq!(test(refused), ["unsupported_loop"], "{refused}");
    }
}

/// What the values of a tuple's `let` are is known as that of separate ones.
#[test]
fn bound_together() {
    let test = |body: &str| broken(&format!("{body} {{ block.sync(); }}"));
    let indexes = "let (at, of) = (block.thread_index(), block.group_index());";
    let closures = "let (f, g) = (|x: u32| x + rank, |x: u32| x + 1);";
    for (of_thread, of_block) in [
        (format!("{indexes} if at.x == 0"), format!("{indexes} if of.x == 0")),
        (format!("{closures} if f(1) == 3"), format!("{closures} if g(1) == 3")),
    ] {
        assert_eq!(test(&of_thread), ["divergent_collective"], "{of_thread}");
        assert!(test(&of_block).is_empty(), "{of_block}: {:?}", test(&of_block));
    }
}

/// `take` sets an option to `None`, though only some threads execute it.
#[test]
fn take_sets_the_option() {
    let taken = |body: &str| broken(&format!("let mut o = Some(3u32); {body} if o.is_some() {{ block.sync(); }}"));
    assert_eq!(taken("if rank == 0 { let x = o.take(); output[0] = x.unwrap_or(1); }"), ["divergent_collective"]);
    assert!(taken("let x = o.take(); output[0] = x.unwrap_or(1);").is_empty());
}

/// A reference to an element of memory reads it where the reference is bound.
#[test]
fn references_to_elements_of_memory() {
    let body = "for x in u.iter() { u[rank] = rank; if *x == 0 { block.sync(); } }";
    assert!(broken(body).contains(&"divergent_collective".to_owned()));
    let peer = |body: &str| {
        broken(&format!("u[rank] = 1; let p = cluster.map_shared_rank(&u, other); {body} output[0] = *x;"))
    };
    assert!(peer("cluster.sync(); let x = &p[rank]; cluster.sync();").is_empty());
    assert_eq!(peer("let x = &p[rank]; cluster.sync();"), ["unpublished_remote_read"]);
    assert_eq!(peer("cluster.sync(); let x = &p[rank]; u[rank] = 2;"), ["overwrite_while_read"]);
}

/// What is written through a reference that a `let` makes is in the variable, and the other way round.
#[test]
fn references_to_variables() {
    let test = |body: &str, read: &str| {
        broken(&format!(
            "let mut a = [0u32; 4]; let mut c = input[0]; let mut s = Pair {{ items: [0u32; 4], count: 0 }};
            {body} if {read} == 0 {{ block.sync(); }}"
        ))
    };
    for (body, read) in [
        ("let x = &mut c; *x = rank;", "c"),
        ("let x = &mut c; *x += rank;", "*x"),
        ("c = rank; let x = &c;", "*x"),
        ("let x = &mut a[1]; *x = rank;", "a[1]"),
        ("let x = &mut a; x[2] = rank;", "a[2]"),
        ("let x = &mut s.items; let y = &mut x[0]; *y = rank;", "s.items[0]"),
        ("let x = &mut s; x.count = rank;", "s.count"),
        ("let x = &mut c; if rank == 3 { *x = 1; }", "c"),
        ("let x = &mut c; for i in 0..rank { *x += 1; }", "*x"),
        ("let x = &mut c; let y = &mut *x; *y = rank;", "c"),
    ] {
        assert_eq!(test(body, read), ["divergent_collective"], "{body} {read}");
        let uniform = body.replace("rank", "input[1]");
        assert_eq!(test(&uniform, read), [""; 0], "{uniform} {read}");
    }
}

/// What is chosen by a condition, or by an assignment of several names, may be either.
#[test]
fn chosen_memory() {
    let chosen = |body: &str| {
        broken(&format!(
            "let v = shared_array::<u32, 64>(); u[rank] = 1; v[rank] = 1; cluster.sync();
            let p = cluster.map_shared_rank(&u, other); {body}"
        ))
    };
    assert_eq!(
        chosen("let x = if input[0] == 0 { &u } else { &v }; output[0] = p[rank]; x[rank] = 2;"),
        ["overwrite_while_read"]
    );
    assert_eq!(
        chosen("let (mut x, mut y) = (&v, &u); (x, y) = (y, x); output[0] = p[rank]; x[rank] = 2;"),
        ["overwrite_while_read"]
    );
    assert!(
        chosen("let x = if input[0] == 0 { &u } else { &v }; output[0] = p[rank]; cluster.sync(); x[rank] = 2;")
            .is_empty()
    );
}

/// Memory, barriers and groups by other names.
#[test]
fn other_names() {
    let right = "let own = &u; own[rank] = 1; cluster.sync(); let p = cluster.map_shared_rank(own, other);
        let peer = &p; output[0] = peer[rank];";
    assert!(broken(right).is_empty());
    assert_eq!(broken(&right.replace("cluster.sync();", "")), ["unpublished_remote_read"]);
    assert_eq!(broken(&format!("{right} own[rank] = 2;")), ["overwrite_while_read"]);
    assert_eq!(broken(&format!("{right} let all = &own[..]; all[rank] = 2;")), ["overwrite_while_read"]);
    assert_eq!(broken("let all = &cluster; if rank == 0 { all.sync(); }"), ["divergent_collective"]);
    assert_eq!(broken("let all = &cluster; let k = all.barrier_arrive();"), ["token_never_waited"]);
    let barrier = |init: &str, body: &str| {
        broken(&format!(
            "let bars = shared_barriers::<2>(); let bar = &bars[0]; {init} block.sync(); let k = bar.arrive(); {body}"
        ))
    };
    assert!(barrier("if rank == 0 { bar.init(64); }", "bar.wait(k);").is_empty());
    assert_eq!(barrier("if rank == 0 { bars[1].init(64); }", "bar.wait(k);"), ["barrier_uninitialized"]);
    assert_eq!(barrier("bar.init(64);", "bar.wait(k);"), ["barrier_init_not_elected"]);
    let both = "if rank == 0 { bars[0].init(64); bars[1].init(64); }";
    assert_eq!(barrier(both, "let second = &bars[1]; second.wait(k);"), ["barrier_token_mixed"]);
}

/// After an assignment, a name of memory stands for the other memory, too.
#[test]
fn names_that_are_assigned() {
    let swapped = "let mut cur = &t[0]; let mut next = &t[1];";
    let body = |after: &str| {
        broken(&format!(
            "{swapped} let p = cluster.map_shared_rank(&t, other); std::mem::swap(&mut cur, &mut next); cluster.sync();
            output[0] = p[1][rank]; {after}"
        ))
    };
    assert_eq!(body("cur[rank] = 1;"), ["overwrite_while_read"]);
    let assigned = "let mut a = &u[..]; a = &t[0]; let p = cluster.map_shared_rank(&t, other); output[0] = p[0][rank]; a[rank] = 1;";
    assert_eq!(broken(assigned), ["overwrite_while_read"]);
    let peer = "let mut p = cluster.map_shared_rank(&u, cluster.block_rank()); p = cluster.map_shared_rank(&u, other);
        output[0] = p[rank]; u[rank] = 1;";
    assert_eq!(broken(peer), ["overwrite_while_read"]);
    let own = "let mut p = cluster.map_shared_rank(&u, other); p = cluster.map_shared_rank(&u, cluster.block_rank());
        output[0] = p[rank]; u[rank] = 1;";
    assert!(broken(own).is_empty());
    let group = "let warp = tiled_partition::<32>(&block); let some = tiled_partition::<4>(&warp); let mut g = tiled_partition::<4>(&warp);
        let agreed = g.any(rank == 3); g = some; if agreed { g.sync(); }";
    assert_eq!(broken(group), ["divergent_collective"]);
}

/// Two buffers that a loop swaps are two buffers in each round.
#[test]
fn swapped_buffers() {
    let kernel = |names: &str, before: &str, body: &str| {
        broken(&format!(
            "{names} {before} cur[rank] = 1; cluster.sync();
            for k in 0..8u32 {{ let p = cluster.map_shared_rank(cur, other); {body} }}"
        ))
    };
    let two = "let mut cur = &t[0]; let mut next = &t[1];";
    let swap = "std::mem::swap(&mut cur, &mut next);";
    let loops = |body: &str| kernel(two, "", body);
    assert_eq!(loops(&format!("next[rank] = p[rank]; cluster.sync(); {swap}")), [""; 0]);
    assert_eq!(loops(&format!("next[rank] = p[rank]; cluster.sync(); {swap} cluster.sync();")), [""; 0]);
    assert_eq!(loops(&format!("next[rank] = p[rank]; {swap} cluster.sync();")), [""; 0]);
    assert_eq!(loops("next[rank] = p[rank]; cluster.sync(); let held = cur; cur = next; next = held;"), [""; 0]);
    // In the first round it overwrites what a peer still reads, in the other ones it reads what was never written.
    for wrong in [
        format!("cur[rank] = p[rank] + 1; cluster.sync(); {swap}"),
        format!("next[rank] = p[rank]; {swap}"),
        format!("next[rank] = p[rank]; {swap} {swap} next[rank] = 7; cur[rank] = 8; cluster.sync();"),
        format!("next[rank] = p[rank]; cluster.sync(); {swap} {swap} cur[rank] = p[rank]; cluster.sync();"),
        format!(
            "next[rank] = p[rank]; cluster.sync(); if k == 3 {{ {swap} }} cur[rank] = 1; output[k] = p[rank]; cluster.sync();"
        ),
        format!("next[rank] = p[rank]; cluster.sync(); if rank < 7 {{ {swap} }}"),
        format!(
            "next[rank] = p[rank]; cluster.sync(); {swap} let q = cluster.map_shared_rank(cur, other); cur[rank] = q[rank];"
        ),
    ] {
        assert!(!loops(&wrong).is_empty(), "{wrong}");
    }
    assert_eq!(loops(&format!("next[rank] = p[rank]; cluster.sync(); if k == 3 {{ {swap} }}")), [""; 0]);
    // Three buffers in turn.
    let three = "let a = shared_array::<u32, 64>(); let mut cur = &t[0]; let mut next = &t[1]; let mut last = &a[..];";
    let turn = "let held = cur; cur = next; next = last; last = held;";
    assert_eq!(kernel(three, "", &format!("next[rank] = p[rank]; cluster.sync(); {turn}")), [""; 0]);
    assert!(!kernel(three, "", &format!("last[rank] = p[rank]; {turn} cluster.sync(); cur[rank] = 1;")).is_empty());
    // Both may be one.
    assert!(
        !kernel(
            "let mut cur = &t[0]; let mut next = &t[0];",
            "",
            &format!("next[rank] = p[rank]; cluster.sync(); {swap}")
        )
        .is_empty()
    );
}

/// Memory that an `if` or a `match` chooses by a counter: each iteration uses the other buffer.
#[test]
fn chosen_by_a_counter() {
    let round = |choice: &str, rest: &str| {
        broken(&format!(
            "let a = shared_array::<u32, 64>(); let b = shared_array::<u32, 64>(); let c = shared_array::<u32, 64>();
             for k in 0..9u32 {{ {choice} t[rank] = k; cluster.sync();
             output[k] = cluster.map_shared_rank(t, other)[rank]; {rest} }}"
        ))
    };
    for right in [
        "let t = if k % 2 == 0 { &a } else { &b };",
        "let t = if k & 1 == 1 { &a } else { &b };",
        "let odd = (k + 1) % 2; let t = if odd == 0 { &a } else { &b };",
        "let t = match k % 3 { 0 => &a, 1 => &b, _ => &c };",
        "let t = if k % 3 == 0 { &a } else if k % 3 == 1 { &b } else { &c };",
        "let (t, _u) = match k % 2 { 0 => (&a, &b), _ => (&b, &a) };",
        "let mut t = &a; if k % 2 == 0 { t = &b; }",
    ] {
        assert!(round(right, "").is_empty(), "{right}");
    }
    for wrong in [
        "let t = if k % 2 == 2 { &a } else { &b };",
        "let t = if (k / 2) % 2 == 0 { &a } else { &b };",
        "let t = if k * 2 % 2 == 0 { &a } else { &b };",
        "let t = match k % 3 { 0 => &a, _ => &b };",
        "let t = if rank % 2 == 0 { &a } else { &b };",
    ] {
        assert_eq!(round(wrong, ""), ["overwrite_while_read"], "{wrong}");
    }
    let next = "let (t, next) = match k % 3 { 0 => (&a, &b), 1 => (&b, &c), _ => (&c, &a) };";
    assert!(round(next, "next[rank] = 1;").is_empty());
    assert_eq!(round(&next.replace("(&b, &c)", "(&b, &b)"), "next[rank] = 1;"), ["overwrite_while_read"]);
    // A loop that begins anew with the same buffer.
    let inner = "for k in 0..9u32 { let t = if k % 2 == 0 { &a } else { &b }; t[rank] = k; cluster.sync(); \
                 output[k] = cluster.map_shared_rank(t, other)[rank]; }";
    let outer = |last: &str| {
        broken(&format!(
            "let a = shared_array::<u32, 64>(); let b = shared_array::<u32, 64>(); for q in 0..3u32 {{ {inner} {last} }}"
        ))
    };
    assert!(outer("cluster.sync();").is_empty());
    assert_eq!(outer(""), ["overwrite_while_read"]);
}

/// `unwrap` and `expect` take a token out of its option.
#[test]
fn unwrapped_tokens() {
    for out in ["unwrap()", "expect(\"it has {arrived}\")"] {
        let taken = format!("let mut o = Some(cluster.barrier_arrive()); cluster.barrier_wait(o.take().{out});");
        assert!(broken(&taken).is_empty(), "{taken}");
        let round = format!("cluster.barrier_wait(o.take().{out}); o = Some(cluster.barrier_arrive());");
        let rounds = format!(
            "let mut o = Some(cluster.barrier_arrive()); for _ in 0..9 {{ {round} }} cluster.barrier_wait(o.{out});"
        );
        assert!(broken(&rounds).is_empty(), "{rounds}");
        let lost = format!("let mut o = Some(cluster.barrier_arrive()); let t = o.take().{out};");
        assert_eq!(broken(&lost), ["token_never_waited"], "{lost}");
    }
}

/// A variable that blocks set differently is not followed, even if a choice of memory depends on it and on a counter: blocks that
/// take different arms are compared with each other.
#[test]
fn chosen_by_what_blocks_set_differently() {
    let choice = |test: &str| {
        broken(&format!(
            "let a = shared_array::<u32, 64>(); let b = shared_array::<u32, 64>(); let mut x = 0;
             a[rank] = 0; b[rank] = 0;
             let peers = cluster.map_shared_rank(&a, other); if cluster.block_rank() == 0 {{ x = 1; }} cluster.sync();
             for k in 0..9u32 {{ let t = if {test} {{ &a }} else {{ &b }}; output[k] = t[rank]; }} cluster.sync();
             if x == 0 {{ a[rank] = 1; }} else {{ output[rank] = peers[rank]; }}"
        ))
    };
    for test in ["k % 2 == 0", "k % 2 == 0 && x == 0", "k % 2 == x"] {
        let rules = choice(test);
        assert!(!rules.is_empty(), "{test}");
        assert!(
            rules.iter().all(|rule| rule == "unpublished_remote_read" || rule == "overwrite_while_read"),
            "{rules:?}"
        );
    }
}

/// What a method of Rust's own types reads by a reference, and what it makes of it, is known as if it were written out.
#[test]
fn methods_of_rusts_own_types() {
    for (right, wrong) in [
        (
            "u[rank] = input[rank]; block.sync(); if rank.lt(&u[63 - rank]) { output[rank] = 1; }",
            "u[rank] = input[rank]; if rank.lt(&u[63 - rank]) { output[rank] = 1; }",
        ),
        (
            "u[rank] = 1; block.sync(); output[rank] = rank.cmp(&(u[63 - rank] + 1)) as u32;",
            "u[rank] = 1; output[rank] = rank.cmp(&(u[63 - rank] + 1)) as u32;",
        ),
    ] {
        assert_eq!(broken(right), [] as [&str; 0], "{right}");
        assert_eq!(broken(wrong), ["unsynchronized_access"], "{wrong}");
    }
    let remote = "let peer = cluster.map_shared_rank(&u, other);";
    let read = "output[rank] = rank.eq(&peer[rank]) as u32;";
    assert_eq!(broken(&format!("{remote} u[rank] = 1; cluster.sync(); {read}")), [] as [&str; 0]);
    assert_eq!(broken(&format!("{remote} u[rank] = 1; {read}")), ["unpublished_remote_read"]);
    // Who comes to a barrier depends on the comparison.
    assert_eq!(broken("if rank.lt(&3) { block.sync(); }"), ["divergent_collective"]);
    assert_eq!(
        broken("let mut a = [0, 1]; a[0] = rank; if a.contains(&3) { block.sync(); }"),
        ["divergent_collective"]
    );
}
