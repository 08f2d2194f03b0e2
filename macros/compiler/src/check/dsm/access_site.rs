//! Accesses to shared memory that are compared for races, by the function itself or by one that it calls.

use std::collections::BTreeSet;

use phalanx_contract::protocol::{Behavior, DYNAMIC, ParameterUses, Party, Uses, When};

use super::conflict::Conflict;
use super::index_path::IndexPath;
use super::protocol::{Guard, Predicate, Row};
use super::record::Record;
use crate::check::cfg::{AccessId, Cfg, GivenTo, Shared};
use crate::model::{Function, SlotId};
use crate::span::SpanRange;

/// An access to a shared object, or all accesses of a called function to one of its arguments.
#[derive(Clone, Copy)]
pub(super) struct AccessSite {
    /// Whose memory it is, as the accessing thread sees it.
    pub(super) party: Party,
    pub(super) shared: Shared,
    pub(super) at: SpanRange,
    pub(super) accessor: Accessor,
    /// The call that is given the closure in which the access stands.
    pub(super) given_to: Option<GivenTo>,
    /// The number of an access of the function itself: they are numbered in the order of evaluation.
    pub(super) number: Option<AccessId>,
}

impl AccessSite {
    /// Whether it is an access of one of these arrays.
    pub(super) fn is_of(&self, arrays: &BTreeSet<usize>) -> bool {
        matches!(self.shared, Shared::Array(array) if arrays.contains(&array))
    }

    /// Whether the function itself accesses the memory, and only reads it.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self.accessor, Accessor::Itself(uses) if Uses::READ.union(Uses::ATOMIC_READ).contains(uses))
    }

    /// Whether the access, which precedes another one, comes after it in the text: it is of an earlier iteration.
    pub(super) fn is_of_earlier_iteration(&self, later: &AccessSite) -> bool {
        match (self.number, later.number) {
            (Some(number), Some(later)) => number >= later,
            _ => (self.at.line(), self.at.column()) >= (later.at.line(), later.at.column()),
        }
    }

    /// Whether a called function makes the access without being given the memory.
    pub(super) fn is_named_by_callee(&self) -> bool {
        matches!(self.accessor, Accessor::Call { argument: DYNAMIC, .. })
    }

    /// Whether a called function makes the access while it may be calling a closure that it is given.
    pub(super) fn is_beside_closure(&self) -> bool {
        matches!(self.accessor, Accessor::Call { when: When::BesideClosure, .. })
    }

    /// Whether the access is compared with an earlier one. Of a call and the closures that it is given, what the function does beside
    /// its calls of the closures is compared with these, and nothing else.
    pub(super) fn is_compared_with(&self, earlier: &AccessSite) -> bool {
        let slot_of = |site: &AccessSite| match site.accessor {
            Accessor::Call { slot, .. } => Some(SlotId(slot)),
            Accessor::Itself(_) | Accessor::Closure => None,
        };
        match (earlier.given_to, self.given_to) {
            (Some(GivenTo::Before(call)), _) if slot_of(self) == Some(call) => self.is_beside_closure(),
            (_, Some(GivenTo::After(call))) if slot_of(earlier) == Some(call) => false,
            _ => !self.is_beside_closure(),
        }
    }

    /// The guard that also requires the called function to call the closure at the time at which its body stands here.
    pub(super) fn in_time(&self, guard: Guard) -> Guard {
        in_time(self.given_to, guard)
    }

    pub(super) fn part<'p>(&self, path: &'p IndexPath) -> Part<'p> {
        Part { party: self.party, shared: self.shared, path }
    }
}

/// A part of a shared object, as the accessing thread names it.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) party: Party,
    pub(super) shared: Shared,
    pub(super) path: &'p IndexPath,
}

/// The function that makes an access.
#[derive(Clone, Copy)]
pub(super) enum Accessor {
    /// The function that is checked, which uses the memory in this way.
    Itself(Uses),
    /// A function that it calls with the memory as this argument, at this time of the callee.
    Call { slot: u16, argument: usize, when: When },
    /// A closure that it was given.
    Closure,
}

/// The guard that also requires a called function to call its closure at this time.
pub(super) fn in_time(time: Option<GivenTo>, guard: Guard) -> Guard {
    let (call, behavior) = match time {
        None => return guard,
        Some(GivenTo::Before(call)) => (call, Behavior::CALLS_CLOSURE_FIRST),
        Some(GivenTo::After(call)) => (call, Behavior::CALLS_CLOSURE_LAST),
    };
    guard.when(Predicate::Does(call.0, behavior))
}

/// The guard that also requires closures to be called at both of these times. In one closure, two accesses are always together.
pub(super) fn in_both_times(first: Option<GivenTo>, second: Option<GivenTo>, guard: Guard) -> Guard {
    if first == second { guard } else { in_time(second, in_time(first, guard)) }
}

/// Whether the accesses of a closure before a call are repeated by those after it: if the callee orders none of them, a call of the
/// closure is in flight at its end as well.
pub(super) fn is_repeated_later(given_to: Option<GivenTo>, record: &Record) -> bool {
    matches!(given_to, Some(GivenTo::Before(call)) if record.calls_since.contains(&call.0))
}

/// The rows that a callee may be confined to, with their paths.
pub(super) fn rows(site: &AccessSite, path: &IndexPath) -> Vec<(Row, IndexPath)> {
    match site.accessor {
        Accessor::Itself(_) | Accessor::Closure => Vec::new(),
        Accessor::Call { slot, argument, .. } => {
            path.rows().map(|(by, row)| (Row { call: slot, parameter: argument, by }, row)).collect()
        }
    }
}

/// The guard under which two accesses, the first of which is in flight, conflict in this way; `None` if they never do.
pub(super) fn guard_of(first: &AccessSite, second: &AccessSite, conflict: &Conflict, record: &Record) -> Option<Guard> {
    let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
    let mut guard =
        if second.is_beside_closure() { guard } else { in_both_times(first.given_to, second.given_to, guard) };
    for (site, mask) in [(first, conflict.first), (second, conflict.second)] {
        match site.accessor {
            Accessor::Itself(uses) if !uses.intersects(mask) => return None,
            Accessor::Itself(_) => {}
            Accessor::Closure => return None,
            Accessor::Call { slot, argument, when } => {
                guard = guard.when(Predicate::Uses(slot, argument, ParameterUses::of(site.party, when, mask)));
            }
        }
    }
    Some(guard)
}

/// The name of a shared object in a message.
pub(super) fn name_of(function: &Function, cfg: &Cfg<'_>, shared: Shared) -> String {
    cfg.name_of(function, shared).map_or_else(|| "shared memory".into(), |name| format!("`{name}`"))
}
