//! Tests of branches on variables that loops move, one of which tells another, an iteration or a round later.

use super::rules;

/// A bitonic sort over the blocks of a cluster: far steps need its barriers, near ones those of a block.
const SORT: &str = "#[cluster_kernel(cluster = 4, block = 64)]
fn sort(keys: &mut [i32], near: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let s = shared_array::<i32, 64>();
    let t = block.thread_rank();
    let g = cluster.thread_rank();
    s[t] = keys[this_grid().thread_rank()];
    cluster.sync();
    let mut k = 2;
    while k <= 4 * near {
        let mut j = k / 2;
        while j > 0 {
            let partner = g ^ j;
            let mine = s[t];
            let other = if j >= near { cluster.map_shared_rank(&s, partner / near)[partner % near] } else { s[partner % near] };
            let keep_min = (g < partner) == (g & k == 0);
            let value = if keep_min { mine.min(other) } else { mine.max(other) };
            if j >= near { cluster.sync(); } else { block.sync(); }
            s[t] = value;
            if j >= near || j / 2 >= near { cluster.sync(); } else { block.sync(); }
            j /= 2;
        }
        if k >= near { cluster.sync(); }
        k *= 2;
    }
    keys[this_grid().thread_rank()] = s[t];
}";

fn sorted(edits: &[(&str, &str)]) -> Vec<String> {
    let mut source = SORT.to_owned();
    for (from, to) in edits {
        assert!(source.contains(from), "{from}");
        source = source.replacen(from, to, 1);
    }
    rules(&source)
}

const BEHIND: &str = "if j >= near || j / 2 >= near {";

/// A test before a variable is set says what the variable will be.
#[test]
fn steps_of_a_sort() {
    for right in [
        &[][..],
        &[(BEHIND, "if j / 2 >= near || j >= near {")],
        &[(BEHIND, "if j / 2 >= near {")],
        &[(BEHIND, "let next = j / 2; if next >= near {"), ("j /= 2;", "j = next;")],
        &[("if k >= near {", "if true {")],
        &[("k *= 2", "k <<= 1"), ("let mut j = k / 2;", "let mut j = k >> 1;")],
    ] {
        assert_eq!(sorted(right), [""; 0], "{right:?}");
    }
}

/// A test of something else, or of what is set in between, says nothing.
#[test]
fn steps_of_a_sort_that_lack_a_barrier() {
    for wrong in [
        &[("if j >= near { cluster.sync(); }", "if j / 2 >= near { cluster.sync(); }")][..],
        &[(BEHIND, "if j / 4 >= near {")],
        &[(BEHIND, "if j >= near && j / 2 >= near {")],
        &[(BEHIND, "if j / 2 >= 2 * near {")],
        &[("if k >= near { cluster.sync(); }", "")],
        &[("if k >= near {", "if k < near {")],
        &[("if k >= near {", "if k / 2 >= near {")],
        &[("k *= 2", "k *= 4")],
        &[("let mut j = k / 2;", "let mut j = k;")],
        &[("j /= 2;", "j /= 2; if j == 1 { j = k / 2; }")],
    ] {
        assert_ne!(sorted(wrong), [""; 0], "{wrong:?}");
    }
}

/// A product that wraps around may be negative, and a half of it larger than the number was.
#[test]
fn signed_numbers() {
    let of = |ty: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)]
            fn grows(out: &mut [u32], first: {ty}, near: {ty}, rounds: u32) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let s = shared_array::<u32, 64>();
                let t = block.thread_rank();
                let other = 1 - cluster.block_rank();
                s[t] = 0;
                cluster.sync();
                let mut k = first;
                for _ in 0..rounds {{
                    let j = k / 2;
                    if j >= near {{ out[t] = cluster.map_shared_rank(&s, other)[t]; cluster.sync(); }}
                    s[t] += 1;
                    if k >= near {{ cluster.sync(); }} else {{ block.sync(); }}
                    k *= 2;
                }}
                cluster.sync();
            }}"
        ))
    };
    assert_eq!(of("u32"), [""; 0]);
    assert_eq!(of("i32"), ["unpublished_remote_read"]);
}
