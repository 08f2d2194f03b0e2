//! Accesses at an index of which nothing is known, that meet others whatever the index is: other threads access all elements of the array.
//!
//! ```text
//! if i < 16 { bases[i] = start(i); }      // and no `block.sync()`
//! let place = bases[digit];               // for a thread from 16 on, each element is another thread's
//! ```
//!
//! The same of an index that threads have from each other ([`exchanged`](super::exchanged)), if they access all elements but their own.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::Check;
use super::elements::Element;
use super::grouped::Grouped;
use super::races::{are_unordered, unsynchronized};
use super::trace::{Made, MadeBy, Somewhere, Trace, comparable};
use crate::check::cfg::{Access, AccessId, BlockId, NodeId, Root, Select, Shared};
use crate::check::runs::{Thread, ThreadId};
use crate::diag::Diag;
use crate::rules::Rule;

/// Accesses at unknown indexes, by their place in the text and their number among those that a thread makes there. Where not all threads
/// have one index between them, those of each thread.
type Groups<'t> = BTreeMap<(AccessId, usize, Option<ThreadId>), Vec<MadeBy<'t>>>;

/// The largest number of pairs that are compared.
const PAIRS: usize = 100_000;

/// The largest number of elements of an array that are asked for.
const MOST_ELEMENTS: u64 = 1024;

impl Check<'_, '_> {
    /// The array of which a thread accesses some element in a block of the graph, and does not show which; and whether all threads of the
    /// block access one together.
    pub(super) fn somewhere(
        &self,
        thread: &Thread<'_, '_, '_>,
        access: &Access,
        block: BlockId,
    ) -> Option<(Element, bool)> {
        if !self.follows_all {
            return None;
        }
        let (shared, index) = element_at(access)?;
        let is_known = thread.known(index).is_some_and(|index| !index.is_given);
        let length = self.runs.length(shared).filter(|length| (2..=MOST_ELEMENTS).contains(length));
        let is_asked = !is_known && length.is_some() && self.elements.size(shared).is_some();
        let is_shared = || {
            self.values.level(index).is_uniform(Uniformity::Block)
                && self.values.is_reached_uniformly(block, Uniformity::Block)
        };
        is_asked.then(|| ((thread.id.block.unwrap_or(0), shared, Default::default()), is_shared()))
    }
}

/// The array and the index of an element.
fn element_at(access: &Access) -> Option<(Shared, NodeId)> {
    let region = &access.region;
    match (region.root, &region.path[..]) {
        (Root::Shared(shared), &[Select::At(index)]) if region.via.is_none() && !region.part => Some((shared, index)),
        _ => None,
    }
}

/// `unsynchronized_access`: each element that a thread may access at an unknown index, another accesses with no barrier in between, and one of
/// the two writes.
pub(super) fn check(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    let has_any = traces.iter().any(|trace| !trace.somewhere.is_empty());
    if !has_any || waived && !check.function.waives(Rule::UnsynchronizedAccess) {
        return None;
    }
    // Threads that have one index between them, and each of the others for itself.
    let mut groups = Groups::new();
    for (trace, alike) in comparable(traces) {
        let mut counts: BTreeMap<AccessId, usize> = BTreeMap::new();
        for Somewhere { made, is_shared } in trace.somewhere.iter().filter(|of| of.made.time.barriers <= alike) {
            let number = counts.entry(made.access).or_default();
            groups.entry((made.access, *number, (!is_shared).then_some(trace.id))).or_default().push((trace, made));
            *number += 1;
        }
    }
    let others = Grouped::of(traces);
    let mut left = PAIRS;
    let found = groups.values().find_map(|group| meeting(check, group, &others, waived, &mut left));
    found.or_else(|| elsewhere(check, (traces, &groups), &others, waived))
}

/// The threads of a block of which it is asked whether all elements but their own are others': the first and the last one may have the
/// lowest and the highest place whatever the data are.
const ASKED: [fn(usize) -> usize; 3] = [|all| all / 4, |all| all / 2, |all| all / 4 * 3];

/// The fault of threads that all access one array, each at an index that they have from each other: some of them accesses what another one
/// does unless each gets no elements but those that it accesses at known indexes, too.
fn elsewhere(
    check: &Check<'_, '_>,
    (traces, groups): (&[Trace], &Groups<'_>),
    others: &Grouped<'_>,
    waived: bool,
) -> Option<Diag> {
    let mut left = PAIRS;
    let accesses: BTreeSet<(AccessId, usize)> = groups.keys().map(|(access, number, _)| (*access, *number)).collect();
    accesses.into_iter().find_map(|(access, number)| {
        let made_by = |trace: &Trace| groups.get(&(access, number, Some(trace.id)));
        let (_, index) = element_at(&check.cfg.accesses[access.0])?;
        let all_do = traces.len() > ASKED.len() && traces.iter().all(|trace| made_by(trace).is_some());
        let exchanged = if all_do { check.exchanged(index)? } else { return None };
        // What a warp has from another one is no place of its own, although its lanes may happen to get one.
        let of_warps = exchanged.is_of_warps(check, traces, others);
        let asked = ASKED.map(|of| made_by(&traces[of(traces.len())]));
        let mut found = None;
        for one in asked {
            let met = meets_elsewhere(check, (one?.first()?, of_warps), others, waived, &mut left)?;
            found.get_or_insert(met);
        }
        found
    })
}

/// The fault of a thread that meets others at each element but those that it accesses at a known index, or that its warp does.
fn meets_elsewhere(
    check: &Check<'_, '_>,
    ((trace, made), of_warps): (&MadeBy<'_>, bool),
    others: &Grouped<'_>,
    waived: bool,
    left: &mut usize,
) -> Option<Diag> {
    let (owner, shared, mut indexes) = made.element;
    let mut found = None;
    for index in 0..check.runs.length(shared)? {
        indexes[0] = index;
        let element = (owner, shared, indexes);
        let by_all = others.get(element)?;
        if by_all.iter().any(|(other, _)| other.id == trace.id) {
            continue;
        }
        let made = Made { element, ..**made };
        let mut pairs = by_all.iter();
        let met = pairs.find_map(|(other, by_other)| {
            *left = left.checked_sub(1)?;
            let meets = are_unordered(check, (trace, &made), (other, by_other), waived);
            meets.then(|| unsynchronized(check, (trace, &made), (other, by_other)))
        });
        if met.is_none() && of_warps && by_all.iter().any(|(other, _)| other.is_in_warp_of(trace)) {
            continue;
        }
        found.get_or_insert(met?);
    }
    found
}

/// The fault of threads of which one meets another at each element.
fn meeting(
    check: &Check<'_, '_>,
    group: &[MadeBy<'_>],
    others: &Grouped<'_>,
    waived: bool,
    left: &mut usize,
) -> Option<Diag> {
    let (owner, shared, mut indexes) = group.first()?.1.element;
    let mut found = None;
    for index in 0..check.runs.length(shared)? {
        indexes[0] = index;
        let element = (owner, shared, indexes);
        let mut pairs = others.get(element)?.iter().flat_map(|two| group.iter().map(move |one| (one, two)));
        let pair = pairs.find_map(|((trace, made), (other, by_other))| {
            *left = left.checked_sub(1)?;
            let made = Made { element, ..**made };
            let meets = trace.id != other.id && are_unordered(check, (trace, &made), (other, by_other), waived);
            meets.then(|| unsynchronized(check, (trace, &made), (other, by_other)))
        })?;
        found.get_or_insert(pair);
    }
    found
}
