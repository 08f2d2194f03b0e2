//! Tests of counters that begin anew in each round of an outer loop: whether the last buffer of one round is the first of the next.

use super::{rules, session};

fn kernel(each: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 32)]
        fn kernel(x: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let t = this_thread_block().thread_rank();
            let s = shared_array::<[u32; 32], 4>();
            let far = cluster.map_shared_rank(&s, 1 - cluster.block_rank());
            let mut v = x[t];
            for i in 0..n {{ {each} }}
            cluster.sync();
            x[t] = v;
        }}"
    )
}

#[test]
fn rounds_of_a_literal_length() {
    let turn = |b: &str| format!("{{ let b = {b}; s[b][t] = v; cluster.sync(); v += far[b][31 - t]; }}");
    for (each, even, odd) in [
        ("for r in 0..N".to_string() + &turn("r % 2"), "4", "3"),
        ("for r in 0..N".to_string() + &turn("r & 1"), "2", "5"),
        ("for r in 1..=N".to_string() + &turn("r % 2"), "6", "1"),
        ("for r in 0..N".to_string() + &turn("(r + 1) % 3"), "6", "4"),
        ("for r in (0..N).step_by(3)".to_string() + &turn("r % 2"), "10", "7"),
        ("for r in 0..N".to_string() + &turn("r % 2") + "for r in 0..3" + &turn("(r + 1) % 2"), "3", "4"),
        // The rounds go on.
        ("for j in 0..3".to_string() + &turn("(i * N + j) % 2"), "3", "2"),
        ("for j in 0..N { let r = i * 4 + j;".to_string() + &turn("r % 2") + "}", "4", "3"),
    ] {
        assert_eq!(rules(&kernel(&each.replace('N', even))), [""; 0], "{each} {even}");
        assert_eq!(rules(&kernel(&each.replace('N', odd))), ["overwrite_while_read"], "{each} {odd}");
    }
    // Where a round may end early, or its length is not known.
    for each in [
        "for r in 0..4 { if n == r { break; } TURN }",
        "for r in 0..n { TURN }",
        "for r in 0..4 { if r == 3 { continue; } TURN }",
    ] {
        let each = each.replace("TURN", &turn("r % 2"));
        assert_eq!(rules(&kernel(&each)), ["overwrite_while_read"], "{each}");
    }
}

#[test]
fn rounds_of_a_constant_length() {
    let file = |rounds: u32| {
        let each = "for r in 0..ROUNDS { s[r % 2][t] = v; cluster.sync(); v += far[r % 2][31 - t]; }";
        format!("const ROUNDS: u32 = {rounds}; {}", kernel(each))
    };
    assert!(session().check_file(&file(8)).is_empty());
    assert!(!session().check_file(&file(7)).is_empty());
}
