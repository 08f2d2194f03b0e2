//! The fences that kernels' barriers get, if the functions that they call do nothing but what they do to memory that they are lent.

use phalanx_contract::fence::{ChosenFence, Fence, MemoryEffects};

use super::Attributed;
use super::text::text;

/// Returns the fences of the arrivals and waits of a kernel with this body, in the order of the source. Waits are in brackets.
#[track_caller]
fn fences(body: &str) -> String {
    fences_of("cluster = 2, block = 32", body)
}

/// Returns the source of a kernel with these options and this body.
fn kernel(options: &str, body: &str) -> String {
    format!(
        "#[cluster_kernel({options})]
         fn kernel(input: &[u32], output: &mut [u32], bins: &mut [u32], n: u32) {{
             let cluster = this_cluster();
             let block = this_thread_block();
             let i = block.thread_rank();
             let mine = shared_array::<u32, 32>();
             let theirs = cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
             {body}
         }}"
    )
}

#[track_caller]
fn fences_of(options: &str, body: &str) -> String {
    let source = kernel(options, body);
    let Attributed { options, item, .. } = Attributed::parse(&source);
    let Ok(chosen) = super::session().fences(options, item) else {
        panic!("{body}: {:?}", super::faults(&source));
    };
    shown(&chosen)
}

fn shown(chosen: &[ChosenFence]) -> String {
    let name = |chosen: &ChosenFence| match (chosen.method, chosen.fence) {
        ("barrier_arrive_relaxed", _) => "written",
        (_, Fence::Relaxed) => "relaxed",
        (_, Fence::Shared) => "shared",
        (_, Fence::Full) => "full",
    };
    let shown = chosen.iter().map(|chosen| match chosen.waits {
        true => format!("({})", name(chosen)),
        false => name(chosen).to_owned(),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_barrier_orders_what_precedes_it() {
    let cases = [
        // Nothing was touched: the barrier shows that the peers have started.
        ("cluster.sync();", "relaxed"),
        ("let x = input[i] + n; cluster.sync(); output[i] = x;", "relaxed"),
        ("let mut local = [0; 4]; local[1] = n; cluster.sync(); output[i] = local[1];", "relaxed"),
        // A block's own memory, which peers or other threads of the block may read later, or overwrite.
        ("mine[i] = n; cluster.sync();", "shared"),
        ("mine[i] = n; block.sync(); let x = mine[0]; cluster.sync(); output[i] = x;", "shared"),
        ("mine[i] = n; block.sync(); mine.atomic(0).fetch_add(1, Relaxed); cluster.sync();", "shared"),
        ("let place = &mut mine[i]; change(place); cluster.sync();", "shared"),
        // What a device function does to memory that it is lent.
        ("change(&mut mine[i]); cluster.sync();", "shared"),
        ("change(&mut output[i]); cluster.sync(); output[0] = 1;", "full"),
        ("sum(&mine); cluster.sync();", "shared"),
        ("sum(input); cluster.sync(); sum(input);", "relaxed"),
        ("sum(bins); cluster.sync(); bins[0] = 1;", "full"),
        ("cluster.sync(); sum(&theirs); cluster.sync();", "relaxed full"),
        ("if i == 0 { mine[0] = n; } cluster.sync();", "shared"),
        ("mine.store_vec(0, vec4(n, n, n, n)); cluster.sync();", "shared"),
        // A peer's memory: the example of the programming guide.
        ("mine[i] = n; cluster.sync(); output[i] = theirs[i]; cluster.sync();", "shared shared"),
        ("cluster.sync(); theirs[i] = n; cluster.sync(); output[i] = mine[i];", "relaxed full"),
        (
            "mine[i] = n; cluster.sync(); theirs.atomic(i).fetch_add(1, Relaxed); cluster.sync(); output[i] = mine[i];",
            "shared full",
        ),
        // What a full arrival ordered needs no second one.
        (
            "mine[i] = n; cluster.sync(); let x = theirs[i]; cluster.sync(); mine[i] = x; cluster.sync(); cluster.sync();",
            "shared shared shared relaxed",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(body), expected, "{body}");
    }
}

#[test]
fn global_memory_needs_a_fence_where_a_later_access_conflicts() {
    let cases = [
        ("output[i] = n; cluster.sync();", "relaxed"),
        ("output[i] = n; cluster.sync(); bins[i] = 1;", "full"),
        ("output[i] = n; cluster.sync(); let x = bins[i]; mine[i] = x; cluster.sync();", "full shared"),
        ("let x = bins[i]; cluster.sync(); mine[i] = x;", "relaxed"),
        ("let x = bins[i]; cluster.sync(); bins[i + 1] = x;", "full"),
        ("let x = bins.atomic(0).load(Acquire); cluster.sync(); bins.atomic(1).store(x, Relaxed);", "full"),
        ("let x = bins.atomic(0).load(Acquire); cluster.sync(); mine[i] = x;", "relaxed"),
        // The load may learn of what another cluster wrote, and tells the peers by the barrier.
        ("let x = bins.atomic(0).load(Acquire); cluster.sync(); mine[i] = bins[x];", "full"),
        // A loop comes back to the access.
        ("for _ in 0..n { cluster.sync(); output[i] = n; }", "full"),
        ("for _ in 0..n { cluster.sync(); } output[i] = n;", "relaxed"),
        // A view of memory that is written is not read-only.
        ("let view = &bins[4..8]; let x = view[0]; cluster.sync(); bins[0] = x;", "full"),
        // Of memory that is chosen, each choice counts.
        ("let view = if n > 3 { &input } else { &input }; let x = view[0]; cluster.sync(); bins[0] = x;", "relaxed"),
        (
            "let mut view = &input[..]; let mut sum = 0; for _ in 0..n { sum += view[0]; view = &view[1..]; cluster.sync(); }",
            "relaxed",
        ),
        (
            "let mut view = &input[..]; if n > 3 { view = &bins[1..]; } let x = view[0]; cluster.sync(); bins[0] = x;",
            "full",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(body), expected, "{body}");
    }
}

#[test]
fn every_path_to_a_barrier_counts() {
    let cases = [
        ("if n > 3 { mine[i] = n; } else { output[i] = n; } cluster.sync(); output[i] = 1;", "full"),
        (
            "mine[i] = n; cluster.sync(); for _ in 0..n { let x = theirs[i]; output[i] = x; cluster.sync(); }",
            "shared full", // the writes to `output`
        ),
        (
            "mine[i] = n; cluster.sync(); for _ in 0..n { let x = theirs[i]; cluster.sync(); mine[i] = x; cluster.sync(); }",
            "shared shared shared",
        ),
        ("for k in 0..n { if k == 2 { continue; } mine[i] = k; cluster.sync(); } cluster.sync();", "shared relaxed"),
        ("let mut k = 0; loop { if k > n { break; } mine[i] = k; k += 1; } cluster.sync();", "shared"),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(body), expected, "{body}");
    }
}

#[test]
fn a_wait_has_the_fence_of_its_arrivals() {
    let cases = [
        ("mine[i] = n; let t = cluster.barrier_arrive(); let x = input[i]; cluster.barrier_wait(t); output[i] = x;", "shared (shared)"),
        ("let t = cluster.barrier_arrive(); mine[i] = n; cluster.barrier_wait(t); cluster.sync();", "relaxed (relaxed) shared"),
        (
            "mine[i] = n; let t = if n > 1 { output[i] = n; cluster.barrier_arrive() } else { cluster.barrier_arrive() };
             cluster.barrier_wait(t); output[i] = 1;",
            "full full (full)",
        ),
        (
            "let mut t = cluster.barrier_arrive(); for k in 0..n { cluster.barrier_wait(t); mine[i] = k; t = cluster.barrier_arrive(); }
             cluster.barrier_wait(t);",
            "shared (shared) shared (shared)",
        ),
        (
            "mine[i] = n; let mut t = None; if n > 1 { t = Some(cluster.barrier_arrive()); }
             if let Some(t) = t { cluster.barrier_wait(t); }",
            "shared (shared)",
        ),
        ("let t = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(t); cluster.sync();", "written (relaxed) relaxed"),
        // A relaxed arrival that the user wrote orders nothing, so that the next one must.
        ("mine[i] = n; let t = cluster.barrier_arrive_relaxed(); cluster.barrier_wait(t); cluster.sync();", "written (relaxed) shared"),
        // Only a full fence covers what another thread learns between an arrival and its wait.
        ("let t = cluster.barrier_arrive(); bins.atomic(0).fetch_add(1, Release); cluster.barrier_wait(t);", "full (full)"),
        ("let t = cluster.barrier_arrive(); if i / 32 == 1 { t.forget(); } else { cluster.barrier_wait(t); }", "full (full)"),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(body), expected, "{body}");
    }
}

/// A method accesses what it is given, and whatever else it does is known later, as it is of functions.
#[test]
fn methods_access_what_they_are_given() {
    let cases = [
        ("let x = n.thing(&block, input[i]); cluster.sync(); output[i] = x;", "relaxed"),
        ("let x = u32::thing(n); cluster.sync();", "relaxed"),
        ("let x = n.thing(&mine); cluster.sync();", "shared"),
        ("let x = u32::thing(&mine[0..4]); cluster.sync();", "shared"),
        ("let x = mine[i].thing(); cluster.sync();", "shared"),
        ("let x = input[i].thing(); cluster.sync(); output[i] = x;", "relaxed"),
        ("let x = bins[i].thing(); cluster.sync(); output[i] = bins[x];", "full"),
        ("mine[i] = n; cluster.sync(); let x = theirs[i]; use_of(x.thing()); cluster.sync();", "shared shared"),
        ("mine[i] = n; cluster.sync(); theirs[i].thing(); cluster.sync();", "shared full"),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(body), expected, "{body}");
    }
}

/// What callers learn of a device function: all that it does itself, and what of that none of its arrivals has ordered.
#[test]
fn a_function_tells_what_it_does() {
    use MemoryEffects as E;
    let told = |signature: &str, body: &str| {
        let source = format!("#[device] fn f({signature}) {{ {body} }}");
        let text: String = super::expand(&source).to_string().split_whitespace().collect();
        ["all:", "left:"].map(|field| {
            let (_, effects) =
                text.split_once(&format!("{field}PlaceEffects{{own:MemoryEffects::from_bits_truncate("))?;
            effects.split_once("u8)").and_then(|(bits, _)| bits.parse().ok()).map(MemoryEffects::from_bits_truncate)
        })
    };
    let array = "cluster: &Cluster, m: &SharedArray<u32, 32>, r: &RemoteArray<u32, 32>";
    let cases = [
        ("x: u32", "use_of(x + 1);", E::empty(), E::empty()),
        (array, "use_of(m[0]);", E::SHARED, E::SHARED),
        (array, "cluster.sync(); use_of(r[0]);", E::PEER_READ, E::PEER_READ),
        (
            array,
            "use_of(m[0]); cluster.sync(); use_of(r[0]); cluster.sync();",
            E::SHARED.union(E::PEER_READ),
            E::empty(),
        ),
        (
            array,
            "m[0] = 1; use_of(r[0]); if cluster.num_blocks() > 1 { cluster.sync(); }",
            E::SHARED.union(E::PEER_READ),
            E::SHARED.union(E::PEER_READ),
        ),
        ("m: &mut [u32]", "m[0] = 1;", E::GLOBAL_WRITE, E::GLOBAL_WRITE),
        // The caller counts what its closure does.
        ("f: impl Fn(u32) -> u32, m: &SharedArray<u32, 32>", "use_of(f(m[0]));", E::SHARED, E::SHARED),
        ("f: impl Fn(u32), cluster: &Cluster", "cluster.sync(); f(1); cluster.sync();", E::empty(), E::empty()),
        // A fence tells of what others did.
        ("x: u32", "fence(Release, Scope::Cluster);", E::OTHER, E::OTHER),
        ("x: u32", "unsafe { cuda!(\"__nanosleep(1);\"; else || ()); }", E::all(), E::all()),
    ];
    for (signature, body, all, left) in cases {
        assert_eq!(told(signature, body), [Some(all), Some(left)], "{signature}: {body}");
    }
}

/// A slice or a reference may be to the memory of the block: the barriers of a function that is given one are full.
#[test]
fn a_function_does_not_know_its_slices() {
    for (parameter, is_full) in [("m: &[u32]", true), ("m: &mut u32", true), ("m: &SharedArray<u32, 32>", false)] {
        let source = format!("#[device] fn f(cluster: &Cluster, {parameter}) {{ cluster.sync(); }}");
        let text = super::expand(&source).to_string();
        assert_eq!(
            text.contains("is in a function that is given a slice or a reference"),
            is_full,
            "{parameter}: {text}"
        );
    }
}

/// For the barriers of a function, a closure that it is given may do anything.
#[test]
fn a_function_does_not_know_its_closure() {
    let source = "#[device] fn f(f: impl Fn(u32), cluster: &Cluster) { cluster.sync(); f(1); cluster.sync(); }";
    let text: String = super::expand(source).to_string().split_whitespace().collect();
    let causes: Vec<&str> = text.split("before:&[").skip(1).filter_map(|rest| rest.split(']').next()).collect();
    assert_eq!(causes.len(), 2, "{text}");
    assert_eq!([causes[0].contains("callsaclosure"), causes[1].contains("callsaclosure")], [false, true], "{text}");
}

#[test]
fn what_is_not_understood_is_full() {
    let copies = "bulk_copy_async(&mine, input, &bar);";
    let bar = "let bar = shared_barrier(); if i == 0 { bar.init(1); } block.sync();";
    let cases = [
        (format!("{bar} cluster.sync();"), "full"),
        (
            format!(
                "{bar} cluster.sync(); if i == 0 {{ bar.expect_tx(128); {copies} let _ = bar.arrive(); }} bar.wait_parity(false); cluster.sync();"
            ),
            "full full",
        ),
        ("memcpy_async(&block, &mine, input); block.wait_async(); cluster.sync();".into(), "full"),
        ("unsafe { cuda!(\"__nanosleep(1);\"; else || ()); } cluster.sync();".into(), "full"),
        ("cluster.sync(); cluster.sync_aligned();".into(), "relaxed full"),
    ];
    for (body, expected) in cases {
        assert_eq!(fences(&body), expected, "{body}");
    }
    assert_eq!(fences_of("cluster = 2, block = 32, fence = \"full\"", "cluster.sync();"), "full");
    assert_eq!(fences_of("cluster = 2, block = 32, fence = \"inferred\"", "cluster.sync();"), "relaxed");
    assert_eq!(
        fences_of("cluster = 2, block = 32, unchecked(divergent_exit)", "if i == 3 { return; } cluster.sync();"),
        "full"
    );
}

/// Forms of a read of `M` whose value is an expression.
const VALUES: &[&str] = &[
    "let x = M[i]; use_of(x);",
    "let x = *M.get_unchecked(i); use_of(x);",
    "let x = M.load_vec::<4>(0); use_of(x);",
    "let part = &M[0..4]; let x = part[0]; use_of(x);",
    "let (low, high) = M.split_at(4); use_of(low[0] + high[0]);",
    "assert!(M[0] == 1);",
    "println!(\"{}\", M[0]);",
    "for k in 0..M[0] { use_of(k); }",
    "let mut k = 0; while k < M[0] { k += 1; }",
    "if M[0] == 1 { use_of(1); }",
    "match M[0] { 1 => use_of(1), _ => {} }",
    "let x = if let 1 = M[0] { 2 } else { 3 }; use_of(x);",
    "let tile = tiled_partition::<32>(&block); let x = tile.shfl(M[i], 0); use_of(x);",
    "let tile = tiled_partition::<32>(&block); if tile.any(M[i] == 1) { use_of(1); }",
    "let x = (M[0], 1); use_of(x.0);",
    "let x = [M[0]; 4]; use_of(x[0]);",
    "let x = Some(M[0]); use_of(x.unwrap_or(1));",
    "let x = M[0] > 1 && n > 2; if x { use_of(1); }",
    "let x = block.uniform(M[0]); use_of(x);",
    "use_of(M[0]);",
    "let s: u32 = M.iter().sum(); use_of(s);",
    "let r = &M[3]; use_of(*r);",
    "let mut s = 0; for (x, y) in M.iter().zip(input) { s += x * y; } use_of(s);",
    "let s = M.iter().map(|x| x + 1).max(); use_of(s.unwrap_or(1));",
    "for x in &M[0..4] { use_of(*x); }",
    "let mut s = 0; for x in M.iter() { s += *x; } use_of(s);",
    "let mut view = &M[0..4]; if n > 1 { view = &M[4..8]; } use_of(view[0]);",
    "for part in M.chunks(4) { use_of(part[0]); }",
    "let part = &M.chunks(4)[1]; use_of(part[0]);",
    "let f = |k: u32| M[k]; use_of(f(1));",
    "let f = move |k: u32| M[k] + 1; use_of(f(1));",
    "let s: u32 = (0..4).map(|k| M[k]).sum(); use_of(s);",
    "let s = (0..4).fold(0, |s: u32, k| s.max(M[k])); use_of(s);",
    "let warp = tiled_partition::<32>(&block); let x = warp.invoke_one_broadcast(|| M[0]); use_of(x);",
    "let g = |k: u32| M[k]; let f = |k: u32| g(k) + 1; use_of(f(1));",
    "let x = Some(n).map_or(0, |k| M[k]); use_of(x);",
    "apply(|k: u32| M[k]);",
];

/// Whatever form an access has, the barrier after it orders it. A value that was read of a peer, it can wait for.
#[test]
fn every_form_of_access_counts() {
    let others = [
        "M[i] = 1;",
        "M[i] += 1;",
        "*M.get_unchecked_mut(i) = 1;",
        "M.store_vec(0, [n, n, n, n]);",
        "M.fill(0);",
        "if i == 0 { M.swap(0, 1); }",
        "if i == 0 { std::mem::swap(&mut M[0], &mut M[1]); }",
        "if i == 0 { let x = std::mem::replace(&mut M[0], 1); use_of(x); }",
        "let part = &mut M[0..4]; part[0] = 1;",
        "let (low, high) = M.split_at_mut(4); low[0] = 1; high[0] = 2;",
        "M.atomic(0).fetch_add(1, Relaxed);",
        "M.atomic(0).store(1, Release);",
        "let mut f = |k: u32| M[k] = 1; f(1);",
        "block.invoke_one(|| M[0] = 1);",
        "'a: { if n > 1 { break 'a; } M[0] = 1; }",
        "take(&M);",
        "change(&mut M[0]);",
        "look(&M[0]);",
        "look(&M[0..2]);",
        "let x = take(&M) + 1; use_of(x);",
        "if look(&M[0]) == 1 { use_of(1); }",
        "change(&mut M[0..2]);",
    ];
    for form in VALUES.iter().copied().chain(others) {
        let of_peer = if VALUES.contains(&form) { "shared" } else { "full" };
        for (memory, expected) in [("mine", "shared"), ("bins", "full"), ("theirs", of_peer)] {
            assert_eq!(fences(&between_barriers(form, memory)), format!("shared {expected}"), "{form} of {memory}");
        }
    }
}

fn between_barriers(form: &str, memory: &str) -> String {
    let access = form.replace('M', memory);
    format!("mine[i] = n; cluster.sync(); {access} cluster.sync(); bins[i] = n;")
}

/// In the text, the variable that the arrival waits for knows each of those values.
#[test]
fn what_is_read_of_a_peer_is_known_to_the_arrival() {
    for form in VALUES {
        let text = text(&kernel("cluster = 2, block = 32", &between_barriers(form, "theirs")), |_| None);
        assert!(text.contains("reads_of_peers peer_reads;\n"), "{form}: {text}");
        assert!(text.contains("cluster.sync<fence1>(peer_reads);"), "{form}: {text}");
        // A `split_at` gives two parts, of each of which an element is read.
        let reads = if form.contains("split_at") { 2 } else { 1 };
        assert_eq!(text.matches("peer_reads.of(").count(), reads, "{form}: {text}");
        let names = ["theirs", "part", "low", "high", "view", "items"];
        let text = text.replace("load_vec_unchecked<", "load_vec<");
        let read = |name: &&str| {
            [format!("{name}["), format!("{name}.get_unchecked("), format!("load_vec<<digits1>>({name}")]
                .iter()
                .map(|read| text.matches(read.as_str()).count())
                .sum::<usize>()
        };
        assert_eq!(names.iter().map(read).sum::<usize>(), reads, "{form}: {text}");
    }
    // Reads inside of other accesses, tests, loops and patterns.
    let inside = [
        "let x = mine[theirs[i]]; use_of(x);",
        "for k in 0..n { output[theirs[i] + k] = k; }",
        "let mut s = 0; for k in 0..n { s += input[theirs[k]]; } use_of(s);",
        "let at = theirs[i]; output[at] = input[at];",
        "let mut k = theirs[0]; while k < 5 { output[k] = 1; k += 1; }",
        "let (a, b) = if n > 2 { (theirs[0], theirs[1]) } else { (1, 2) }; use_of(a + b);",
        "let x = theirs[i].min(theirs[31 - i]); use_of(x);",
        "output.atomic(0).fetch_add(theirs[i], Relaxed);",
        "output[i] += theirs[i];",
        "output[i] = match theirs[i] { 0 => 1, k if k > 3 => k, _ => 2 };",
        "for (k, x) in theirs.iter().enumerate() { output[k] = *x; }",
    ];
    for form in inside {
        let body = format!("mine[i] = n; cluster.sync(); {form} cluster.sync();");
        assert_eq!(fences(&body), "shared shared", "{form}");
        let text = text(&kernel("cluster = 2, block = 32", &body), |_| None);
        let others = text.replace("peer_reads.of(theirs[", "").replace("peer_reads.of(theirs.get_unchecked(", "");
        assert!(!others.contains("theirs[") && !others.contains("theirs.get_unchecked("), "{form}: {text}");
    }
    // The places of writes, and what is read by reference, are as before.
    for form in ["M[i] += 1;", "look(&M[0]);"] {
        let body = format!("{} let x = theirs[i]; use_of(x); cluster.sync();", between_barriers(form, "theirs"));
        let text = text(&kernel("cluster = 2, block = 32", &body), |_| None);
        let reads = ["peer_reads.of(theirs[i])", "peer_reads.of(theirs.get_unchecked(i))"];
        assert_eq!(reads.iter().map(|read| text.matches(read).count()).sum::<usize>(), 1, "{form}: {text}");
        assert_eq!(text.matches("peer_reads.of(").count(), 1, "{form}: {text}");
    }
}

/// What an arrival at a peer's phase barrier publishes: what its thread did, and what others did that had told it.
#[test]
fn an_arrival_at_a_peer_releases_what_its_thread_knows_of() {
    // The barrier and the peer's, and a wait at the own one.
    let made = "let bar = shared_cluster_barrier(); bar.init_collective(&cluster, 32);
                let peer = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());";
    let told = "if i == 0 { peer.arrive_n(32); }";
    let cases = [
        // The barrier's own memory is shared.
        ("peer.arrive();".to_owned(), "shared"),
        ("mine[i] = n; peer.arrive(); bar.wait_parity(false);".to_owned(), "shared"),
        (format!("mine[i] = n; block.sync(); let x = mine[31 - i]; block.sync(); {told} bar.wait_parity(false); output[i] = x;"), "shared"),
        // A peer's memory, read or written by plain accesses, by this thread or one that told it.
        ("theirs[i] = n; peer.arrive(); bar.wait_parity(false);".to_owned(), "full"),
        (format!("mine[i] = n; cluster.sync(); if i == 3 {{ use_of(theirs[i]); }} block.sync(); {told} bar.wait_parity(false);"), "full full"),
        (format!("mine[i] = n; cluster.sync(); {told} bar.wait_parity(false); use_of(theirs[i]);"), "full shared"),
        // A peer's arrival tells what the peer knew.
        ("if cluster.block_rank() == 0 { theirs[i] = n; peer.arrive(); } else { bar.wait_parity(false); peer.arrive(); }".to_owned(), "full full"),
        ("if cluster.block_rank() == 0 { peer.arrive(); theirs[i] = n; } else { bar.wait_parity(false); peer.arrive(); }".to_owned(), "shared shared"),
        // Another barrier tells nothing of what precedes this one.
        (
            "let other = shared_barrier(); other.init_collective(&block, 1);
             if i == 0 { theirs[i] = n; let t = other.arrive(); other.wait(t); } else if i == 1 { bar.wait_parity(true); peer.arrive(); }".to_owned(),
            "shared",
        ),
        (
            "let other = shared_barrier(); other.init_collective(&block, 1);
             if i == 0 { theirs[i] = n; let t = other.arrive(); other.wait(t); } else if i == 1 { other.wait_parity(false); peer.arrive(); }".to_owned(),
            "full",
        ),
        // The split barrier of the block.
        (
            format!("if i == 3 {{ theirs[i] = n; }} let t = block.barrier_arrive(); {told} block.barrier_wait(t);"),
            "full",
        ),
        (
            "let t = block.barrier_arrive(); block.barrier_wait(t); if i == 3 { peer.arrive_n(32); } else { theirs[i] = n; }".to_owned(),
            "shared",
        ),
        // Global memory, by what any thread does in the kernel.
        ("use_of(input[i]); peer.arrive(); output[i] = n;".to_owned(), "shared"),
        ("output[i] = n; peer.arrive();".to_owned(), "full"),
        ("let x = bins[i]; peer.arrive(); mine[i] = x;".to_owned(), "shared"),
        (format!("for k in 0..n {{ {told} output[i] = k; }}"), "full"),
        (format!("for k in 0..n {{ {told} }} output[i] = n;"), "shared"),
        // A copy to a peer ends at the peer's barrier, with what it wrote.
        ("if i == 0 { bar.expect_tx(128); } cluster.sync(); theirs.store_async(i, n, &peer); peer.arrive(); bar.wait_parity(false);".to_owned(), "full shared"),
        // By a fence or an ordering atomic, a thread may tell any other thread anything.
        ("if i == 3 { theirs[3] = n; fence(Release, Scope::Cluster); } else { peer.arrive(); }".to_owned(), "full"),
        ("if i == 3 { theirs[3] = n; mine.atomic(0).store(1, Release); } else { peer.arrive(); }".to_owned(), "full"),
        ("if i == 3 { theirs[3] = n; } else { peer.arrive(); }".to_owned(), "shared"),
        // What a device function does.
        ("change(&mut mine[i]); peer.arrive();".to_owned(), "shared"),
        ("look(&theirs[i]); peer.arrive();".to_owned(), "full"),
        // There may be a fence in a method.
        ("let x = n.thing(); peer.arrive();".to_owned(), "full"),
        ("unsafe { cuda!(\"__nanosleep(1);\"; else || ()); } peer.arrive();".to_owned(), "full"),
    ];
    for (body, expected) in cases {
        assert_eq!(
            fences(&format!("{made} {body} cluster.sync();")).rsplit_once(' ').map(|(found, _)| found),
            Some(expected),
            "{body}"
        );
    }
}
