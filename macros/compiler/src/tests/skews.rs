//! Tests of indexes that differ between blocks by their ranks, and that a loop carries on: the parts of a ring.

use super::rules;

/// Returns the rules that a kernel breaks.
fn broken(setup: &str, each: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 4, block = 32)]
        fn kernel(x: &[u32], out: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let me = cluster.block_rank();
            let i = this_thread_block().thread_rank();
            let parts = shared_array::<[u32; 32], 8>();
            for c in 0..8 {{ parts[c][i] = x[i]; }}
            cluster.sync();
            let left = cluster.map_shared_rank(&parts, (me + 3) % 4);
            let right = cluster.map_shared_rank(&parts, (me + 1) % 4);
            {setup}
            for k in 0..n {{ {each} cluster.sync(); }}
            out[i] = parts[0][i];
        }}"
    ))
}

#[test]
fn parts_of_a_ring() {
    for (setup, each) in [
        ("let mut c = (me + 3) % 4;", "parts[c][i] += left[c][i]; c = (c + 3) % 4;"),
        ("let mut c = me;", "parts[c][i] += right[c][i]; c = (c + 1) % 4;"),
        ("let mut c = (me + 1) % 4;", "let next = (c + 1) % 4; parts[c][i] += right[c][i]; c = next;"),
        ("let mut c = me;", "parts[c][i] = left[(c + 2) % 4][i]; c = (c + 1) % 4;"),
        (
            "let mut c = me; if n == 7 { c = (me + 2) % 4; }",
            "parts[c][i] += left[c][i]; if k == 3 { c = (c + 2) % 4; }",
        ),
        // The halves of a buffer take turns, for what is read is written in the round before.
        (
            "let mut c = me; let mut d = 0;",
            "parts[4 * (1 - d) + c][i] = left[4 * d + c][i]; d = 1 - d; c = (c + 1) % 4;",
        ),
    ] {
        assert_eq!(broken(setup, each), [""; 0], "{setup} {each}");
    }
}

#[test]
fn parts_that_meet() {
    for (setup, each) in [
        // What a block reads of its neighbour is what that one writes.
        ("let mut c = (me + 3) % 4;", "parts[c][i] += left[(c + 3) % 4][i]; c = (c + 3) % 4;"),
        ("let mut c = me;", "parts[c][i] += right[(c + 1) % 4][i]; c = (c + 1) % 4;"),
        ("let mut c = me;", "let before = c; c = (c + 1) % 4; parts[c][i] += left[before][i];"),
        ("let mut c = 2 * me;", "parts[c % 2][i] += left[c % 2][i]; c += 1;"),
        // Blocks go on in different ways.
        ("let mut c = me;", "parts[c][i] += left[c][i]; c = (c + me) % 4;"),
        ("let mut c = me;", "parts[c][i] += left[c][i]; c = (c + x[me]) % 4;"),
        ("let mut c = me;", "parts[c][i] += left[c][i]; if me == 1 { c = (c + 1) % 4; }"),
        ("let mut c = me;", "parts[c][i] += left[c][i]; c = (c + 1) % 3;"),
        ("let mut c = me; if me == 2 { c = 1; }", "parts[c][i] += left[c][i]; c = (c + 1) % 4;"),
        ("let mut c = me;", "parts[c][i] += left[c][i]; c = me * 3 % 4;"),
        ("let mut c = me; let mut d = c;", "parts[c][i] += left[d][i]; d = c; c = (c + 1) % 4;"),
    ] {
        assert_eq!(broken(setup, each), ["overwrite_while_read"], "{setup} {each}");
    }
}
