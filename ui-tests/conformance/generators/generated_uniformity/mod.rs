//! An independent verdict on `divergent_collective` and `divergent_exit`: kernels of the generator's own language are
//! run, thread by thread on several inputs, and if only some threads of a group reach a collective, the attribute must
//! refuse the kernel. Kernels are random (`generate`), enumerated (`systematic`), and right by construction
//! (`uniform`). Not compared: notes, help, which of the two rules it is; device functions.

mod generate;
mod print;
mod run;
mod systematic;
mod tree;
mod uniform;

use phalanx_compiler::Rule;
use print::print;
use run::{Verdict, run};
use tree::{Block, Expr, Group, Site, Stmt};

use super::shrink::{Nested, shrink};
use super::{faults, kernel_faults};

/// The number of inputs on which each kernel is run.
const INPUTS: u64 = 12;

const KERNELS: u64 = 500;

/// Returns whether the checks refuse the kernel for its uniformity.
fn is_refused(kernel: &Block) -> bool {
    let faults = kernel_faults("cluster = 2, block = 64", &print(kernel));
    faults.iter().any(|fault| matches!(fault.rule(), Rule::DivergentCollective | Rule::DivergentExit))
}

/// Returns the kernel with a collective in place of a probe.
fn with(kernel: &Block, probe: usize, group: Group) -> Block {
    let site = |id| Site { id, group };
    let (first, second) = (site(1_000), site(1_001));
    let detector = match (group, probe % 3) {
        (Group::Block | Group::Cluster, 0) => Stmt::Split(first, second, Block::new()),
        (Group::Tile | Group::Warp, 0) => Stmt::Assert(Expr::Any(first, Box::new(Expr::Scalar(0).odd()))),
        (_, 1) => Stmt::Assert(Expr::Claim(first, 0).below(9)),
        _ => Stmt::Sync(first),
    };
    fn replace(block: &mut Block, probe: usize, by: &Stmt) {
        for stmt in block {
            if *stmt == Stmt::Probe(probe) {
                *stmt = by.clone();
            }
            stmt.blocks().into_iter().for_each(|inner| replace(inner, probe, by));
        }
    }
    let mut kernel = kernel.clone();
    replace(&mut kernel, probe, &detector);
    kernel
}

/// The numbers of kernels by outcome.
#[derive(Debug, Default)]
struct Count {
    all: usize,
    refused: usize,
    /// Kernels that are refused although no run shows why.
    open: usize,
}

impl Count {
    /// Fails if a kernel is accepted that is divergent in some run, where `witnessed` is the result of the runs.
    #[track_caller]
    fn compare(&mut self, kernel: &Block, witnessed: bool) -> bool {
        let refused = is_refused(kernel);
        // A barrier in place of a probe orders memory.
        if refused != witnessed {
            let verdict = run(kernel, INPUTS);
            if verdict.is_sound() && verdict.divergent.is_empty() == refused {
                if !refused {
                    differ(kernel, refused);
                }
                self.open += 1;
            }
        }
        self.all += 1;
        self.refused += usize::from(refused);
        refused
    }
}

/// Fails with the smallest kernel on which the two differ in the same way.
#[track_caller]
fn differ(kernel: &Block, refused: bool) -> ! {
    let fails = |smaller: &Block| {
        let verdict = run(smaller, INPUTS);
        verdict.is_sound() && verdict.divergent.is_empty() == refused && is_refused(smaller) == refused
    };
    let least = shrink(kernel.clone(), fails);
    let text = print(&least);
    let reported: Vec<String> = faults(&text).iter().map(|fault| fault.text().to_string()).collect();
    let what = if refused { "refused, and no run shows why" } else { "not refused, and divergent in a run" };
    panic!("{what}:\n{text}{}", reported.join("\n"));
}

fn check_skeletons(skeletons: impl Iterator<Item = systematic::Skeleton>) -> Count {
    let mut count = Count::default();
    for skeleton in skeletons {
        let verdict = run(&skeleton.kernel, INPUTS);
        assert!(verdict.is_sound(), "{verdict:?}\n{}", print(&skeleton.kernel));
        for probe in 0..skeleton.probes {
            for group in &skeleton.groups {
                let witnessed = !verdict.divergent.is_empty() || verdict.probes.contains(&(probe, *group));
                count.compare(&with(&skeleton.kernel, probe, *group), witnessed);
            }
        }
    }
    count
}

#[test]
fn every_attacker_with_every_detector() {
    let count = check_skeletons(systematic::skeletons(false));
    eprintln!("{count:?}");
    assert!(count.all > 9_000 && count.refused > 1_000, "{count:?}");
    // The check does not calculate: counters that differ by an even number, and even iterations that threads of one
    // parity never reach.
    assert!(count.open * 10 < count.refused, "{count:?}");
}

/// Tries every condition and every counter, which takes minutes.
#[test]
#[ignore = "long"]
fn every_attacker_with_every_detector_and_condition() {
    check_skeletons(systematic::skeletons(true));
}

fn check_random(seeds: std::ops::Range<u64>) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let kernel = generate::kernel(seed);
        let verdict = run(&kernel, INPUTS);
        if !verdict.is_sound() || count.compare(&kernel, !verdict.divergent.is_empty()) {
            continue;
        }
        for probe in 0..generate::PROBES {
            for group in Group::ALL {
                count.compare(&with(&kernel, probe, group), verdict.probes.contains(&(probe, group)));
            }
        }
    }
    count
}

#[test]
fn random_kernels() {
    let count = check_random(0..KERNELS);
    eprintln!("{count:?}");
    // The generator is useful and the check not too careful: runs mostly show why a kernel is refused.
    assert!(count.all as u64 > 3 * KERNELS && count.refused * 5 > count.all, "{count:?}");
    assert!(count.open * 4 < count.refused, "{count:?}");
}

/// A long run: `KERNELS=100000 cargo test -p phalanx-generators -- --ignored more_random_uniformity`.
#[test]
#[ignore = "as long as one likes"]
fn more_random_uniformity() {
    let kernels = std::env::var("KERNELS").ok().and_then(|kernels| kernels.parse().ok()).unwrap_or(10 * KERNELS);
    let count = check_random(KERNELS..kernels);
    eprintln!("{count:?}");
    check_right(KERNELS..kernels);
}

fn check_right(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let kernel = uniform::kernel(seed);
        let verdict: Verdict = run(&kernel, 2);
        assert!(verdict.is_sound() && verdict.divergent.is_empty(), "{verdict:?}\n{}", print(&kernel));
        if is_refused(&kernel) {
            differ(&kernel, true);
        }
    }
}

#[test]
fn kernels_that_are_right() {
    check_right(0..KERNELS);
}

/// Cases found by reading: a kernel with an infinite loop, and ranks that are negated.
#[test]
fn by_hand() {
    let kernel = |body: &str| {
        let text = format!(
            "#[cluster_kernel(cluster = 2, block = 512)] fn kernel(n: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let rank = block.thread_rank();
                {body}
            }}"
        );
        faults(&text).iter().any(|fault| fault.rule() == Rule::DivergentCollective)
    };
    assert!(kernel("loop { if rank == 0 { block.sync(); } }"));
    assert!(kernel("loop { if rank == 0 { continue; } block.sync(); }"));
    assert!(!kernel("loop { block.sync(); }"));
    assert!(!kernel("loop { if n == 0 { block.sync(); } block.sync(); }"));
    // There is one zero between -31 and 31.
    assert!(kernel("if (rank as i8) / 32 == 0 { warp.sync(); }"));
    assert!(!kernel("if (rank as u8) / 32 == 0 { warp.sync(); }"));
}
