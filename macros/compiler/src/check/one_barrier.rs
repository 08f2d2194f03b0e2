//! Joins faults that one mistake makes, such as a barrier of the cluster that is missing, into one error, with notes for the other places.
//! All are faults: which of them rustc shows first decides nothing.

use std::ops::Range;

use crate::diag::Diag;
use crate::messages;
use crate::rules::Rule;
use crate::span::SpanRange;

/// Joins faults, which are in source order.
pub(crate) fn join(faults: Vec<Diag>) -> Vec<Diag> {
    let mut groups: Vec<Vec<Diag>> = Vec::new();
    // What the kernel's end does not wait for is often what another access does not wait for either, and then follows that.
    let (of_exits, others): (Vec<Diag>, Vec<Diag>) =
        faults.into_iter().partition(|fault| fault.rule == Rule::ExitBeforePeersDone);
    // And much follows from an arrival that nobody waits for, and from a barrier that not all threads come to.
    let (of_tokens, others): (Vec<Diag>, Vec<Diag>) =
        others.into_iter().partition(|fault| fault.rule == Rule::TokenNeverWaited);
    let (divergent, others): (Vec<Diag>, Vec<Diag>) = others.into_iter().partition(is_divergent);
    // But threads that read too early diverge by what they have read.
    let (by_reads, divergent): (Vec<Diag>, Vec<Diag>) =
        divergent.into_iter().partition(|fault| others.iter().any(|read| diverges_by(fault, read)));
    for fault in of_tokens.into_iter().chain(divergent).chain(others).chain(by_reads).chain(of_exits) {
        let is_of = |group: &Vec<Diag>| {
            let is_mended = group.iter().any(|known| is_mended_with(known, &fault));
            is_mended || group.iter().all(|known| lack_one_barrier(known, &fault))
        };
        match groups.iter_mut().find(|group| is_of(group)) {
            Some(group) => group.push(fault),
            None => groups.push(vec![fault]),
        }
    }
    let mut joined: Vec<Diag> = groups.into_iter().filter_map(one).collect();
    joined.sort_by_key(|fault| (fault.at.line(), fault.at.column()));
    joined
}

/// The error of a group: its first fault, with the places of the others.
fn one(group: Vec<Diag>) -> Option<Diag> {
    group.into_iter().reduce(|joined, other| messages::mended_with(joined, &other))
}

/// A line and a column.
type Place = (u32, u32);

fn place(at: SpanRange) -> Place {
    (at.line(), at.column())
}

/// The place that a fault comes from, with what is said of it.
fn cause(fault: &Diag) -> Option<(Place, &str)> {
    let (at, note) = fault.notes.first()?;
    Some((place((*at)?), note))
}

/// Whether what mends one fault mends the other, too.
fn is_mended_with(one: &Diag, other: &Diag) -> bool {
    let partner = |fault: &Diag| cause(fault).map(|(at, _)| at);
    let is_partner = |one: &Diag, other: &Diag| partner(one) == Some(place(other.at));
    // Accesses one after another, each unordered with the one before, lack one barrier if they take turns in a loop.
    let is_turn = |fault: &Diag| cause(fault).is_some_and(|(_, note)| note.ends_with("in the previous iteration"));
    let is_next = one.rule == other.rule
        && Rule::OF_PAIRS.contains(&one.rule)
        && is_turn(one)
        && is_turn(other)
        && (is_partner(one, other) || is_partner(other, one));
    let is_turned = is_next || is_partner(one, other) && is_partner(other, one);
    let is_divergence = diverges_by(other, one) || diverge_together(one, other);
    let is_of_kernel = one.rule.requirement().is_some() && other.rule.requirement().is_some();
    is_of_kernel
        && (is_turned || is_divergence || one.rule == other.rule && is_same_fault(one, other) || follows(one, other))
}

/// Whether one barrier would come between the two accesses of both faults: there is a place for it in the source that is between them.
/// Of several faults, any two of which have such a place, all have one.
fn lack_one_barrier(one: &Diag, other: &Diag) -> bool {
    match (unordered(one), unordered(other)) {
        (Some((one, is_turn)), Some((other, is_others_turn))) => {
            is_turn == is_others_turn && one.start < other.end && other.start < one.end
        }
        _ => false,
    }
}

/// What lies between the two accesses of a fault; or, if they are accesses of two iterations, what does not, and that they are.
fn unordered(fault: &Diag) -> Option<(Range<Place>, bool)> {
    let is_of_pair =
        matches!(fault.rule, Rule::UnpublishedRemoteRead | Rule::OverwriteWhileRead | Rule::UnorderedRemoteWrite);
    let (first, note) = cause(fault).filter(|_| is_of_pair)?;
    let second = place(fault.at);
    match note.ends_with("in the previous iteration") {
        // The end of the loop is between them.
        true => Some((first.min(second)..first.max(second), true)),
        false => (first < second).then_some((first..second, false)),
    }
}

/// Whether two faults by one rule are the same, at two places: what spoils one spoils the other, and so one change mends both.
fn is_same_fault(one: &Diag, other: &Diag) -> bool {
    // Accesses before the first barrier or after the last, races with one access, and copies and products that nobody waits for.
    let is_told_alike = matches!(
        one.rule,
        Rule::RemoteBeforeEntry
            | Rule::ExitBeforePeersDone
            | Rule::UnpublishedRemoteRead
            | Rule::OverwriteWhileRead
            | Rule::CopyInFlight
            | Rule::MmaInFlight
    );
    // One wait mends them, whatever they access.
    let is_before_wait = one.rule == Rule::AccessBeforePrevious;
    let is_of_one_cause = one.message == other.message && cause(one).is_some() && cause(one) == cause(other);
    let is_of_one_arrival = relaxed_arrival(one).is_some() && relaxed_arrival(one) == relaxed_arrival(other);
    is_before_wait
        || is_told_alike && one.text() == other.text()
        || is_of_one_cause
        || is_of_one_arrival
        || are_initialized_alike(one, other)
}

/// Whether both faults are of barriers that one line initializes, or that one condition lets several threads initialize.
fn are_initialized_alike(one: &Diag, other: &Diag) -> bool {
    let line = |fault: &Diag| cause(fault).map(|((line, _), note)| (line, note.to_string()));
    let is_of_barriers = matches!(one.rule, Rule::BarrierUnpublished | Rule::BarrierInitNotElected);
    is_of_barriers && line(one).is_some() && line(one) == line(other)
}

/// The place of the relaxed arrival that a fault names.
fn relaxed_arrival(fault: &Diag) -> Option<Place> {
    let (at, _) = fault.notes.iter().find(|(_, note)| note == messages::RELAXED_ARRIVAL)?;
    (*at).map(place)
}

/// Whether not all threads come to a collective.
fn is_divergent(fault: &Diag) -> bool {
    matches!(fault.rule, Rule::DivergentCollective | Rule::DivergentExit)
}

/// Whether the value by which threads diverge is what a fault says is read too early.
fn diverges_by(divergent: &Diag, read: &Diag) -> bool {
    read.rule == Rule::UnpublishedRemoteRead
        && is_divergent(divergent)
        && divergent.notes.iter().any(|(at, _)| at.is_some_and(|at| place(at) == place(read.at)))
}

/// Whether both faults are of threads that one branch sends different ways: some miss a collective in a loop, and one behind it.
fn diverge_together(one: &Diag, other: &Diag) -> bool {
    let branch = |fault: &Diag| {
        let note = fault.notes.iter().find(|(_, note)| *note == messages::depends_on_condition());
        note.and_then(|(at, _)| at.map(place))
    };
    is_divergent(one)
        && is_divergent(other)
        && one.rule != other.rule
        && branch(one).is_some()
        && branch(one) == branch(other)
}

/// Whether the second fault is what comes of the first: an access that nothing orders is not waited for by the end either, and where
/// nobody waits for an arrival, or not all come to a barrier, it orders nothing. A wait that not all come to leaves some tokens.
fn follows(one: &Diag, other: &Diag) -> bool {
    let is_end = other.rule == Rule::ExitBeforePeersDone;
    let is_known = || place(one.at) == place(other.at) || cause(one).is_some_and(|(at, _)| at == place(other.at));
    let is_unordered =
        matches!(one.rule, Rule::UnpublishedRemoteRead | Rule::OverwriteWhileRead | Rule::UnorderedRemoteWrite);
    if one.rule == Rule::TokenNeverWaited && is_divergent(other) {
        let is_of = |group: &&str| [one, other].iter().all(|fault| fault.message.contains(*group));
        let groups = ["the thread block", "the cluster", "the grid"];
        return other.message.starts_with("`barrier_wait`") && groups.iter().any(is_of);
    }
    if one.rule == Rule::TokenNeverWaited || is_divergent(one) {
        let is_order = Rule::OF_PAIRS.contains(&other.rule) || other.rule == Rule::RemoteBeforeEntry;
        let is_end = is_end && is_divergent(one);
        return (is_order || is_end) && one.message.contains("the cluster");
    }
    let is_later = is_end && (is_unordered || one.rule == Rule::CopyInFlight);
    (is_later || is_unordered && other.rule == Rule::MulticastUnarmed) && is_known()
}
