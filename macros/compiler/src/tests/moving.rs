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

/// A sort in which a number that changes selects the peer, so that its numbers are followed as far as they are few enough.
const BY_NUMBERS: &str = "#[cluster_kernel(cluster = 4, block = 64)]
fn sort(data: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let i = block.thread_rank();
    let keys = shared_array::<u32, 64>();
    let at = cluster.thread_rank();
    keys[i] = data[at];
    let mut size = 2;
    while size <= 256 {
        let mut distance = size / 2;
        while distance > 0 {
            if distance >= 64 { cluster.sync(); } else { block.sync(); }
            let mine = keys[i];
            let other = if distance >= 64 {
                cluster.map_shared_rank(&keys, cluster.block_rank() ^ (distance / 64))[i]
            } else {
                keys[i ^ distance]
            };
            if distance >= 64 { cluster.sync(); } else { block.sync(); }
            keys[i] = if (at & size == 0) == (at & distance == 0) { mine.min(other) } else { mine.max(other) };
            distance /= 2;
        }
        size *= 2;
    }
    data[at] = keys[i];
}";

/// The outcome of a test says more than the number does.
#[test]
fn steps_of_a_sort_by_numbers() {
    let sorted = |from: &str, to: &str| {
        assert!(BY_NUMBERS.contains(from), "{from}");
        rules(&BY_NUMBERS.replacen(from, to, 1))
    };
    let first = "            if distance >= 64 { cluster.sync(); } else { block.sync(); }\n            let mine";
    let second = "            if distance >= 64 { cluster.sync(); } else { block.sync(); }\n            keys";
    for (from, to) in [
        ("", ""),
        (first, "cluster.sync(); let mine"),
        (second, "cluster.sync(); keys"),
        ("distance /= 2", "distance >>= 1"),
    ] {
        assert_eq!(sorted(from, to), [""; 0], "{to}");
    }
    for (from, to) in [
        (first, "block.sync(); let mine"),
        (second, "block.sync(); keys"),
        (first, "if distance > 64 { cluster.sync(); } else { block.sync(); } let mine"),
        (second, "if distance >= 128 { cluster.sync(); } else { block.sync(); } keys"),
        (second, "if size >= 256 { cluster.sync(); } else { block.sync(); } keys"),
        (second, "distance /= 2; if distance >= 64 { cluster.sync(); } else { block.sync(); } keys"),
    ] {
        assert_ne!(sorted(from, to), [""; 0], "{to}");
    }
}
