//! Judges a kernel's runs against the rules on distributed shared memory, by the definition of a race alone: an access
//! happens-before one of another block if its thread has since arrived at a barrier of the cluster for which the other
//! has waited, with a fence before if the arrival was relaxed.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_compiler::Rule;

use super::super::shrink::Nested;
use super::run::{Event, Trace, Unknown, runs};
use super::tree::{Access, Array, Block, Index, Kernel, Kind, Number, Owner, Parity, Stmt};

/// The rules about two accesses.
pub(super) const RACES: [Rule; 5] = [
    Rule::UnpublishedRemoteRead,
    Rule::OverwriteWhileRead,
    Rule::WriteAfterArrive,
    Rule::UnorderedRemoteWrite,
    Rule::RelaxedPublishes,
];

/// Pairs of accesses, or of one with itself, with the rules; any of them reports the pair.
pub(super) type Faults = BTreeMap<(usize, usize), BTreeSet<Rule>>;

#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The faults that must be reported.
    pub(super) must: Vec<((usize, usize), BTreeSet<Rule>)>,
    /// The only other faults that may be reported.
    pub(super) may: Faults,
    /// Whether there were too many paths.
    pub(super) is_cut: bool,
    /// Reads of arrays: those behind a write, and those at or before one that no barrier delays.
    read: BTreeSet<usize>,
    written: BTreeSet<usize>,
    reached_by_a_write: BTreeSet<usize>,
    /// The writes to the same array on the paths on which it is read.
    with_writes: BTreeMap<usize, (Array, BTreeSet<usize>)>,
}

pub(super) fn judge(kernel: &Kernel, unknown: Unknown) -> Verdict {
    let mut verdict = Verdict::default();
    let mut all = Vec::new();
    accesses(&kernel.body, &mut all);
    for access in all {
        if matches!(access.owner, Owner::Rank(rank) if rank as usize >= kernel.blocks) {
            verdict.fault(access.site, Rule::RankOutOfRange);
        }
    }
    let mut pairs: Faults = Faults::new();
    verdict.is_cut = !runs(kernel, unknown, |trace| {
        for (at, event) in trace.events.iter().enumerate() {
            verdict.alone(trace, at, event);
            for other in &trace.events[at + 1..] {
                if meet(event, other) {
                    let sites = (event.access.site, other.access.site);
                    verdict.may.entry(sites).or_default().insert(Rule::UnorderedRemoteWrite);
                }
                let Some(rules) = race(event, other) else { continue };
                let sites = (event.access.site, other.access.site);
                verdict.may.entry(sites).or_default().extend(&rules);
                if !is_halo(&event.access, &other.access) {
                    pairs.entry(sites).or_default().extend(&rules);
                }
            }
        }
    });
    verdict.must.extend(pairs);
    for site in verdict.read.difference(&verdict.written) {
        verdict.may.entry((*site, *site)).or_default().insert(Rule::UninitSharedRead);
    }
    verdict
}

impl Verdict {
    /// Returns reads that no write can precede on any path. A write in another arm of a test is left open.
    pub(super) fn never_written(&self, kernel: &Kernel) -> impl Iterator<Item = usize> {
        let mut all = Vec::new();
        accesses(&kernel.body, &mut all);
        let sites_of = move |array| {
            let writes = all.iter().filter(|access: &&Access| access.kind.writes() && access.place.array == array);
            writes.map(|access| access.site).collect::<BTreeSet<_>>()
        };
        let reads = self.with_writes.iter().filter(|(site, _)| !self.reached_by_a_write.contains(site));
        reads.filter(move |(_, (array, writes))| *writes == sites_of(*array)).map(|(site, _)| *site)
    }

    fn fault(&mut self, site: usize, rule: Rule) {
        self.faults(site, BTreeSet::from([rule]), rule);
    }

    /// Records a fault. On this path it is `rule`; any of `rules` may be reported, since another path may show another.
    fn faults(&mut self, site: usize, rules: BTreeSet<Rule>, rule: Rule) {
        let fault = ((site, site), rules);
        if !self.must.contains(&fault) {
            self.must.push(fault);
        }
        self.may.entry((site, site)).or_default().insert(rule);
    }

    fn alone(&mut self, trace: &Trace, at: usize, event: &Event) {
        let site = event.access.site;
        if event.is_remote() {
            if event.waited == 0 {
                self.fault(site, Rule::RemoteBeforeEntry);
            }
            if event.is_open() {
                let came = event.arrived < trace.arrivals;
                let rule = if came { Rule::RelaxedPublishes } else { Rule::ExitBeforePeersDone };
                self.faults(site, BTreeSet::from([Rule::ExitBeforePeersDone, Rule::RelaxedPublishes]), rule);
            }
            if event.races_with_itself() {
                self.may.entry((site, site)).or_default().insert(Rule::UnorderedRemoteWrite);
            }
        }
        if !event.access.kind.reads() {
            return;
        }
        self.read.insert(site);
        if event.reads_unwritten(&trace.events) {
            self.may.entry((site, site)).or_default().insert(Rule::UninitSharedRead);
        }
        let writes =
            |other: &&Event| other.access.kind.writes() && other.access.place.array == event.access.place.array;
        if trace.events[..at].iter().any(|other| writes(&other)) {
            self.written.insert(site);
        } else {
            // In an iteration that a check may tell from others.
            self.may.entry((site, site)).or_default().insert(Rule::UninitSharedRead);
        }
        let held_back = |other: &Event| {
            let own = !event.access.is_remote() && !other.access.is_remote();
            event.arrived < other.waited || own && event.synced < other.synced
        };
        // One thread's access is ordered before the same access by another.
        let reached = event.access.kind.writes()
            || trace.events[..at].iter().any(|other| writes(&other))
            || trace.events[at..].iter().filter(writes).any(|other| !held_back(other));
        if reached {
            self.reached_by_a_write.insert(site);
        }
        let (_, all) = self.with_writes.entry(site).or_insert((event.access.place.array, BTreeSet::new()));
        all.extend(trace.events.iter().filter(writes).map(|other| other.access.site));
    }
}

fn accesses(block: &Block, all: &mut Vec<Access>) {
    for stmt in block {
        all.extend(match stmt {
            Stmt::Access(access) => Some(*access),
            _ => None,
        });
        stmt.clone().blocks().into_iter().for_each(|inner| accesses(inner, all));
    }
}

/// Whether two accesses of mapped memory race, which may be of a third block's or of one's own: only where all places are known, a check finds it.
fn meet(first: &Event, second: &Event) -> bool {
    let is_mapped = first.access.is_remote() && second.access.is_remote();
    let kinds = [first.access.kind, second.access.kind];
    let harmless = kinds.iter().all(|kind| !kind.writes()) || kinds == [Kind::Atomic; 2];
    is_mapped && !harmless && first.meets(second)
}

/// Returns the rules that report a race of two accesses in program order, one by the owner and one by a peer.
fn race(first: &Event, second: &Event) -> Option<BTreeSet<Rule>> {
    let (own, remote) = match (first.access.is_remote(), second.access.is_remote()) {
        (false, true) => (first, second),
        (true, false) => (second, first),
        (true, true) | (false, false) => return None,
    };
    let (own_kind, remote_kind) = (own.access.kind, remote.access.kind);
    let only_read = !own_kind.writes() && !remote_kind.writes();
    let harmless = only_read || own_kind == Kind::Atomic && remote_kind == Kind::Atomic;
    if harmless || !first.races_with(second) {
        return None;
    }
    // There is a barrier between, which did not order the two.
    if first.arrived < second.waited {
        return Some(BTreeSet::from([Rule::RelaxedPublishes]));
    }
    let mut rules = BTreeSet::new();
    if remote_kind.writes() {
        rules.insert(Rule::UnorderedRemoteWrite);
    }
    if remote_kind.reads() && own_kind.writes() {
        let (write, read) = (own, remote);
        if write.waited < read.waited {
            rules.insert(Rule::WriteAfterArrive);
        } else if read.waited < write.waited {
            rules.insert(Rule::OverwriteWhileRead);
        } else {
            let beside = first.is_by_rank || second.is_by_rank;
            let writes_first = std::ptr::eq(first, write);
            if writes_first || beside {
                rules.insert(Rule::UnpublishedRemoteRead);
            }
            if !writes_first || beside {
                rules.insert(Rule::OverwriteWhileRead);
            }
        }
    }
    Some(rules)
}

/// Returns whether the pair is a remote write at a fixed index and the owner's access at one that varies, or vice versa, for
/// all that a check may know: the choice of a variable may be known or not. Both of a block's threads take part, so that the
/// rank of a thread varies over a fixed index that is a rank.
pub(crate) fn is_halo(first: &Access, second: &Access) -> bool {
    let remote = if first.is_remote() { first } else { second };
    let is_known = |index| match index {
        Index::Parity(Parity::Current | Parity::CurrentMinus | Parity::CurrentXor) => true,
        Index::Parity(Parity::Relative(relative)) | Index::Relative(relative) => relative.is_of_current(),
        // A check may follow the iterations of a loop one by one.
        Index::Parity(parity) => parity.number().and_then(Number::round).is_some(),
        Index::Literal(_) | Index::Own | Index::Other | Index::Chunk(_) => false,
    };
    let is_fixed = |index| matches!(index, Index::Literal(_) | Index::Parity(Parity::Literal(_))) || is_known(index);
    let varies = |index| match index {
        Index::Own | Index::Other => true,
        Index::Parity(Parity::Literal(_)) | Index::Literal(_) => false,
        Index::Parity(_) | Index::Relative(_) | Index::Chunk(_) => true,
    };
    let is_a_rank = |one, two| matches!((one, two), (Index::Literal(0 | 1), Index::Own | Index::Other));
    let is_halo = |one, two| is_fixed(one) && varies(two) && !is_a_rank(one, two);
    let differ = |one, two| is_halo(one, two) || is_halo(two, one);
    let (one, two) = (&first.place, &second.place);
    let in_row = one.array == Array::Rows && differ(Index::Parity(one.row), Index::Parity(two.row));
    remote.kind.writes() && (in_row || differ(one.index, two.index))
}
