//! Tests of closures: whatever the body of a closure does, it does wherever the closure is called, also where a device function or
//! a collective calls it.

use super::{rules, session};

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    rules(&format!("#[cluster_kernel(cluster = 2, block = 64)] {}", kernel(body)))
}

/// The same for a kernel that may call `apply`, a device function that calls its closure.
#[track_caller]
fn with_apply(body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let apply = parse("fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 { f(x) }");
    let faults = session().check_program(vec![apply], (parse("cluster = 2, block = 64"), parse(&kernel(body))));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

fn kernel(body: &str) -> String {
    format!(
        "fn calls(input: &[u32], output: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let array = shared_array::<u32, 64>();
            let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
            let bar = shared_barrier();
            bar.init_collective(&block, 64);
            array[block.thread_rank()] = block.thread_rank() as u32;
            cluster.sync();
            {body}
            cluster.sync();
        }}"
    )
}

/// A closure's result is not uniform if it reads memory that others write to, queries a barrier, or asks for its
/// block's rank.
#[test]
fn what_a_closure_gives_is_as_uniform_as_what_it_asks() {
    let given =
        |value: &str| broken(&format!("array[1] = 7; let ask = || {value}; if ask() == 0 {{ cluster.sync(); }}"));
    for value in [
        "array[0]",
        "array.load_vec::<2>(0)[0]",
        "unsafe { *array.get_unchecked(0) }",
        "unsafe { *array.get_unchecked_mut(0) }",
        "array.atomic(0).load(Relaxed)",
        "cluster.query_shared_rank(&array)",
        "bar.try_wait_parity(false) as u32",
    ] {
        assert_eq!(given(value), ["divergent_collective"], "{value}");
    }
    assert!(given("array.len()").is_empty());
    let nested = "array[1] = 7; let read = || array[0]; let ask = || read(); if ask() == 0 { cluster.sync(); }";
    assert_eq!(broken(nested), ["divergent_collective"]);
}

/// A closure's read of a peer conflicts with the owner's write after it.
#[test]
fn a_closure_touches_what_its_operations_touch() {
    let read = |value: &str| broken(&format!("let read = |i: usize| {value}; output[0] = read(3); array[3] = 2;"));
    for value in [
        "peer[i]",
        "peer.load_vec::<2>(i)[0]",
        "unsafe { *peer.get_unchecked(i) }",
        "unsafe { *peer.get_unchecked_mut(i) }",
        "peer.atomic(i).load(Relaxed)",
    ] {
        assert_eq!(read(value), ["overwrite_while_read"], "{value}");
    }
    assert!(read("output[i]").is_empty());
    let nested = "let inner = |i: usize| peer[i]; let read = |i: usize| inner(i); output[0] = read(3); array[3] = 2;";
    assert_eq!(broken(nested), ["overwrite_while_read"]);
}

/// `uniform` is a collective of its group, though no barrier: the call sites of a closure or a method are unknown.
#[test]
fn what_threads_do_together_is_not_in_closures_or_methods() {
    assert_eq!(broken("let same = || block.uniform(7); output[0] = same();"), ["collective_in_closure"]);
    let method = "#[device] impl Point { fn same(&self, block: &ThreadBlock) -> u32 { block.uniform(7) } }";
    assert_eq!(rules(method), ["collective_in_method"]);
}

/// What a closure assigns to a variable that it captures is what the variable holds after the call.
#[test]
fn a_closure_writes_to_what_it_captures() {
    let rank = "let rank = block.thread_rank();";
    let test = |body: &str| broken(&format!("{rank} {body} if flag == 0 {{ block.sync(); }}"));
    for body in [
        "let mut flag = 0; let mut put = |x: u32| flag = x; put(rank);",
        "let mut flag = 0; let mut put = |x: u32| flag += x; put(rank);",
        "let mut flags = [0u32; 2]; let mut put = |x: u32| flags[1] = x; put(rank); let flag = flags[1];",
        "let mut flags = [0u32; 2]; let mut put = |i: u32, x: u32| flags[i] = x; put(n, rank); let flag = flags[0];",
        "let mut flag = 0; let mut put = || flag = rank; let mut again = || put(); again();",
        "let mut flag = 0; let mut put = |x: u32| if x > 3 { flag = 1; }; put(rank);",
    ] {
        assert_eq!(test(body), ["divergent_collective"], "{body}");
    }
    for body in [
        "let mut flags = [0u32; 2]; let mut put = |x: u32| flags[1] = x; put(rank); let flag = flags[0];",
        "let mut flag = rank; let mut put = |x: u32| flag = x; put(3);",
        "let mut flag = 0; let mut put = |x: u32| flag = x; put(cluster.block_rank());",
    ] {
        assert!(test(body).is_empty(), "{body}: {:?}", test(body));
    }
}

/// A `move` closure sees the variables as they were where it was made.
#[test]
fn a_move_closure_keeps_what_it_copied() {
    let test =
        |body: &str| broken(&format!("let rank = block.thread_rank(); {body} if ask() == 0 {{ block.sync(); }}"));
    assert_eq!(test("let mut x = rank; let ask = move || x; x = 0; output[0] = x;"), ["divergent_collective"]);
    assert!(test("let mut x = 0; let ask = move || x; x = rank; output[0] = x;").is_empty());
    assert_eq!(
        test("let mut x = rank; let inner = move || x; x = 0; let ask = move || inner() + x;"),
        ["divergent_collective"]
    );
    assert!(test("let mut x = 0; let mut ask = move || { x += 1; x }; x = rank; output[0] = x;").is_empty());
    for (pair, field) in [("(rank, 0)", "0"), ("Pair { a: rank, b: 0 }", "a")] {
        let by_field = format!("let mut x = {pair}; let ask = move || x.{field}; x.{field} = 0;");
        assert_eq!(test(&by_field), ["divergent_collective"], "{pair}");
    }
    assert_eq!(test("let mut x = (0, 0); let mut ask = move || { x.0 += rank; x.0 };"), ["divergent_collective"]);
}

/// A closure that is an argument does what it does before and after whatever the function does that calls it.
#[test]
fn closures_that_others_call() {
    let call = |given: &str, after: &str| with_apply(&format!("output[0] = apply({given}, 1); {after}"));
    assert_eq!(call("|i| peer[i]", "array[3] = 2;"), ["overwrite_while_read"]);
    assert_eq!(call("|i| array[i]", ""), [""; 0]);
    assert_eq!(broken("output[0] = value.apply(|i| peer[i], 1); array[3] = 2;"), ["overwrite_while_read"], "a method");
    assert_eq!(broken("if apply(|i| i + block.thread_rank(), 1) == 0 { block.sync(); }"), [""; 0], "rustc is asked");
    let warp = "let warp = tiled_partition::<32>(&block); let rank = block.thread_rank();";
    let reduced = |closure: &str| broken(&format!("{warp} if warp.reduce(rank, {closure}) == 0 {{ warp.sync(); }}"));
    assert!(reduced("|a, b| a + b").is_empty());
    assert!(reduced("op::Plus").is_empty());
    assert_eq!(reduced("|a, b| a + b + rank"), ["divergent_collective"]);
    let once =
        |closure: &str| broken(&format!("{warp} if warp.invoke_one_broadcast({closure}) == 0 {{ warp.sync(); }}"));
    assert!(once("|| output[rank]").is_empty());
}

/// Asynchronous copies that a closure begins are in flight after it.
#[test]
fn copies_in_closures() {
    let copied = |body: &str| {
        broken(&format!(
            "let rank = block.thread_rank(); let mut begin = || bulk_copy_async(&mut output[..64], &array);
            if rank == 0 {{ begin(); {body} }}"
        ))
    };
    assert_eq!(copied("array[3] = 2; bulk_wait_group_read::<0>();"), ["copy_in_flight"]);
    assert!(copied("bulk_wait_group_read::<0>(); array[3] = 2;").is_empty());
}

/// Closures expand to one body for each call, so that nested ones are limited.
#[test]
fn bodies_are_limited() {
    let double = |n: usize| format!("let f{} = |x: u32| f{n}(x) + f{n}(x + 1);", n + 1);
    let nested = |depth: usize| {
        let chain: String = (0..depth).map(double).collect();
        broken(&format!("let f0 = |x: u32| x; {chain} output[0] = f{depth}(1);"))
    };
    assert!(nested(8).is_empty());
    assert_eq!(nested(12), ["unsupported_syntax"]);
}
