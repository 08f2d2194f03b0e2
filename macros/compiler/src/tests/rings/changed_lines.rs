//! Each line of the large kernels that synchronizes, removed or changed in one way: all kernels that come of it are refused, but for those
//! that are listed with their reason.

use super::mutants::{ATTENTION, GEMM, PERSISTENT, all_rules, text};

const STEPS: &str = "examples/bench/src/tensor/product/steps.rs";

/// What a line that synchronizes contains.
const CALLS: [&str; 9] = [
    "wait_parity",
    ".arrive()",
    "load_async",
    "expect_multicast",
    "multicast_async",
    "warp.sync()",
    "bulk_wait_group_read",
    "wait_mma_prior",
    "cluster.sync()",
];

/// A text in which a line is changed, and a description of it.
struct Changed {
    what: &'static str,
    line: String,
    text: String,
}

/// Returns the texts that differ from one in a line of a function that synchronizes, or in the order of two of them.
fn changes(text: &str, function: &str) -> Vec<Changed> {
    let start = text.find(&format!("fn {function}")).expect("the function");
    let end = start + text[start..].find("\n}\n").expect("its end");
    let lines: Vec<&str> = text[start..end].lines().collect();
    let mut changed = Vec::new();
    let mut add = |what, at: usize, taken: usize, new: Vec<String>| {
        let kept = lines[..at].iter().map(|line| (*line).to_owned());
        let all: Vec<String> =
            kept.chain(new).chain(lines[at + taken..].iter().map(|line| (*line).to_owned())).collect();
        let text = format!("{}{}{}", &text[..start], all.join("\n"), &text[end..]);
        changed.push(Changed { what, line: lines[at].trim().to_owned(), text });
    };
    for (at, line) in lines.iter().enumerate() {
        let mut replace = |what, old: &str, new: &str| {
            if line.contains(old) {
                add(what, at, 1, vec![line.replacen(old, new, 1)]);
            }
        };
        if line.contains("wait_parity(") {
            for (old, new) in [("== 0", "== 1"), ("== 1", "== 0"), ("(false)", "(true)")] {
                replace("another parity", old, new);
            }
        }
        if let Some((_, count)) = line.split_once("init_collective(&").and_then(|(_, rest)| rest.split_once(", ")) {
            let count = count.split(");").next().unwrap_or_default();
            replace("an arrival more", &format!("{count});"), &format!("({count}) + 1);"));
            if count != "1" {
                replace("an arrival less", &format!("{count});"), &format!("({count}) - 1);"));
            }
        }
        replace("one product more in flight", "wait_mma_prior::<1>", "wait_mma_prior::<2>");
        replace("one copy more in flight", "bulk_wait_group_read::<1>", "bulk_wait_group_read::<2>");
        replace("one copy more in flight", "bulk_wait_group_read::<0>", "bulk_wait_group_read::<1>");
        for array in ["full", "empty"] {
            replace("another stage", &format!("{array}[stage]"), &format!("{array}[(stage + 1) % STAGES as u32]"));
        }
        if line.contains("arrive") {
            replace("another stage", "(step - 1) % STAGES", "step % STAGES");
        }
        replace("one thread for all warps", "if rank % 32 == 0", "if rank == 0");
        let is_statement = line.contains(';') && (!line.trim().starts_with("let ") || line.contains(".arrive()"));
        if is_statement && CALLS.iter().any(|call| line.contains(call)) {
            add("removed", at, 1, Vec::new());
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if line.contains("wait_parity") && (next.contains("mma_async") || next.contains("load_async")) {
            add("after the next line", at, 2, vec![next.to_owned(), (*line).to_owned()]);
        }
        if line.contains("wait_mma_prior") && next.contains("rank % 32") {
            let release = lines[at + 1..at + 4].iter().map(|line| (*line).to_owned());
            add("after the release", at, 4, release.chain([(*line).to_owned()]).collect());
        }
    }
    changed
}

#[test]
fn each_line_that_synchronizes() {
    let mut tried = 0;
    let mut accepted = Vec::new();
    // A kernel with the functions of its file whose lines are changed.
    let product = ["load<", "multiply<", "gemm<"];
    let kernels = [
        (GEMM, "gemm", &product[..]),
        (ATTENTION, "attention", &["attention"]),
        (PERSISTENT, "product", &["product"]),
        (STEPS, "ring", &["ring"]),
    ];
    for (file, kernel, functions) in kernels {
        for Changed { what, line, text } in functions.iter().flat_map(|function| changes(&text(file), function)) {
            tried += 1;
            if all_rules(&text, kernel).is_empty() {
                accepted.push(format!("{kernel}: {line}: {what}"));
            }
        }
    }
    // Lanes write a part of shared memory while a store or other lanes may read it, or read what is not there yet: the simulator reports
    // the race.
    // A tile that a function of its own does not load is taken to be loaded by another one: the simulator reports that nothing wrote it.
    let left = [
        "gemm: a.load_async([matrix[0] as i32, row[0] as i32, start], &a_tiles[stage], &full[stage]);: removed",
        "gemm: b.load_async([matrix[1] as i32, row[1] as i32, start], &b_tiles[stage], &full[stage]);: removed",
        "gemm: warp.sync();: removed",
        "attention: warp.sync(); // the part before has been read: removed",
        "attention: warp.sync(); // the part is complete: removed",
        "product: warp.sync();: removed",
    ];
    assert_eq!(accepted, left);
    assert!(tried >= 140, "{tried} changes");
}
