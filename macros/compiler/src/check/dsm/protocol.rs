//! The summary of what a function does to shared memory and the cluster's barriers, while the checks make it: effects for
//! callers, and questions about the functions that it calls. rustc joins them (`phalanx_contract::protocol`), because the macro
//! sees one function at a time. Data, no analysis.

use std::collections::BTreeSet;

use phalanx_contract::protocol::{self as contract, Behavior};

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

/// A question about a call, which is named by its slot.
pub(crate) type Predicate = contract::Predicate<u16>;
/// What the function does; it names calls by their slots.
pub(crate) type Effect = contract::Effect<u16>;
/// A row of memory that a call is given; the call is named by its slot.
pub(crate) type Row = contract::Row<u16>;

/// A condition on the functions that are called: all of `when` hold, and all of `unless` do what is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Guard {
    pub(crate) when: Vec<Predicate>,
    pub(crate) unless: Vec<(u16, Behavior)>,
}

/// A fault, if its guard holds.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) guard: Guard,
    pub(crate) rule: Rule,
    pub(crate) at: SpanRange,
    pub(crate) message: String,
}

#[derive(Debug, Default)]
pub(crate) struct Protocol {
    pub(crate) demands: Vec<Demand>,
    pub(crate) effects: Vec<(Effect, Guard)>,
    /// For memory that the function accesses in one row alone, by the parameters' positions: that of the parameter that says
    /// which.
    pub(crate) rows: Vec<Option<usize>>,
}

impl Protocol {
    /// The summary of a function that does nothing with the cluster.
    pub(super) fn plain() -> Protocol {
        let nothing = Behavior::MAY_NOT_ENTER | Behavior::MAY_NOT_ARRIVE | Behavior::MAY_NOT_ORDER;
        Protocol { effects: vec![(Effect::Does(nothing), Guard::default())], ..Protocol::default() }
    }

    /// Asks no more about a rule; says whether anything was asked.
    pub(crate) fn waive(&mut self, rule: Rule) -> bool {
        let before = self.demands.len();
        self.demands.retain(|demand| demand.rule != rule);
        self.demands.len() != before
    }

    /// The calls that anything depends on, by their slots.
    pub(crate) fn calls(&self) -> BTreeSet<u16> {
        let guards = self.demands.iter().map(|demand| &demand.guard);
        let guards = guards.chain(self.effects.iter().map(|(_, guard)| guard));
        let of_guards = guards.flat_map(|guard| {
            let when = guard.when.iter().flat_map(|predicate| match predicate {
                Predicate::Does(slot, _) | Predicate::Uses(slot, ..) | Predicate::Clashes(slot, ..) => {
                    [Some(*slot), None]
                }
                Predicate::Beyond(row, other) => [Some(row.call), other.map(|other| other.call)],
            });
            when.flatten().chain(guard.unless.iter().map(|(slot, _)| *slot))
        });
        let passed = self.effects.iter().filter_map(|(effect, _)| match effect {
            Effect::Passes { call, .. } => Some(*call),
            Effect::Does(_) | Effect::Uses(..) | Effect::Clashes(..) => None,
        });
        of_guards.chain(passed).collect()
    }

    pub(in crate::check) fn ask(&mut self, guard: Guard, fault: &Diag) {
        let message = fault.text();
        let known = |demand: &Demand| demand.message == message && demand.guard == guard;
        if !self.demands.iter().any(known) {
            self.demands.push(Demand { guard, rule: fault.rule, at: fault.at, message });
        }
    }
}

impl Guard {
    pub(super) fn unless(calls: &BTreeSet<u16>, behavior: Behavior) -> Guard {
        Guard { when: Vec::new(), unless: calls.iter().map(|call| (*call, behavior)).collect() }
    }

    pub(in crate::check) fn when(mut self, predicate: Predicate) -> Guard {
        self.when.push(predicate);
        self
    }

    /// Whether it holds whatever the called functions do.
    pub(in crate::check) fn is_certain(&self) -> bool {
        self.when.is_empty() && self.unless.is_empty()
    }
}
