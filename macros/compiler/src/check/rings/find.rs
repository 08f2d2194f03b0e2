//! The search for certain small arguments with which a kernel has a fault: then each trip count and each condition is a number, and
//! the skeleton has no run that the kernel does not have.

use std::collections::BTreeSet;

use super::classes::Classes;
use super::given::{Arguments, Elements};
use super::handed::Handed;
use super::kernel::{Kernel, Refusal};
use super::launch::Depends;
use super::objects::Objects;
use super::preconditions::Preconditions;
use super::prove::assemble_most;
use super::races::Guard;
use super::walk::Sites;
use super::warps::Aim;
use super::{report, staged};
use crate::diag::Diag;
use crate::messages::rings as messages;
use crate::rings::{Content, CountFault, Fault, Prepared, Reason, Verdict};

/// The largest argument that is tried, beyond the number of stages.
const ARGUMENTS: i64 = 3;

/// The largest number of states of all checks of a kernel.
const STATES: usize = 10_000;

/// How many times as many rounds are tried last.
const MANY: i64 = 3;

/// The number of clusters of a grid that has several.
const CLUSTERS: i64 = 2;

/// The most numbers of which each is tried with a larger value than the others.
const LARGER: usize = 4;

/// The largest argument for which copies out of rows are followed: each row is then used again.
const STAGED: i64 = 3;

/// The faults that are sought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought {
    /// The largest number of states of all checks.
    pub(super) limit: usize,
    /// Whether an index may be out of range for all that is known of the arguments.
    pub(super) indexes: bool,
    /// Whether a parity may be stale for all that is proved.
    pub(super) may_be_stale: bool,
}

/// Looks for small arguments with which the kernel has a stale parity or, unless it is proved to have none, a fault.
pub(super) fn find(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    mut sought: Option<Sought>,
) -> Option<Diag> {
    if let Some(sought) = &mut sought {
        sought.limit = sought.limit.min(STATES);
    }
    let depends = classes.depends(kernel);
    let handed = Handed::of(kernel, objects, classes).filter(|_| sought.is_some());
    let arrays = staged::arrays(kernel);
    let stages = objects.barriers.iter().map(|(_, barriers, _)| i64::from(barriers.stages())).max().unwrap_or(1);
    // As many rounds as there are stages, or one more, leave the parities of some or all of them odd.
    let odd = stages..=stages + 1;
    let numbers = if sought.is_some() { 0..=stages + ARGUMENTS } else { odd.clone() };
    let multiples = [1].into_iter().chain(odd).chain([stages + ARGUMENTS]).map(|number| number * depends.granule);
    let numbers = numbers.chain(multiples.filter(|_| depends.granule > 1));
    let with = |elements| move |number| Arguments::new(number, elements);
    let last = (stages + ARGUMENTS) * depends.granule;
    let unequal = if sought.is_some() { depends.unequal(kernel, (depends.granule, last)) } else { Vec::new() };
    let launches = numbers.clone().map(with(Elements::Same)).chain(unequal);
    let others = [last].into_iter().map(with(Elements::Alternating)).chain(numbers.map(with(Elements::Ascending)));
    let others = others.filter(|_| depends.on_choices);
    // A block that does the work of others, or less than its own, does so beside others.
    let several = (1..=stages + ARGUMENTS).map(with(Elements::Same)).map(|arguments| arguments.of_clusters(CLUSTERS));
    let has_tickets = handed.as_ref().is_some_and(Handed::has_tickets);
    let others = others.chain(several.filter(|_| depends.on_grid || has_tickets));
    let of_places =
        if sought.is_some() && !has_tickets { of_last_cluster(kernel, &depends, stages) } else { Vec::new() };
    let others = others.chain(of_places);
    // What comes once in several rounds, as a scale for a group of tiles, comes again only after many.
    let many = [MANY * (stages + ARGUMENTS)].into_iter().map(with(Elements::Same));
    let are_many = sought.is_some() && depends.on_numbers;
    let others = others.chain(many.filter(|_| are_many));
    // Elements that threads load themselves have the numbers of the launch, and may be those that are copied.
    let on_data = sought.is_some() && !depends.on_choices && kernel.branches_on_data();
    let sizes = [true, false].into_iter().filter(|_| on_data);
    let rounds = 1..=stages + ARGUMENTS;
    let of_data = sizes.flat_map(|large| rounds.clone().map(move |number| with(Elements::Same)(number).of_data(large)));
    let others = others.chain(of_data);
    let of_arguments = |arguments: &Arguments| {
        Handed::hand_out(handed.as_ref(), kernel, objects, arguments);
        classes.with(kernel, arguments)
    };
    let mut refused: Option<Refusal> = None;
    let mut ended = false;
    let preconditions = Preconditions::of(kernel);
    let mut tried: Vec<Arguments> = Vec::new();
    for arguments in launches.chain(others).flat_map(|arguments| preconditions.launches(&arguments)) {
        if tried.contains(&arguments) {
            continue;
        }
        tried.push(arguments.clone());
        if ended && arguments.elements != Elements::Ascending && arguments.large_data.is_none() {
            continue;
        }
        let classes = of_arguments(&arguments);
        let found = find_for(kernel, objects.clone(), &classes, &arguments, &mut sought);
        kernel.handed.replace(None);
        let is_same = |refusal: &Refusal| refused.as_ref().is_some_and(|before| refusal.is_same(before));
        // What is not followed with some rounds is not followed with more.
        let ends = arguments.number > 0 && found.as_ref().is_err_and(is_same);
        refused = found.as_ref().err().filter(|_| arguments.number > 0).cloned();
        let rounds = depends.rounds(&arguments);
        let is_staged =
            rounds.is_none_or(|rounds| (1..=STAGED).contains(&rounds) || (1..=STAGED).contains(&arguments.number));
        let staged = || staged::find(kernel, objects, &classes, (&arrays, &arguments), rounds);
        let staged = || if is_staged { staged() } else { None };
        let found = found.ok().flatten().or_else(staged);
        if let Some(fault) = found {
            let largest = preconditions.launches(&Arguments::new(last, Elements::Same)).swap_remove(0);
            // A fault with no rounds and with many does not depend on their number.
            let always = arguments.number == 0
                && arguments.others().next().is_none()
                && find_for(kernel, objects.clone(), &of_arguments(&largest), &largest, &mut sought).is_ok_and(
                    |other| other.is_some_and(|other| other.rule == fault.rule && other.at.begins_with(fault.at)),
                );
            kernel.handed.replace(None);
            let named = if always { Vec::new() } else { report::arguments(kernel, &depends, &arguments) };
            return Some(messages::for_data(
                messages::for_arguments(fault, &named),
                arguments.large_data,
                kernel.branches_on_loads(),
            ));
        }
        if !depends.on_numbers && !on_data {
            return None;
        }
        ended |= ends;
    }
    None
}

/// The launches of the threads of another cluster than the first: a block whose parts do not begin with the first one has other stages and
/// parities, if it counts from there. That it has any parts may need one number that is larger than the others. Where threads take tickets,
/// the order of the clusters decides, and this is not for them.
fn of_last_cluster(kernel: &Kernel<'_, '_>, depends: &Depends, stages: i64) -> Vec<Arguments> {
    if !depends.on_place || !depends.on_numbers {
        return Vec::new();
    }
    let rounds = 1..=stages + ARGUMENTS;
    let granules = rounds.clone().map(|number| number * depends.granule).filter(|_| depends.granule > 1);
    let launch = |number| Arguments::new(number, Elements::Same).of_last_cluster(CLUSTERS);
    let alike = rounds.clone().chain(granules).map(launch);
    let larger = kernel.numbers_of(&depends.given).into_iter().take(LARGER);
    let unlike = larger.flat_map(|one| rounds.clone().map(move |number| launch(number).with(one, number * CLUSTERS)));
    alike.chain(unlike).collect()
}

/// Looks for small arguments with which a row that a bulk copy reads is written too early, among the arrays that no proof is about.
pub(super) fn find_staged(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    proved: &BTreeSet<usize>,
) -> Option<Diag> {
    let arrays: BTreeSet<usize> = staged::arrays(kernel).difference(proved).copied().collect();
    if arrays.is_empty() {
        return None;
    }
    let depends = classes.depends(kernel);
    let last = if depends.on_numbers { STAGED } else { 1 };
    let preconditions = Preconditions::of(kernel);
    let multiples = (1..=last).map(|number| number * depends.granule).filter(|_| depends.granule > 1);
    let launches =
        (1..=last).chain(multiples).flat_map(|number| preconditions.launches(&Arguments::new(number, Elements::Same)));
    launches.into_iter().find_map(|arguments| {
        let fault = staged::find(
            kernel,
            objects,
            &classes.with(kernel, &arguments),
            (&arrays, &arguments),
            depends.rounds(&arguments),
        )?;
        Some(messages::for_arguments(fault, &report::arguments(kernel, &depends, &arguments)))
    })
}

/// Looks for a fault of the kernel for certain arguments.
fn find_for(
    kernel: &Kernel<'_, '_>,
    mut objects: Objects,
    classes: &Classes,
    arguments: &Arguments,
    sought: &mut Option<Sought>,
) -> Result<Option<Diag>, Refusal> {
    loop {
        let sites = Sites::default();
        // An argument may be too small for the kernel.
        let assembled = assemble_most(kernel, &mut objects, classes, &sites, (Some(arguments), Aim::Fault))?.0;
        let handed = kernel.handed.borrow().clone();
        let published = |array: usize| handed.as_ref().is_some_and(|handed| handed.is_published(array));
        let all = handed.as_ref().and_then(|handed| handed.published.as_ref());
        if all.is_some_and(|of| of.arrays.iter().any(|array| objects.slot(*array).is_none())) {
            return Err(Refusal::new(kernel.whole(), "what a thread hands out to others is not followed"));
        }
        // In which order they take them is not known.
        if handed.as_ref().is_some_and(|handed| handed.in_each_block) && assembled.skeleton.blocks > 1 {
            return Err(Refusal::new(kernel.whole(), "the blocks of a cluster take tickets of one queue"));
        }
        if assembled.allows_more {
            return Err(Refusal::new(kernel.whole(), "the steps have runs that the kernel may not have"));
        }
        let prepared = Prepared::new(&assembled.skeleton);
        let verdict = sought.as_ref().map(|sought| prepared.check(sought.limit));
        if let (Some(verdict), Some(sought)) = (&verdict, sought.as_mut()) {
            sought.limit = match verdict {
                Verdict::Proved { states } => sought.limit.saturating_sub(*states),
                // Larger arguments have more.
                Verdict::NotProved(Reason::States) => 0,
                // Of threads that copy alike, all states are visited.
                Verdict::NotProved(Reason::ManyThreads { .. }) => sought.limit / 4,
                Verdict::NotProved(_) | Verdict::Fault { .. } => sought.limit,
            };
        }
        // Where there are too many states for a search, or actors, some runs may have the fault.
        let verdict = match verdict {
            Some(Verdict::NotProved(Reason::States | Reason::Size | Reason::ManyThreads { .. })) => {
                prepared.sample().map_or(verdict, |(fault, trace)| Some(Verdict::Fault { fault, trace }))
            }
            other => other,
        };
        let Some(Verdict::Fault { fault, trace }) = verdict else {
            let may_be_stale = sought.as_ref().is_none_or(|sought| sought.may_be_stale);
            let stale = if may_be_stale { prepared.stale() } else { None };
            return Ok(stale.map(|stale| report::stale(kernel, &objects, &sites, &assembled, &stale)));
        };
        if is_of_another_turn(kernel, &objects, &fault) {
            return Ok(None);
        }
        // The arguments need not be those of a kernel that expects stages of their number.
        let is_of_index = matches!(fault, Fault::Count(CountFault::Index { .. }));
        if is_of_index && objects.leave_out_launched(kernel) {
            continue;
        }
        if is_of_index && sought.as_ref().is_some_and(|sought| !sought.indexes) {
            return Ok(None);
        }
        // Accesses need not be of the same part of a slot. Then another fault may be certain. What a peer reads that nobody has written
        // is for other rules.
        let is_unwritten = matches!(fault, Fault::Read { content: Content::Incomplete, .. });
        let is_of_others = |guard: &Guard| {
            let slot = &objects.slots[guard.slot];
            is_unwritten && slot.shared && !published(slot.array)
        };
        match report::slot_of(&fault).map(|slot| assembled.guards[slot as usize]) {
            Some(guard) if !matches!(fault, Fault::Undrained(_)) && (!guard.certain || is_of_others(&guard)) => {
                let array = objects.slots[guard.slot].array;
                if !objects.leave_out(|slot| slot.array == array) {
                    return Ok(None);
                }
            }
            Some(_) | None => return Ok(Some(report::fault(kernel, &objects, &sites, &assembled, &fault, &trace))),
        }
    }
}

/// Whether a reader gets another one of the published numbers than it was taken to get.
fn is_of_another_turn(kernel: &Kernel<'_, '_>, objects: &Objects, fault: &Fault) -> bool {
    let Fault::Read { slot, content: Content::OtherRound, .. } = fault else { return false };
    let array = objects.slots[slot.array as usize].array;
    kernel.handed.borrow().as_ref().is_some_and(|handed| handed.is_published(array))
}
