//! Each line of the large kernels that synchronizes, removed or changed in one way. The compiler's tests check all of these changes
//! (`tests/rings/changed_lines.rs`), and this crate's run those that the compiler accepts.

/// The files of kernels, from the root of the repository.
pub(crate) const GEMM: &str = "examples/bench/src/tensor/product/persistent.rs";
pub(crate) const MULTICAST: &str = "examples/bench/src/tensor/product/multicast.rs";
pub(crate) const ATTENTION: &str = "examples/bench/src/tensor/attention.rs";
pub(crate) const PERSISTENT: &str = "ui-tests/conformance/src/kernels/persistent.rs";
const GRID: &str = "ui-tests/conformance/src/corpus/multicast_grid.rs";
const STEPS: &str = "examples/bench/src/tensor/product/steps.rs";

/// A kernel, with its file and the functions in it whose lines are changed.
pub(crate) struct Kernel {
    pub(crate) file: &'static str,
    pub(crate) name: &'static str,
    pub(crate) functions: &'static [&'static str],
}

pub(crate) const KERNELS: [Kernel; 7] = [
    Kernel { file: GEMM, name: "gemm", functions: &["load<", "multiply<", "gemm<"] },
    Kernel { file: GEMM, name: "normed", functions: &["square(", "normed("] },
    Kernel { file: MULTICAST, name: "multicast", functions: &["multicast<"] },
    Kernel { file: ATTENTION, name: "attention", functions: &["attention"] },
    Kernel { file: PERSISTENT, name: "product", functions: &["product"] },
    Kernel { file: STEPS, name: "ring", functions: &["ring"] },
    Kernel { file: GRID, name: "grid_product", functions: &["grid_product"] },
];

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
pub(crate) struct Changed {
    pub(crate) what: &'static str,
    pub(crate) line: String,
    pub(crate) text: String,
}

/// Returns the texts that differ from one in a line of a function that synchronizes, or in the order of two of them.
pub(crate) fn changes(text: &str, function: &str) -> Vec<Changed> {
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
        if lines.get(at + 1).is_some_and(|next| next.contains("expect_multicast")) {
            replace("one half for both", "for half in 0..2", "for half in 0..1");
        }
        replace("the other direction", "cluster.row()", "cluster.column()");
        replace("the other direction", "cluster.column()", "cluster.row()");
        replace("the whole cluster", "cluster.row()", "&cluster");
        replace("another block's part", "[stage * 2 + x]", "[stage * 2 + y]");
        replace("another block's part", "[stage * 2 + y]", "[stage * 2 + x]");
        replace("the block itself for that of its row", "y * 2 + 1 - x", "y * 2 + x");
        replace("the block across for that of its column", "(1 - y) * 2 + x", "(1 - y) * 2 + 1 - x");
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
