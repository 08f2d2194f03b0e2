//! Tables of stages and phases: constants of the file, of the body, and local arrays.

use super::verdict;

/// A ring of two stages whose `(stage, phase)` the expression gives in round `k`.
fn ring(table: &str, lookup: &str, [wait, bytes, read]: [&str; 3]) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn k(x: &[u32], out: &mut [u32], n: u32) {{
            {table}
            let block = this_thread_block();
            let i = block.thread_rank();
            let rows = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {{
                for k in 0..n {{
                    let (s, p) = {lookup};
                    {wait}
                    full[s].expect_tx({bytes}); bulk_copy_async(&rows[s], &x[..32], &full[s]); let _ = full[s].arrive();
                }}
            }} else if i < 32 {{
                let mut sum = 0;
                for k in 0..n {{ let (s, p) = {lookup}; full[s].wait_parity(p); {read} }}
                out[i] = sum;
            }}
        }}"
    )
}

const ROWS: &str = "[(0, false), (1, false), (0, true), (1, true)]";
const RIGHT: [&str; 3] = ["empty[s].wait_parity(!p);", "128", "sum += rows[s][i]; let _ = empty[s].arrive();"];

/// The forms of a table of these rows: what stands in the file, what in the body, and how it is looked up.
fn forms(rows: &str) -> [(String, String, &'static str); 4] {
    [
        (format!("const T: [(u32, bool); 4] = {rows};"), String::new(), "T[k as usize % 4]"),
        (String::new(), format!("const T: [(u32, bool); 4] = {rows};"), "T[k as usize % 4]"),
        (String::new(), format!("let t = {rows};"), "t[k as usize % 4]"),
        (String::new(), format!("let t = {rows};"), "{ let (s, p) = t[(k % 4) as usize]; (s, p) }"),
    ]
}

#[test]
fn tables_of_stages_and_phases() {
    for (file, body, lookup) in forms(ROWS) {
        let of = |steps| verdict(&file, &ring(&body, lookup, steps));
        assert_eq!(of(RIGHT), "proved", "{file} {body} {lookup}");
        assert_eq!(of(["empty[s].wait_parity(p);", RIGHT[1], RIGHT[2]]), "ring_deadlock");
        assert_eq!(of(["", RIGHT[1], RIGHT[2]]), "ring_overwrite");
        assert_eq!(of([RIGHT[0], "64", RIGHT[2]]), "ring_deadlock");
        assert_eq!(of([RIGHT[0], "128", "let _ = empty[s].arrive(); sum += rows[s][i];"]), "ring_overwrite");
    }
    for wrong in [
        "[(0, false), (1, false), (0, true), (0, true)]",
        "[(0, false), (1, false), (0, false), (1, true)]",
        "[(0, true), (1, false), (0, true), (1, true)]",
    ] {
        for (file, body, lookup) in forms(wrong) {
            let found = verdict(&file, &ring(&body, lookup, RIGHT));
            assert!(found.starts_with("ring_"), "{found}: {wrong} {lookup}");
        }
    }
}

#[test]
fn tables_of_numbers() {
    let lookup = "(T[k as usize % 4], k / 2 % 2 == 1)";
    let of = |file: &str| verdict(file, &ring("", lookup, RIGHT));
    assert_eq!(of("const T: [u32; 4] = [0, 1, 0, 1];"), "proved");
    assert_eq!(of("const T: [u32; 4] = [0, 1, 1, 0];"), "proved");
    assert!(of("const T: [u32; 4] = [0, 1, 0, 0];").starts_with("ring_"));
    // Which of two it is, only rustc knows.
    let two = "mod a { const T: [u32; 4] = [0, 1, 0, 0]; } mod b { const T: [u32; 4] = [0, 1, 0, 1]; }";
    assert!(of(two).starts_with("open"), "{}", of(two));
}
