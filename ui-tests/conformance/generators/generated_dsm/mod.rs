//! An independent verdict on the rules about distributed shared memory: kernels of the generator's own language are run
//! by every thread of a cluster and with every value of their parameters, and every two accesses of different blocks
//! are compared by the definition of a race. Every kernel with a fault must be refused, and every report explained: by
//! a run, or by one in which something is left open that a check cannot know (`Unknown`), which is counted. Kernels are
//! random (`generate`) and enumerated (`systematic`). Not compared: columns, notes and help; device functions.

mod by_hand;
pub(super) mod draw;
mod forms;
mod functions;
mod generate;
pub(super) mod judge;
mod pairs;
mod print;
pub(super) mod relative;
mod run;
mod systematic;
pub(super) mod tree;
pub(super) mod words;

use std::collections::{BTreeMap, BTreeSet};

use judge::{RACES, Verdict, judge};
use phalanx_compiler::Rule;
use print::{Source, print};
use run::Unknown;
use tree::{Block, Kernel};

use super::kernel_faults;
use super::shrink::shrink;

const KERNELS: u64 = 4_000;
const BY_RANK: u64 = 4_000;
/// The percentage of right kernels that may be refused, because not all numbers computed from ranks are related.
const OF_RANDOM: usize = 13;
const OF_PAIRS: usize = 55;

/// What is left open, from nothing to everything.
const UNKNOWN: [(&str, Unknown); 7] = {
    let nothing = Unknown { elements: false, relatives: false, ranks: false, paths: false, parities: false };
    [
        ("runs", nothing),
        ("elements", Unknown { elements: true, ..nothing }),
        ("relatives", Unknown { relatives: true, ..nothing }),
        ("ranks", Unknown { ranks: true, ..nothing }),
        ("paths", Unknown { paths: true, ..nothing }),
        ("parities", Unknown { parities: true, ..nothing }),
        ("several", Unknown { elements: true, relatives: true, ranks: true, paths: true, parities: true }),
    ]
};

/// Returns the reported rules and lines. `cluster` is the attribute's option.
fn reports(cluster: &str, source: &Source) -> BTreeSet<(Rule, usize)> {
    let faults = kernel_faults(&format!("cluster = {cluster}, block = {}", tree::THREADS), &source.text);
    faults.iter().map(|fault| (fault.rule(), fault.line())).collect()
}

/// The comparison of the reports on a kernel with its runs.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Comparison {
    /// Whether a run shows a fault.
    is_faulty: bool,
    /// The faults that are not reported.
    missed: BTreeSet<BTreeSet<Rule>>,
    /// The reports that nothing explains, and those that an unknown explains, by rule.
    unexplained: BTreeSet<Rule>,
    explained: BTreeMap<&'static str, BTreeSet<Rule>>,
}

impl Comparison {
    fn of(kernel: &Kernel) -> Comparison {
        Comparison::in_clusters(&kernel.blocks.to_string(), kernel)
    }

    fn in_clusters(cluster: &str, kernel: &Kernel) -> Comparison {
        let source = print(kernel);
        let reported = reports(cluster, &source);
        let exact = judge(kernel, UNKNOWN[0].1);
        let mut comparison = Comparison::default();
        // An access that comes too early is reported as that alone.
        let early = |site: &usize| reported.contains(&(Rule::RemoteBeforeEntry, source.lines[site]));
        let must = exact.must.iter().filter(|((first, second), _)| first == second || !early(first) && !early(second));
        let ways = judge(kernel, UNKNOWN[4].1);
        let uninit = if ways.is_cut { None } else { ways.never_written(kernel).next() };
        let uninit = uninit.map(|site| ((site, site), BTreeSet::from([Rule::UninitSharedRead])));
        for ((first, second), rules) in must.cloned().chain(uninit) {
            comparison.is_faulty = true;
            // A race is fixed together with another race of one of its accesses, which is reported.
            let is_told = reported.iter().any(|(rule, line)| {
                let is_here = first != second && (source.lines[&first] == *line || source.lines[&second] == *line);
                rules.contains(rule) || is_here && RACES.contains(rule)
            });
            if !is_told {
                comparison.missed.insert(rules);
            }
        }
        let explains = |verdict: &Verdict, rule: Rule, line: usize| {
            let here = |site: usize| source.lines[&site] == line;
            verdict.may.iter().any(|((first, second), rules)| {
                (here(*first) || here(*second) || rule == Rule::RankOutOfRange) && rules.contains(&rule)
            })
        };
        let mut verdicts = vec![(UNKNOWN[0].0, exact)];
        for (rule, line) in &reported {
            let mut by = None;
            for (at, (name, unknown)) in UNKNOWN.iter().enumerate() {
                if verdicts.len() == at {
                    verdicts.push((name, judge(kernel, *unknown)));
                }
                let (name, verdict) = &verdicts[at];
                if explains(verdict, *rule, *line) || verdict.is_cut && at + 1 == UNKNOWN.len() {
                    by = Some(*name);
                    break;
                }
            }
            match by {
                Some("runs") => {}
                Some(name) => {
                    comparison.explained.entry(name).or_default().insert(*rule);
                }
                None => {
                    comparison.unexplained.insert(*rule);
                }
            }
        }
        comparison
    }

    fn agrees(&self) -> bool {
        self.missed.is_empty() && self.unexplained.is_empty()
    }
}

/// Returns the smallest kernel on which the two differ in the same way.
fn least(kernel: &Kernel, comparison: &Comparison) -> Kernel {
    let with = |body: &Block| Kernel { body: body.clone(), ..kernel.clone() };
    let alike = |smaller: &Comparison| {
        !smaller.missed.is_disjoint(&comparison.missed) || !smaller.unexplained.is_disjoint(&comparison.unexplained)
    };
    let fails = |body: &Block| generate::is_whole(&with(body)) && alike(&Comparison::of(&with(body)));
    with(&shrink(kernel.body.clone(), fails))
}

/// Formats the differences for a reader.
fn show(kernel: &Kernel) -> String {
    let source = print(kernel);
    let Comparison { missed, unexplained, .. } = Comparison::of(kernel);
    let faults = judge(kernel, UNKNOWN[0].1).must;
    let faults: Vec<_> =
        faults.iter().map(|((first, second), rules)| (source.lines[first], source.lines[second], rules)).collect();
    let reported = reports(&kernel.blocks.to_string(), &source);
    format!(
        "{}missed: {missed:?}, reported without a reason: {unexplained:?}\nlines with faults: {faults:?}\nreported: {reported:?}",
        source.text
    )
}

/// The numbers of compared kernels by outcome.
#[derive(Debug, Default)]
struct Count {
    all: usize,
    faulty: usize,
    /// Kernels that are refused although no run shows why: all, by what was left open, and by rule.
    refused: usize,
    open: BTreeMap<&'static str, usize>,
    rules: BTreeMap<Rule, usize>,
}

impl Count {
    #[track_caller]
    fn compare(&mut self, kernel: &Kernel) {
        let comparison = Comparison::of(kernel);
        if !comparison.agrees() {
            panic!("{}", show(&least(kernel, &comparison)));
        }
        self.add(&comparison);
    }

    fn add(&mut self, comparison: &Comparison) {
        self.all += 1;
        self.faulty += usize::from(comparison.is_faulty);
        if !comparison.is_faulty {
            self.refused += usize::from(!comparison.explained.is_empty());
            comparison.explained.keys().for_each(|name| *self.open.entry(name).or_default() += 1);
            let rules: BTreeSet<&Rule> = comparison.explained.values().flatten().collect();
            rules.into_iter().for_each(|rule| *self.rules.entry(*rule).or_default() += 1);
        }
    }

    /// Returns whether few of the right kernels are refused for what a check cannot know: 1 in 20 for each reason, and
    /// `relatives` percent for a number that is computed from ranks.
    #[track_caller]
    fn is_precise(&self, relatives: usize) {
        let Count { all, faulty, refused, open, rules } = self;
        let right = all - faulty;
        eprintln!("{all} kernels: {faulty} wrong, {right} right; {refused} refused for nothing: {open:?}, {rules:?}");
        let limit = |name: &str| if name == "relatives" { relatives } else { 5 };
        assert!(open.iter().all(|(name, open)| open * 100 < right * limit(name)), "{self:?}");
    }
}

#[test]
fn every_attacker_with_every_detector() {
    let mut count = Count::default();
    systematic::kernels().iter().for_each(|kernel| count.compare(kernel));
    assert!(count.all > 6_000 && count.faulty > 2_000, "{count:?}");
    count.is_precise(0);
}

#[test]
fn random_kernels() {
    let mut count = Count::default();
    (0..KERNELS).for_each(|seed| count.compare(&generate::kernel(seed)));
    assert!((30..70).contains(&(100 * count.faulty / count.all)), "{count:?}");
    count.is_precise(0);
}

#[test]
fn random_kernels_by_rank() {
    let mut count = Count::default();
    (0..BY_RANK).for_each(|seed| count.compare(&generate::by_rank(seed)));
    assert!((30..70).contains(&(100 * count.faulty / count.all)), "{count:?}");
    count.is_precise(OF_RANDOM);
}

#[test]
fn every_index_with_every_index() {
    let mut count = Count::default();
    pairs::kernels(false).for_each(|kernel| count.compare(&kernel));
    assert!(count.all > 5_000 && count.faulty > 2_000, "{count:?}");
    count.is_precise(OF_PAIRS);
}

/// rustc knows the number of blocks: nothing that is wrong for some number of them passes.
#[test]
fn clusters_of_any_size() {
    let (mut accepted, mut faulty) = (0, 0);
    for kernel in pairs::kernels(false).step_by(2).chain((0..BY_RANK / 4).map(generate::by_rank)) {
        let comparison = Comparison::in_clusters("BLOCKS", &kernel);
        // rustc is asked whether there is such a block.
        let missed = comparison.missed.iter().find(|rules| !rules.contains(&Rule::RankOutOfRange));
        assert!(missed.is_none(), "{missed:?}\n{}", print(&kernel).text);
        faulty += usize::from(comparison.is_faulty);
        accepted += usize::from(!comparison.is_faulty && comparison.explained.is_empty());
    }
    assert!(accepted > 300 && faulty > 1_000, "{accepted} accepted, {faulty} wrong");
}

/// A long run: `KERNELS=1000000 cargo test -p phalanx-generators -- --ignored more_random_dsm`. It continues after a
/// failure, and shows one kernel of each kind.
#[test]
#[ignore = "as long as one likes"]
fn more_random_dsm() {
    let kernels = std::env::var("KERNELS").ok().and_then(|kernels| kernels.parse().ok()).unwrap_or(10 * KERNELS);
    let mut kinds = BTreeMap::<_, (usize, String)>::new();
    let mut count = Count::default();
    for kernel in systematic::kernels()
        .into_iter()
        .chain(pairs::kernels(true))
        .chain((0..kernels).flat_map(|seed| [generate::kernel(seed), generate::by_rank(seed)]))
    {
        let comparison = Comparison::of(&kernel);
        if !comparison.agrees() {
            let kind = (comparison.missed.clone(), comparison.unexplained.clone());
            kinds.entry(kind).or_insert_with(|| (0, show(&least(&kernel, &comparison)))).0 += 1;
        }
        count.add(&comparison);
    }
    eprintln!("{count:?}");
    kinds.values().for_each(|(times, text)| eprintln!("{times} kernels like\n{text}\n"));
    assert!(kinds.is_empty());
}
