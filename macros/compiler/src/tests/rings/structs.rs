//! Tests of slots that are structs, of which threads access fields, elements of fields, or all.

use super::super::rules;
use super::verdict;

/// A ring of slots that one thread or a warp fills and another warp reads.
fn ring(slot: &str, fill: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)]
        fn scale(input: &[u32], out: &mut [u32], rounds: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let works = shared_array::<{slot}, 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 32);
            empty.init_collective(&block, 32);
            if i >= 32 {{
                let lane = i - 32;
                for k in 0..rounds {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    {fill}
                    let _ = full[k % 2].arrive();
                }}
            }} else {{
                for k in 0..rounds {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    {read}
                    let _ = empty[k % 2].arrive();
                }}
            }}
        }}"
    )
}

const FILE: &str =
    "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Work { first: u32, count: u32, row: [u32; 32] }";

const FORMS: [(&str, &str, &str); 5] = [
    ("Work", "if lane == 0 { works[k % 2].first = k; works[k % 2].count = 1; }", "out[i] = works[k % 2].first;"),
    (
        "Work",
        "if lane == 0 { works[k % 2].first = k; } if lane == 1 { works[k % 2].count = 1; }",
        "out[i] = works[k % 2].first + works[k % 2].count;",
    ),
    ("Work", "works[k % 2].row[lane] = input[k * 32 + lane];", "out[i] = works[k % 2].row[31 - i];"),
    (
        "[Work; 32]",
        "works[k % 2][lane].first = k; works[k % 2][lane].count = 1;",
        "out[i] = works[k % 2][31 - i].count;",
    ),
    ("[Work; 32]", "works[k % 2][lane].row[3] = k;", "let work = works[k % 2][31 - i]; out[i] = work.row[3];"),
];

/// What is right is not refused, whatever of a slot is written; each mistake is, without a value that only rustc knows.
#[test]
fn fields_of_slots() {
    for (slot, fill, read) in FORMS {
        let right = ring(slot, fill, read);
        assert_eq!(verdict(FILE, &right), "proved", "{fill}");
        let release = "let _ = empty[k % 2].arrive();";
        let wait = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
        let arrive = "let _ = full[k % 2].arrive();";
        for (wrong, what) in [
            (right.replace(release, "").replace(wait, &format!("{wait} {release}")), "early release"),
            (right.replace(arrive, "").replace(fill, &format!("{arrive} {fill}")), "early arrival"),
            (right.replace(release, ""), "no release"),
            (right.replace("k / 2 % 2 == 1", "k / 2 % 2 == 0"), "wrong parity"),
        ] {
            assert_ne!(wrong, right, "{what}");
            let found = verdict(FILE, &wrong);
            assert!(found.starts_with("ring_"), "{what} of {fill}: {found}");
        }
    }
}

/// Two fields of one element are not one: what one thread does with one of them says nothing about the other.
#[test]
fn fields_that_do_not_meet() {
    let kernel = |written: &str| {
        format!(
            "#[cluster_kernel(block = 64)]
            fn sums(out: &mut [u32]) {{
                let block = this_thread_block();
                let t = block.thread_rank();
                let s = shared_array::<Stage, 1>();
                {written}
                block.sync();
                out[t] = s[0].row[63 - t];
            }}"
        )
    };
    for right in ["s[0].row[t] = t;", "s[0].row[t] = t; if t == 3 { s[0].count = 1; }", "s[0].rows[t][1] = t;"] {
        assert_eq!(rules(&kernel(right)), [""; 0], "{right}");
    }
    for wrong in ["s[0].row[t] = t; s[0].row[63 - t] = t;", "s[0].row[t / 2] = t;", "s[0].count = t;"] {
        assert_eq!(rules(&kernel(wrong)), ["unsynchronized_access"], "{wrong}");
    }
}

/// The element that a loop's number names is that of the round, also where nothing else depends on the number.
#[test]
fn elements_by_the_number_of_the_round() {
    let kernel = |later: &str| {
        format!(
            "#[cluster_kernel(block = 8)] fn sums(out: &mut [u32], rounds: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let works = shared_array::<Work, 3>();
                let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
                full.init_collective(&block, 1);
                empty.init_collective(&block, 1);
                let (mut stage, mut phase) = (0, false);
                if i == 6 {{
                    for k in 0..rounds {{
                        empty[stage].wait_parity(!phase);
                        works[(k + 1) % 3].count = k;
                        works[stage].first = k;
                        let _ = full[stage].arrive();
                        stage += 1; if stage == 3 {{ stage = 0; phase = !phase; }}
                    }}
                }} else if i == 0 {{
                    let mut sum = 0;
                    for k in 0..rounds {{
                        full[stage].wait_parity(phase);
                        sum += works[stage].first + works[(k + {later}) % 3].count;
                        let _ = empty[stage].arrive();
                        stage += 1; if stage == 3 {{ stage = 0; phase = !phase; }}
                    }}
                    out[0] = sum;
                }}
            }}"
        )
    };
    let right = verdict(FILE, &kernel("1"));
    assert!(right == "proved" || right.starts_with("open"), "{right}");
}
