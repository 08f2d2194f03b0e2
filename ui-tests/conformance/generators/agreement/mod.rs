//! Tests that the checks and the simulator agree: kernels of the generator's own language go through both. An accepted
//! kernel shows, under every schedule tried and with every value of its parameters, no fault that a rule excludes. A
//! refused kernel, run as if nothing were checked, shows a fault in some run; otherwise it counts as one on which the
//! checks are imprecise. The simulator's reports are the only oracle.
//!
//! No rule covers as a whole, and this leaves open: races inside of a block, and of two peers on a third block's memory; a write
//! to a peer's element that is known against the owner's access to one that is not (`is_halo`); memory that is written
//! on other paths than those that read it. A run ends at its first fault, which may hide others.

mod generate;
mod outline;
mod print;
mod tree;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use phalanx::{Cause, Race, RaceMemory, Schedule, Simulator};
use phalanx_compiler::{Fault, Rule};
use print::print;
use tree::{Block, Ending, Kernel, Stmt};

use super::all_kernel_faults;
use super::generated_dsm::judge::is_halo;
use super::generated_dsm::tree::{Access, DOMAIN};
use super::shrink::{Nested, shrink};

const KERNELS: u64 = 6_000;
const BY_RANK: u64 = 1_800;

/// A finding of the simulator, as far as a rule covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    NeverWaited,
    /// A collective between an arrival and its wait.
    Between,
    /// A collective after a token was forgotten.
    Forgotten,
    Deadlock,
    Early,
    Late,
    Race,
    NoSuchRank,
    /// A read of uninitialized memory. A rule covers only memory that no thread can have written.
    Unwritten,
    /// A fault that no rule excludes.
    Open,
}

impl Shown {
    fn of(kernel: &Kernel, cause: &Cause) -> Shown {
        match cause {
            Cause::Protocol(sentence) if sentence.contains("must be waited for") => Shown::NeverWaited,
            Cause::Protocol(sentence) if sentence.contains("must not come between") => Shown::Between,
            Cause::Protocol(sentence) if sentence.contains("forgotten token") => Shown::Forgotten,
            Cause::Deadlock(_) => Shown::Deadlock,
            Cause::PeerMayNotHaveStarted { .. } => Shown::Early,
            Cause::PeerMayHaveExited { .. } => Shown::Late,
            Cause::RankOutOfRange { .. } => Shown::NoSuchRank,
            Cause::Race(race) if is_excluded(kernel, race) => Shown::Race,
            Cause::Race(_) => Shown::Open,
            Cause::UninitializedShared { .. } => Shown::Unwritten,
            other => panic!("{other}\n{}", print(kernel)),
        }
    }

    /// Returns whether an accepted kernel may show it.
    fn is_open(self) -> bool {
        matches!(self, Shown::Unwritten | Shown::Open)
    }

    /// Returns what a kernel that breaks the rule shows: one of these.
    fn by(rule: Rule) -> &'static [Shown] {
        match rule {
            Rule::TokenNeverWaited => &[Shown::NeverWaited],
            Rule::ArriveWhilePending | Rule::CollectiveWhilePending => &[Shown::Between],
            Rule::TokenForgotten => &[Shown::Forgotten],
            Rule::DivergentCollective | Rule::DivergentExit => &[Shown::Deadlock],
            Rule::RemoteBeforeEntry => &[Shown::Early],
            Rule::ExitBeforePeersDone => &[Shown::Late],
            Rule::UnpublishedRemoteRead | Rule::OverwriteWhileRead | Rule::WriteAfterArrive => &[Shown::Race],
            // Of two peers, or of two threads of a block: not all such races are excluded.
            Rule::UnorderedRemoteWrite => &[Shown::Race, Shown::Open],
            Rule::UnsynchronizedAccess => &[Shown::Open],
            Rule::RelaxedPublishes => &[Shown::Race, Shown::Late],
            Rule::RankOutOfRange => &[Shown::NoSuchRank],
            Rule::UninitSharedRead => &[Shown::Unwritten],
            other => panic!("a rule of which nobody said what it excludes: {other}"),
        }
    }
}

/// Returns whether the race is between a peer and the owner, on elements that a check can distinguish.
fn is_excluded(kernel: &Kernel, race: &Race) -> bool {
    let RaceMemory::Shared { block: owner, .. } = race.memory else { return false };
    let sides = [&race.first, &race.second];
    let [first, second] = sides.map(|side| access(&kernel.body, walk::site(side)).expect("an access of the kernel"));
    let of_both = sides.iter().filter(|side| side.block == owner).count() == 1;
    of_both && first.is_remote() != second.is_remote() && !is_halo(&first, &second)
}

fn access(block: &Block, site: usize) -> Option<Access> {
    block.iter().find_map(|stmt| match stmt {
        Stmt::Access(access) => (access.site == site).then_some(*access),
        _ => stmt.clone().blocks().into_iter().find_map(|inner| access(inner, site)),
    })
}

/// Returns the schedules that a kernel runs under. Without race detection, the faults after a race are seen, too.
fn simulators() -> [Simulator; 8] {
    let priority = |seed, changes| Simulator::new().schedule(Schedule::Priority { seed, changes });
    let random = |seed| Simulator::new().schedule(Schedule::Random { seed });
    [
        Simulator::new(),
        Simulator::new().races(false),
        priority(1, 0),
        priority(7, 0),
        priority(3, 2).races(false),
        random(4),
        priority(5, 0).races(false),
        Simulator::new().schedule(Schedule::Lockstep { seed: 6 }).races(false),
    ]
}

/// Returns what the runs of a kernel show, until `is_enough`.
fn shown(kernel: &Arc<Kernel>, mut is_enough: impl FnMut(Shown) -> bool) -> BTreeSet<Shown> {
    let mut all = BTreeSet::new();
    let values = |index| if kernel.has_parameter(index) { DOMAIN } else { 1 };
    let inputs: Vec<_> = (0..values(1)).flat_map(|second| (0..values(0)).map(move |first| [first, second])).collect();
    for simulator in simulators() {
        for parameters in &inputs {
            let Some(cause) = walk::run(kernel, *parameters, simulator.clone()) else { continue };
            let shown = Shown::of(kernel, &cause);
            all.insert(shown);
            if is_enough(shown) {
                return all;
            }
        }
    }
    all
}

/// Returns the rules that the checks report.
fn reports(kernel: &Kernel) -> BTreeSet<Rule> {
    let options = format!("cluster = {}, block = {}", kernel.blocks, kernel.threads);
    all_kernel_faults(&options, &print(kernel)).iter().map(Fault::rule).collect()
}

/// The result of comparing the checks with the runs of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Agreement {
    /// Nothing is refused, and no run shows a fault that should be.
    Right,
    /// A run shows the reported fault, that of another rule, or an unrelated one that came first.
    Shown,
    Another,
    Hidden,
    /// The kernel is refused by these rules, and no run shows a fault.
    Imprecise(BTreeSet<Rule>),
    /// The kernel is accepted, and a run shows this fault.
    Unsound(Shown),
}

impl Agreement {
    fn of(kernel: &Kernel) -> Agreement {
        let reported = reports(kernel);
        let kernel = Arc::new(kernel.clone());
        if reported.is_empty() {
            let all = shown(&kernel, |shown| !shown.is_open());
            return all.into_iter().find(|shown| !shown.is_open()).map_or(Agreement::Right, Agreement::Unsound);
        }
        let wanted: BTreeSet<Shown> = reported.iter().flat_map(|rule| Shown::by(*rule)).copied().collect();
        let all = shown(&kernel, |shown| wanted.contains(&shown));
        if !all.is_disjoint(&wanted) {
            Agreement::Shown
        } else if all.iter().any(|shown| !shown.is_open()) {
            Agreement::Another
        } else if !all.is_empty() {
            Agreement::Hidden
        } else {
            Agreement::Imprecise(reported)
        }
    }
}

/// Returns the smallest kernel with the same outcome.
fn least(kernel: &Kernel, agreement: &Agreement) -> Kernel {
    let with = |body: &Block| Kernel { body: body.clone(), ..kernel.clone() };
    with(&shrink(kernel.body.clone(), |body| {
        let smaller = with(body);
        smaller.is_whole() && Agreement::of(&smaller) == *agreement
    }))
}

/// The numbers of kernels by outcome.
#[derive(Debug, Default)]
struct Count {
    all: usize,
    right: usize,
    shown: usize,
    another: usize,
    hidden: usize,
    /// The imprecise kernels by rules, with the smallest kernel of the first of each.
    imprecise: BTreeMap<BTreeSet<Rule>, (usize, String)>,
    unsound: BTreeMap<Shown, (usize, String)>,
}

impl Count {
    fn add(&mut self, kernel: &Kernel) {
        self.all += 1;
        let agreement = Agreement::of(kernel);
        let first = || (0, print(&least(kernel, &agreement)));
        match &agreement {
            Agreement::Right => self.right += 1,
            Agreement::Shown => self.shown += 1,
            Agreement::Another => self.another += 1,
            Agreement::Hidden => self.hidden += 1,
            Agreement::Imprecise(rules) => self.imprecise.entry(rules.clone()).or_insert_with(first).0 += 1,
            Agreement::Unsound(shown) => self.unsound.entry(*shown).or_insert_with(first).0 += 1,
        }
    }

    #[track_caller]
    fn agrees(&self, imprecise_in_100: usize) {
        for (rules, (times, kernel)) in &self.imprecise {
            eprintln!("{times} kernels are refused by {rules:?}, and no run shows why, as\n{kernel}");
        }
        for (shown, (times, kernel)) in &self.unsound {
            eprintln!("{times} kernels are accepted and show {shown:?}, as\n{kernel}");
        }
        let Count { all, right, shown, another, hidden, imprecise, unsound } = self;
        let imprecise: usize = imprecise.values().map(|(times, _)| times).sum();
        eprintln!(
            "{all} kernels: {right} right, {shown} wrong as the checks say, {another} in another way, {hidden} hidden by a \
             fault of no rule; {imprecise} refused for nothing"
        );
        assert!(unsound.is_empty());
        assert!(imprecise * 100 < all * imprecise_in_100 && right * 3 > *all && shown * 5 > *all);
    }
}
#[test]
fn what_is_accepted_shows_no_fault_and_what_is_refused_shows_one() {
    let mut count = Count::default();
    (0..KERNELS).for_each(|seed| count.add(&generate::kernel(seed)));
    count.agrees(5);
}

#[test]
fn numbers_counted_from_ranks() {
    let mut count = Count::default();
    (0..BY_RANK).for_each(|seed| count.add(&generate::by_rank(seed)));
    count.agrees(8);
}

/// A long run for `cargo xtask agree --minutes 10`. It continues after a failure.
#[test]
#[ignore = "as long as one likes"]
fn for_minutes() {
    let minutes: f64 = std::env::var("MINUTES").ok().and_then(|minutes| minutes.parse().ok()).unwrap_or(1.0);
    let time = Duration::from_secs_f64(60.0 * minutes);
    let style = ProgressStyle::with_template("{wide_bar} {msg} [{elapsed_precise}]").expect("a template");
    let bar = ProgressBar::new(time.as_secs()).with_style(style);
    let start = Instant::now();
    let mut count = Count::default();
    for seed in KERNELS.. {
        if start.elapsed() > time {
            break;
        }
        count.add(&generate::either(seed));
        bar.set_position(start.elapsed().as_secs());
        bar.set_message(format!("{} kernels, {} disagree", count.all, count.unsound.len()));
    }
    bar.finish_and_clear();
    count.agrees(8);
}
