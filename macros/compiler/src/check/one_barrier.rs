//! Joins faults that one barrier of the cluster mends into one error, with notes for the other places. All are faults: which of them
//! rustc shows first decides nothing.

use crate::diag::Diag;
use crate::messages;
use crate::rules::Rule;

/// Joins faults, which are in source order.
pub(crate) fn join(faults: Vec<Diag>) -> Vec<Diag> {
    let mut groups: Vec<Vec<Diag>> = Vec::new();
    // What the kernel's end does not wait for is often what another access does not wait for either, and then follows that.
    let (of_exits, others): (Vec<Diag>, Vec<Diag>) =
        faults.into_iter().partition(|fault| fault.rule == Rule::ExitBeforePeersDone);
    for fault in others.into_iter().chain(of_exits) {
        match groups.iter_mut().find(|group| group.iter().any(|known| is_mended_with(known, &fault))) {
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

/// Whether the barrier that mends one fault mends the other, too: both are accesses before the first barrier or after the last, they race
/// with the same access, they are the same two accesses, in the other order, or the same access, which the end does not wait for.
fn is_mended_with(one: &Diag, other: &Diag) -> bool {
    let is_race = |fault: &Diag| matches!(fault.rule, Rule::UnpublishedRemoteRead | Rule::OverwriteWhileRead);
    let is_of_launch = |fault: &Diag| matches!(fault.rule, Rule::RemoteBeforeEntry | Rule::ExitBeforePeersDone);
    let place = |fault: &Diag| (fault.at.line(), fault.at.column());
    let partner = |fault: &Diag| fault.notes.first().and_then(|(at, _)| *at).map(|at| (at.line(), at.column()));
    let same = one.text() == other.text();
    match (is_race(one), is_race(other)) {
        (true, true) => same || partner(one) == Some(place(other)) && partner(other) == Some(place(one)),
        (true, false) => other.rule == Rule::ExitBeforePeersDone && place(one) == place(other),
        (false, _) => is_of_launch(one) && same,
    }
}
