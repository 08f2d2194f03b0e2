//! Tests of closures: their control flow is not followed, so each operation in one counts with everything it may return
//! and access.

use super::faults;

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn calls(output: &mut [u32]) {{
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
    );
    faults(&source).iter().map(|fault| fault.rule().to_string()).collect()
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
    let rules: Vec<String> = faults(method).iter().map(|fault| fault.rule().to_string()).collect();
    assert_eq!(rules, ["collective_in_method"]);
}
