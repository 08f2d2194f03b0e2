//! Tests of kernels that are generic over constants, and of the threads of kernels in numbers that groups answer: what is wrong in each
//! instance that is tried is a fault, and what is right in one is not.

use super::session;

fn broken(file: &str) -> Vec<String> {
    session().check_file(file).iter().map(|fault| fault.rule().to_string()).collect()
}

/// A kernel with these options and generics, and this body.
fn kernel(options: &str, generics: &str, body: &str) -> String {
    format!(
        "#[cluster_kernel({options})]
        fn kernel<{generics}>(input: &[u32], out: &mut [u32], n: usize) {{
            let block = this_thread_block();
            let t = block.thread_rank() as usize;
            {body}
        }}"
    )
}

#[track_caller]
fn wrong_without_barrier(options: &str, generics: &str, body: &str) {
    let text = |sync: &str| kernel(options, generics, &body.replace("SYNC", sync));
    assert_eq!(broken(&text("block.sync();")), [""; 0], "{body}");
    assert_eq!(broken(&text("")), ["unsynchronized_access"], "{body}");
}

#[test]
fn a_barrier_is_missing_in_each_instance() {
    for (options, generics, body) in [
        ("block = N", "const N: usize", "let s = shared_array::<u32, N>(); s[t] = input[t]; SYNC out[t] = s[N - 1 - t];"),
        (
            "block = N",
            "const N: usize, T: DeviceCopy",
            "let s = shared_array::<T, N>(); let u = shared_array::<u32, N>(); u[t] = input[t]; SYNC out[t] = u[(t + 1) % N];",
        ),
        (
            "block = (N, N)",
            "const N: usize",
            "let s = shared_array::<[u32; N], N>(); let i = block.thread_index(); s[i.y][i.x] = input[t]; SYNC out[t] = s[i.x][i.y];",
        ),
        (
            "block = 128",
            "const STAGES: usize",
            "let s = shared_array::<[u32; 128], STAGES>();
            for k in 0..n { s[k % STAGES][t] = input[k * 128 + t]; SYNC out[k * 128 + t] = s[k % STAGES][127 - t]; block.sync(); }",
        ),
        (
            "cluster = C, block = N",
            "const C: usize, const N: usize",
            "let s = shared_array::<u32, N>(); s[t] = input[t]; SYNC out[t] = s[(t + 1) % N];",
        ),
        (
            "block = N",
            "const N: usize, const FAST: bool",
            "let s = shared_array::<u32, N>(); if FAST { s[t] = input[t]; } else { s[t] = input[2 * t]; } SYNC out[t] = s[N - 1 - t];",
        ),
        (
            "block = { N * 2 }",
            "const N: usize",
            "let s = shared_array::<u32, 1024>(); s[t] = input[t]; SYNC out[t] = s[2 * N - 1 - t];",
        ),
        (
            "block = N",
            "const N: usize",
            "let s = shared_array::<u32, N>(); s[t] = input[t]; SYNC let mut d = N / 2;
            while d > 0 { if t < d { s[t] += s[t + d]; } block.sync(); d /= 2; }",
        ),
    ] {
        wrong_without_barrier(options, generics, body);
    }
}

/// The constants of the file and the bodies of its functions are followed in instances, too.
#[test]
fn with_constants_and_functions_of_the_file() {
    let with = |before: &str, body: &str| format!("{before} {}", kernel("block = N", "const N: usize", body));
    let half = "const HALF: usize = 2;";
    let body = "let s = shared_array::<u32, N>(); s[t] = input[t]; SYNC if t < N / HALF { out[t] = s[t + N / HALF]; }";
    assert_eq!(broken(&with(half, &body.replace("SYNC", "block.sync();"))), [""; 0]);
    assert_eq!(broken(&with(half, &body.replace("SYNC", ""))), ["unsynchronized_access"]);
    let put = "#[device] fn put<const N: usize>(s: &SharedArray<u32, N>, t: usize, x: u32) { s[t] = x; }";
    let body = "let s = shared_array::<u32, N>(); put(&s, t, input[t]); SYNC out[t] = s[N - 1 - t];";
    assert_eq!(broken(&with(put, &body.replace("SYNC", "block.sync();"))), [""; 0]);
    assert_eq!(broken(&with(put, &body.replace("SYNC", ""))), ["unsynchronized_access"]);
}

/// Nothing is said of a kernel that is right in some instance, or in which a thread fails.
#[test]
fn right_in_some_instance() {
    for (options, generics, body) in [
        (
            "block = N",
            "const N: usize, const SYNC: bool",
            "let s = shared_array::<u32, N>(); s[t] = input[t]; if SYNC { block.sync(); } out[t] = s[N - 1 - t];",
        ),
        (
            "block = N",
            "const N: usize",
            "let warp = tiled_partition::<32>(&block); let s = shared_array::<u32, N>(); s[t] = input[t]; warp.sync(); out[t] = s[N - 1 - t];",
        ),
        (
            "block = N",
            "const N: usize",
            "assert!(N == 1); let s = shared_array::<u32, 1024>(); s[t] = input[t]; out[t] = s[N - 1 - t];",
        ),
        (
            "block = 64",
            "const FAR: usize",
            "let s = shared_array::<u32, 128>(); s[t] = input[t]; if FAR < 64 { out[t] = s[t + FAR]; }",
        ),
        (
            "block = 64, unchecked(unsynchronized_access)",
            "const N: usize",
            "let s = shared_array::<u32, 64>(); s[t] = input[t]; out[t] = s[(t + N) % 64];",
        ),
        (
            "block = N, unchecked(unsynchronized_access)",
            "const N: usize",
            "let s = shared_array::<u32, N>(); s[t] = input[t]; out[t] = s[N - 1 - t];",
        ),
    ] {
        assert_eq!(broken(&kernel(options, generics, body)), [""; 0], "{body}");
    }
}

/// The message names instances with the fault.
#[test]
fn instances_are_named() {
    let body = "let s = shared_array::<u32, N>(); s[t] = input[t]; if ODD { s[t] += 1; } out[t] = s[N - 1 - t];";
    let faults = session().check_file(&kernel("block = N", "const N: usize, const ODD: bool", body));
    let text = faults[0].text();
    assert!(
        text.contains("this fault occurs with `N` = 64, `ODD` = false, or with `N` = 64, `ODD` = true, and with"),
        "{text}"
    );
}

/// What a group answers about its size, and the length of a shared array, are numbers.
#[test]
fn sizes_of_groups() {
    let head = "let warp = tiled_partition::<32>(&block); let s = shared_array::<u32, 512>(); let sums = shared_array::<u32, 4>();";
    for body in [
        "if warp.thread_rank() == 0 { sums[warp.meta_group_rank()] = input[t]; } SYNC
        let mut sum = 0; for k in 0..warp.meta_group_size() { sum += sums[k]; } out[t] = sum;",
        "for i in (t..512).step_by(block.num_threads() as usize) { s[i] = input[i]; } SYNC out[t] = s[511 - t];",
        "let rank = warp.meta_group_rank(); s[rank * 32 + warp.thread_rank()] = input[t]; SYNC
        out[t] = s[(rank + 1) % warp.meta_group_size() * 32 + warp.thread_rank()];",
        "let half = tiled_partition::<16>(&warp); s[t] = input[t]; SYNC out[t] = s[(t + half.meta_group_size() as usize) % 128];",
        "s[t] = input[t]; SYNC out[t] = s[(t + s.len() / 8) % 128];",
        "let x = warp.invoke_one_broadcast(|| { sums[warp.meta_group_rank()] = input[t]; 1u32 }); SYNC out[t] = sums[3] + x;",
    ] {
        wrong_without_barrier("block = 128", "", &format!("{head} {body}"));
    }
}

/// More threads change an element each than there are.
#[test]
fn more_threads_than_elements() {
    let of_block = |length: u32, change: &str| {
        let body = format!(
            "let s = shared_array::<u32, {length}>(); if t < {length} {{ s[t] = 0; }} block.sync(); {change} block.sync(); out[t] = s[0];"
        );
        broken(&kernel("block = 128", "", &body))
    };
    let own = "for k in 0..4usize { s[input[k * 128 + t] % 64] += 1; }";
    assert_eq!(of_block(64, own), ["unsynchronized_access"]);
    assert_eq!(of_block(64, "s[input[t]] = s[input[t]] ^ 5;"), ["unsynchronized_access"]);
    assert_eq!(of_block(128, own), ["unsynchronized_access"]);
    assert_eq!(of_block(128, "s[input[t]] = s[input[t]] ^ 5;"), [""; 0]);
    for right in [
        "s.atomic(input[t]).fetch_add(1, Relaxed);",
        "if input[t] < 64 { s[input[t]] += 1; }",
        "if t < 64 { s[input[t]] += 1; }",
        "s[input[t]] = 7;",
        "while out.atomic(0).swap(1, Acquire) == 1 {} s[input[t]] += 1; out.atomic(0).store(0, Release);",
    ] {
        assert_eq!(of_block(64, right), [""; 0], "{right}");
    }
    let of_cluster = |length: u32, change: &str| {
        let body = format!(
            "let cluster = this_cluster(); let s = shared_array::<u32, {length}>(); if t < {length} {{ s[t] = 0; }} cluster.sync();
            {change} cluster.sync(); out[t] = s[0];"
        );
        broken(&kernel("cluster = 2, block = 128", "", &body))
    };
    let first = "cluster.map_shared_rank(&s, 0)[input[t]] += 1;";
    let other = "cluster.map_shared_rank(&s, 1 - cluster.block_rank())[input[t]] += 1;";
    assert_eq!(of_cluster(64, other), ["unsynchronized_access"]);
    assert_eq!(of_cluster(128, other), [""; 0]);
    assert_eq!(of_cluster(128, first), ["unordered_remote_write"]);
    assert_eq!(of_cluster(256, first), [""; 0]);
    assert_eq!(
        of_cluster(128, "if cluster.block_rank() == 1 { cluster.map_shared_rank(&s, 0)[input[t]] += 1; }"),
        [""; 0]
    );
}

/// The threads of equal rank in two blocks choose one element of a third block.
#[test]
fn an_owner_that_varies_by_thread() {
    let body = |owner: &str, row: &str| {
        let body = format!(
            "let cluster = this_cluster(); let s = shared_array::<[u32; 128], 4>(); cluster.sync();
            for _ in 0..n {{ cluster.map_shared_rank(&s, {owner})[{row}][t] = value(t); cluster.sync(); out[t] = s[0][t]; cluster.sync(); }}"
        );
        format!("#[device] fn value(t: usize) -> u32 {{ t as u32 }} {}", kernel("cluster = 4, block = 128", "", &body))
    };
    for owner in ["t as u32 % 4", "(cluster.thread_rank() + 1) % 4", "block.thread_index().x % 4"] {
        // Some elements are written twice, and others never.
        let found = broken(&body(owner, "0"));
        assert!(found == ["unordered_remote_write"] || found == ["uninit_shared_read"], "{owner}: {found:?}");
        // Nobody writes what a thread reads in another block than its own.
        assert_eq!(broken(&body(owner, "cluster.block_rank()")), ["uninit_shared_read"], "{owner}");
    }
    assert_eq!(broken(&body("(cluster.block_rank() + t as u32) % 4", "0")), [""; 0]);
}

/// Bodies that return early, take closures or are generic stand in place of their calls.
#[test]
fn functions_that_are_followed() {
    for (function, call) in [
        (
            "fn put(s: &SharedArray<u32, 128>, t: usize, x: u32) { if t > 99 { return; } s[t] = x; }",
            "put(&s, t, input[t]);",
        ),
        ("fn put<T: DeviceCopy>(s: &SharedArray<T, 128>, t: usize, x: T) { s[t] = x; }", "put(&s, t, input[t]);"),
        ("fn place(t: usize) -> usize { if t > 63 { return t - 64; } t + 64 }", "s[place(t)] = input[t];"),
        ("fn place<T: DeviceCopy, const N: usize>(t: T) -> T { t }", "s[place::<usize, 4>(t)] = input[t];"),
        (
            "fn each(n: u32, f: impl Fn(usize)) { for i in 0..n { f(i as usize); } }",
            "each(1, |i| s[t + i] = input[t]);",
        ),
        ("fn each<F: Fn(usize)>(f: F) { f(0); }", "each(|i| s[t + i] = input[t]);"),
    ] {
        let text = |sync: &str| {
            let body = format!("let s = shared_array::<u32, 128>(); {call} {sync} out[t] = s[127 - t];");
            format!("#[device] {function} {}", kernel("block = 128", "", &body))
        };
        assert_eq!(broken(&text("block.sync();")), [""; 0], "{function}");
        assert_eq!(broken(&text("")), ["unsynchronized_access"], "{function}");
    }
}

/// Where some instances are right, rustc refuses the others, by the values of their constants.
#[test]
fn some_instances_are_at_fault() {
    let refusals = |sync: &str| {
        let kernel = kernel(
            "block = N",
            "const N: usize",
            &format!("let s = shared_array::<u32, N>(); s[t] = input[t]; {sync} out[t] = s[N - 1 - t];"),
        );
        let item: syn::ItemFn = syn::parse_str(&kernel).expect("a kernel");
        let syn::Meta::List(options) = &item.attrs[0].meta else { panic!("options") };
        let mut body = item.clone();
        body.attrs.clear();
        session().kernel(options.tokens.clone(), quote::quote!(#body)).to_string()
    };
    let of = |value: u32| format!("(N) as i128 == {value}i128");
    let by_warp = refusals("tiled_partition::<32>(&block).sync();");
    for (value, is_faulty) in [(64, true), (128, true), (256, true), (32, false), (16, false)] {
        assert_eq!(by_warp.contains(&of(value)), is_faulty, "{value}: {by_warp}");
    }
    assert!(by_warp.contains("this fault occurs with `N` = 64, and not with all other values"));
    assert!(!refusals("block.sync();").contains("not with all other values"));
}

/// Instances that the file names are tried, too: by literals and by constants, also where nothing is called.
#[test]
fn instances_that_the_file_names() {
    let kernel = kernel(
        "block = 128",
        "const D: usize",
        "let s = shared_array::<u32, 128>(); s[t] = input[t]; if D < 70 { block.sync(); } out[t] = s[127 - t];",
    );
    let (options, item) = kernel.split_once(")]").expect("an attribute");
    let options = options.strip_prefix("#[cluster_kernel(").expect("an attribute");
    let refused = |used: &str| {
        let file = format!("const FAR: usize = 78; {kernel} fn run() {{\n{used}\n}}");
        let tokens = |text: &str| text.parse().expect("tokens");
        let items = crate::expand::kernel_in(session(), &file, tokens(options), tokens(item)).to_string();
        [41, 78, 115, 128].map(|value| items.contains(&format!("(D) as i128 == {value}i128")))
    };
    assert_eq!(refused(""), [false, false, false, true]);
    assert_eq!(refused("kernel::<41>(&x, &mut y, 3).grid(1);"), [false, false, false, true]);
    assert_eq!(refused("kernel::<115>(&x, &mut y, 3).grid(1);"), [false, false, true, true]);
    assert_eq!(refused("kernel::<FAR>(&x, &mut y, 3); Program::of::<kernel::<115>>();"), [false, true, true, true]);
    assert_eq!(refused("other_kernel::<115>(&x);\n// kernel::<78>(&x)"), [false, false, false, true]);
    assert_eq!(refused("kernel::<{ 100 + 15 }>(&x);\nkernel::<78, 2>(&x);"), [false, false, false, true]);
}
