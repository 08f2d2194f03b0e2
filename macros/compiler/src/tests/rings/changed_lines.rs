//! Each line of the large kernels that synchronizes, removed or changed in one way: all kernels that come of it are refused, but for those
//! that are listed with their reason.

use super::mutants::{ATTENTION, GEMM, PERSISTENT, all_rules, text};

const STEPS: &str = "examples/bench/src/tensor/product/steps.rs";

/// What a line that synchronizes contains.
const CALLS: [&str; 11] = [
    "wait_parity",
    "expect_tx",
    "there[side].store_async",
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
        replace("all threads for one", "if rank == 64", "if rank >= 64");
        replace("one block for both", "for other in 0..2", "for other in 0..1");
        replace("bytes of one block", "expect_tx(2 * ", "expect_tx(");
        replace("bytes of three blocks", "expect_tx(2 * ", "expect_tx(3 * ");
        replace("the factors of the other block", "there[side]", "there[1 - side]");
        replace("the own barrier", "map_shared_rank(&sent, other)", "map_shared_rank(&sent, side)");
        replace("another block", "map_shared_rank(&used, number as u32)", "map_shared_rank(&used, 1 - number as u32)");
        replace("one block for both", "map_shared_rank(&used, number as u32)", "map_shared_rank(&used, 0)");
        replace("no next phase", "turn += 1;", "");
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
        (GEMM, "normed", &["square(", "normed("]),
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
    // The rings of `normed` are not proved, because many threads send alike: the simulator reports the deadlock, the arrival too many or the
    // race with those who still read, and rustc that factors are read before they have arrived. An arrival at the next stage is right: the
    // first stage of a round is released last.
    // Whether a store is waited for at the end depends on the functions that are called in between: rustc knows that they do not.
    // A tile that a function of its own does not load is taken to be loaded by another one: the simulator reports that nothing wrote it.
    let left = [
        "gemm: a.load_async([matrix[0] as i32, row[0] as i32, start], &a_tiles[stage], &full[stage]);: removed",
        "gemm: b.load_async([matrix[1] as i32, row[1] as i32, start], &b_tiles[stage], &full[stage]);: removed",
        "gemm: warp.sync();: removed",
        "gemm: bulk_wait_group_read::<0>(); // the block exits after its memory has been read: one copy more in flight",
        "gemm: bulk_wait_group_read::<0>(); // the block exits after its memory has been read: removed",
        "normed: let _ = empty[stage].arrive(); // by each thread, which has read for itself: another stage",
        "normed: used.init_collective(&cluster, 2 * 128);: an arrival less",
        "normed: used.wait_parity(turn % 2 == 0); // both blocks have read the factors of the tile before: removed",
        "normed: there[side].store_async(half + lane / 4 + lane % 4 * 8, factor, &told);: the factors of the other block",
        "normed: if rank == 64 {: all threads for one",
        "normed: sent.wait_parity(turn % 2 == 1);: removed",
        "normed: cluster.map_shared_rank(&used, number as u32).arrive();: another block",
        "normed: warp.sync();: removed",
        "normed: bulk_wait_group_read::<0>(); // the block exits after its memory has been read: one copy more in flight",
        "normed: bulk_wait_group_read::<0>(); // the block exits after its memory has been read: removed",
        "attention: warp.sync(); // the part before has been read: removed",
        "attention: warp.sync(); // the part is complete: removed",
        "product: warp.sync();: removed",
    ];
    assert_eq!(accepted, left);
    assert!(tried >= 140, "{tried} changes");
}
