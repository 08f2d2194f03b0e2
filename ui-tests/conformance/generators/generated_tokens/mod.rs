//! An independent verdict on `token_never_waited`, `arrive_while_pending`, `collective_while_pending` and
//! `token_forgotten`: an interpreter of the generator's own tree follows every path of a kernel, and its findings are compared with what the
//! attribute reports, fault by fault and line by line. Kernels are random (`generate`) and enumerated (`systematic`).
//! Not compared: columns, notes and help.

mod generate;
mod interpret;
mod print;
mod systematic;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use interpret::{Options, RULES, Verdict, interpret};
use phalanx_compiler::Rule;
use tree::{Block, Kernel, Site};

use super::faults;
use super::shrink::shrink;

const KERNELS: u64 = 4_000;

/// Faults as rules and lines.
type Faults = BTreeSet<(Rule, usize)>;

/// For each fault that comes while arrivals are pending, their lines.
type Pending = BTreeMap<(Rule, usize), BTreeSet<usize>>;

/// An interpreter's findings by lines.
struct Found {
    faults: Faults,
    pending: Pending,
}

/// The faults of a kernel from three sources.
struct Comparison {
    source: String,
    /// The faults that the interpreter finds.
    real: Found,
    /// The faults it would find if a test of an `Option` said nothing about other variables.
    most: Found,
    /// The faults that the attribute reports.
    reported: Faults,
}

impl Comparison {
    /// Returns `None` if rustc's move checker refuses the kernel, because the checks rely on it.
    fn of(kernel: &Kernel) -> Option<Comparison> {
        let most = interpret(kernel, Options::Opaque);
        if most.misuse {
            return None;
        }
        let source = print::print(kernel);
        let line = |site: Site| source.lines[&site.id];
        let lines = |verdict: Verdict| {
            let faults = verdict.faults.into_iter().map(|(rule, site)| (rule, line(site))).collect();
            let mut pending = Pending::new();
            for ((rule, site), arrivals) in verdict.pending {
                pending.entry((rule, line(site))).or_default().extend(arrivals.into_iter().map(line));
            }
            Found { faults, pending }
        };
        let (real, most) = (lines(interpret(kernel, Options::Known)), lines(most));
        let reported = faults(&source.text).iter().map(|fault| (fault.rule(), fault.line())).collect();
        Some(Comparison { source: source.text, real, most, reported })
    }

    /// Returns whether every real fault is reported, and nothing else, except that a path-insensitive check may treat
    /// two variables as independent after one is tested. What comes while arrivals are pending is reported unless the
    /// missing wait of each of them is.
    fn agrees(&self) -> bool {
        self.faults_besides_lost_tokens(&self.real).is_subset(&self.reported)
            && self.reported.is_subset(&self.faults_besides_lost_tokens(&self.most))
    }

    /// Returns the faults that are not consequences of a missing wait that is reported.
    fn faults_besides_lost_tokens(&self, found: &Found) -> Faults {
        let is_reported = |line: &usize| self.reported.contains(&(Rule::TokenNeverWaited, *line));
        let is_consequence = |fault| found.pending.get(fault).is_some_and(|lines| lines.iter().all(is_reported));
        found.faults.iter().filter(|fault| !is_consequence(*fault)).copied().collect()
    }

    /// Returns whether `agrees` leaves nothing open.
    fn is_exact(&self) -> bool {
        self.real.faults == self.most.faults
    }

    fn breaks(&self, rule: Rule) -> bool {
        self.real.faults.iter().any(|(broken, _)| *broken == rule)
    }
}

/// Fails with the smallest kernel on which the two differ in the same way: by the four rules, or by another.
#[track_caller]
fn check(kernel: &Kernel) -> Option<Comparison> {
    let comparison = Comparison::of(kernel)?;
    if comparison.agrees() {
        return Some(comparison);
    }
    let others = |comparison: &Comparison| comparison.reported.iter().any(|(rule, _)| !RULES.contains(rule));
    let with = |body: &Block| Comparison::of(&Kernel { body: body.clone(), ..kernel.clone() });
    let fails = |smaller: &Block| {
        with(smaller).is_some_and(|smaller| !smaller.agrees() && others(&smaller) == others(&comparison))
    };
    let least = with(&shrink(kernel.body.clone(), fails))?;
    let Comparison { source, real, most, reported } = least;
    panic!("{source}on some path: {:?}\nat most: {:?}\nreported: {reported:?}", real.faults, most.faults);
}

#[test]
fn random_kernels() {
    let kernels: Vec<Comparison> = (0..KERNELS).filter_map(|seed| check(&generate::kernel(seed, false))).collect();
    // The generator is useful: rustc refuses few kernels, there are right and wrong ones, and little is left open.
    let share =
        |what: &dyn Fn(&Comparison) -> bool| 100 * kernels.iter().filter(|kernel| what(kernel)).count() / kernels.len();
    assert!(kernels.len() as u64 > KERNELS / 10 * 8, "{} kernels", kernels.len());
    assert!((25..75).contains(&share(&|kernel| kernel.real.faults.is_empty())));
    assert!(share(&Comparison::is_exact) > 95);
    for rule in RULES {
        assert!(share(&|kernel| kernel.breaks(rule)) > 10, "{rule}");
    }
}

#[test]
fn random_kernels_with_gaps() {
    for seed in 0..KERNELS {
        check(&generate::kernel(seed, true));
    }
}

#[test]
fn every_attacker_with_every_detector() {
    let kernels: Vec<Comparison> = systematic::kernels().filter_map(|kernel| check(&kernel)).collect();
    // Without `Option`s nothing is left open.
    assert!(kernels.iter().all(Comparison::is_exact));
    assert!(kernels.len() > 10_000, "{} kernels", kernels.len());
    assert!(kernels.iter().filter(|kernel| kernel.real.faults.is_empty()).count() > 1_000);
}

/// A long run: `KERNELS=1000000 cargo test -p phalanx-generators -- --ignored more_random_kernels`.
#[test]
#[ignore = "as long as one likes"]
fn more_random_kernels() {
    let kernels = std::env::var("KERNELS").ok().and_then(|kernels| kernels.parse().ok()).unwrap_or(10 * KERNELS);
    for seed in KERNELS..kernels {
        check(&generate::kernel(seed, false));
    }
}
