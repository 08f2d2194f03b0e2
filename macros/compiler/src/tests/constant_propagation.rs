//! Tests of small numbers that a kernel counts by hand, and of what they select.

use super::rules;

/// Returns the rules that a kernel of two blocks of 64 threads breaks, which runs `body` in each iteration of a loop after `before`.
#[track_caller]
fn broken(before: &str, body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn counts(output: &mut [u32], n: usize) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let rows = shared_array::<[u32; 64], 3>();
            let flat = shared_array::<u32, 64>();
            let (i, other) = (block.thread_rank(), 1 - cluster.block_rank());
            for row in 0..3 {{ rows[row][i] = 1; }}
            flat[i] = 1;
            cluster.sync();
            {before}
            for k in 0..n {{ {body} }}
            cluster.sync();
        }}"
    );
    rules(&source)
}

/// A read of the peer's row `from`, a write to the own row `to`, and a barrier.
fn exchange(from: &str, to: &str) -> String {
    format!("output[i] += cluster.map_shared_rank(&rows, other)[{from}][i]; rows[{to}][i] = 5; cluster.sync();")
}

/// Two indexes that a loop swaps stay apart.
#[test]
fn swapped_indexes() {
    let swapped = |swap: &str| broken("let mut x = 0; let mut y = 1;", &format!("{} {swap}", exchange("x", "y")));
    assert!(swapped("std::mem::swap(&mut x, &mut y);").is_empty());
    assert!(swapped("let t = x; x = y; y = t;").is_empty());
    assert!(swapped("let t = x; x = y; y = 3 - y - t;").is_empty());
    assert_eq!(swapped("if k > 3 { x = y; }"), ["overwrite_while_read"]);
    assert_eq!(swapped("if i > 3 { std::mem::swap(&mut x, &mut y); }"), ["overwrite_while_read"]);
}

/// A stage that is reset by hand.
#[test]
fn stages() {
    let wraps = |wrap: &str, next: &str| {
        broken("let mut x = 0;", &format!("let y = {next}; {} x += 1; {wrap}", exchange("x", "y")))
    };
    let next = "if x == 2 { 0 } else { x + 1 }";
    assert!(wraps("if x == 3 { x = 0; }", next).is_empty());
    assert!(wraps("if x >= 3 { x -= 3; }", next).is_empty());
    assert!(wraps("let last = x == 3; if last { x = 0; }", next).is_empty());
    assert!(wraps("if x == 2 { x = 0; }", "1 - x").is_empty());
    assert_eq!(wraps("if x == 3 { x = 0; }", "if x == 2 { 2 } else { x + 1 }"), ["overwrite_while_read"]);
    assert_eq!(wraps("if x == 2 { x = 0; }", "if x == 1 { 1 } else { x + 1 }"), ["overwrite_while_read"]);
    let round = "rows[x][i] = 5; cluster.sync(); output[i] += cluster.map_shared_rank(&rows, other)[x][i]; x += 1;";
    assert!(broken("let mut x = 0;", &format!("{round} if x == 2 {{ x = 0; }}")).is_empty());
    assert_eq!(broken("let mut x = 0;", &format!("{round} x = 0;")), ["overwrite_while_read"]);
}

/// Offsets of two halves, and numbers with too many values to follow.
#[test]
fn offsets() {
    let halves = |from: &str| {
        let read = "if i < 32 { output[i] += cluster.map_shared_rank(&flat, other)[from + i]; flat[to + i] = 5; }";
        broken("let mut to = 0;", &format!("let from = {from}; {read} cluster.sync(); to = from;"))
    };
    assert!(halves("32 - to").is_empty());
    assert_eq!(halves("31 - to"), ["overwrite_while_read"]);
    let counted = format!("{} x = (x + 1) % 50; y = (y + 1) % 50;", exchange("x", "y"));
    assert_eq!(broken("let mut x = 0; let mut y = 1;", &counted), ["overwrite_while_read"], "too many values");
}

/// A loop whose counter is small is known iteration by iteration.
#[test]
fn unrolled_loops() {
    let tree = |from: &str| {
        let add = format!("flat[0] += cluster.map_shared_rank(&flat, other)[{from}];");
        broken("", &format!("let mut d = 2; while d > 0 {{ if i == 0 {{ {add} }} cluster.sync(); d /= 2; }}"))
    };
    assert!(tree("d").is_empty());
    assert_eq!(tree("d / 2"), ["overwrite_while_read"]);
}

/// The iterations of a loop over literals are told apart where that is needed.
#[test]
fn numbered_iterations() {
    let looped = |range: &str, body: &str| {
        broken(
            "let own = cluster.block_rank();",
            &format!(
                "for c in {range} {{
                    cluster.sync();
                    {body}
                }}
                cluster.sync();"
            ),
        )
    };
    let read = "output[i] += cluster.map_shared_rank(&flat, other)[63];";
    let written = |index: &str| format!("if i < 32 {{ flat[{index}] += 1; }}");
    for (range, first) in [("0..2", 0), ("(0..2).rev()", 0), ("2..=3", 2), ("(0..4).step_by(2)", 0)] {
        let even = format!("if c == {first} {{ {read} }} {}", written(&format!("2 * i + c - {first}")));
        let is_right = broken("", "").is_empty() && looped(range, &even).is_empty();
        // Of steps of two, all elements are even.
        assert!(is_right, "{range}");
        let odd = format!("if c != {first} {{ {read} }} {}", written(&format!("2 * i + c - {first}")));
        assert_eq!(looped(range, &odd).is_empty(), range.contains("step_by"), "{range}");
    }
    let both = |first: &str| format!("if {first} {{ {read} }} {}", written("2 * i + c"));
    assert!(looped("0..2", &both("i == 0 && c == 0")).is_empty());
    assert!(looped("0..2", &both("!(i != 0 || c == 1)")).is_empty());
    assert_eq!(looped("0..2", &both("i == 0 && c == 1")), ["overwrite_while_read"]);
    assert_eq!(looped("0..2", &both("i == 0 || c == 0")), ["overwrite_while_read"]);
    assert_eq!(looped("0..n", &both("i == 0 && c == 0")), ["overwrite_while_read"]);
}

/// What some threads have computed for `&&` is not kept where the others have not.
#[test]
fn second_conditions() {
    let read = |element: u32| {
        let body = format!(
            "let mut c = 0;
            while c < 2 {{
                cluster.sync();
                if i == 0 && c == 0 {{ output[0] += cluster.map_shared_rank(&flat, other)[{element}]; }}
                if i < 32 {{ flat[2 * i + c] += 1; }}
                c += 1;
            }}
            cluster.sync();"
        );
        broken("", &body)
    };
    assert!(read(63).is_empty());
    assert_eq!(read(62), ["overwrite_while_read"]);
}
